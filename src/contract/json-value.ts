import { z } from 'zod';
import type { JsonValue } from '../core/types.ts';

/** Any value JSON can hold. Not `z.json()`: its recursion can't be named in the OpenAPI document. */
export const jsonValueSchema: z.ZodType<JsonValue, JsonValue> = z
  .lazy(() =>
    z.union([
      z.string(),
      z.number(),
      z.boolean(),
      z.null(),
      z.array(jsonValueSchema),
      z.record(z.string(), jsonValueSchema),
    ]),
  )
  .meta({ id: 'JsonValue' });

/** An object whose keys are somebody else's. */
export const jsonObjectSchema = z.record(z.string(), jsonValueSchema);
