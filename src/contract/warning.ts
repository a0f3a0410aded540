import { z } from 'zod';

/** Something that was kept and is probably not meant. */
export const wireWarningsField = z.array(z.strictObject({ code: z.string(), message: z.string() }));
