import { z } from 'zod';

/** A point in time of an answer: ISO 8601 in UTC on the wire, a `Date` in code. */
export const wireInstant = z.codec(z.string().meta({ format: 'date-time' }), z.date(), {
  decode: (text) => new Date(text),
  encode: (date) => date.toISOString(),
});
