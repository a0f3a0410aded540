import { z } from 'zod';

/** Conditions under which an update is made. */
export const updateOptionsSchema = z
  .strictObject({
    if_version: z
      .int()
      .min(0)
      .meta({ description: 'Refuses the update unless the entry still has this version.' })
      .optional(),
  })
  .transform(({ if_version: ifVersion }) => ({ ifVersion }));
