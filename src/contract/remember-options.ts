import { z } from 'zod';

/** Conditions under which entries are stored. */
export const rememberOptionsSchema = z
  .strictObject({
    if_new: z
      .boolean()
      .meta({ description: 'Refuses content that a live entry of the namespace holds already.' })
      .optional(),
  })
  .transform(({ if_new: ifNew }) => ({ ifNew }));
