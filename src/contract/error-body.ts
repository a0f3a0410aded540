import { z } from 'zod';
import { ERROR_CODES, type ErrorCode, type PalimpsestError } from '../core/errors.ts';
import { jsonValueSchema } from './json-value.ts';

const codes = Object.keys(ERROR_CODES) as [ErrorCode, ...ErrorCode[]];

/** The one shape of every error answer. */
export const wireErrorSchema = z
  .strictObject({
    error: z.strictObject({
      code: z.enum(codes),
      message: z.string(),
      details: z.array(
        z.strictObject({
          path: z.string().optional(),
          got: jsonValueSchema.optional(),
          allowed: jsonValueSchema.optional(),
          hint: z.string().optional(),
          item: z.int().optional().meta({ description: 'In a batch: the item at fault, from 0.' }),
          line: z.int().optional().meta({ description: 'In an import: the line at fault, from 1.' }),
        }),
      ),
      request_id: z.string().optional(),
    }),
  })
  .meta({ id: 'Error' });

export type WireError = z.output<typeof wireErrorSchema>;

/** @param requestId - Under which the server's log has this request; absent where there is no server. */
export function toWireError(error: PalimpsestError, requestId?: string): WireError {
  return {
    error: {
      code: error.code,
      message: error.message,
      details: error.details.map(({ path, got, allowed, hint, item, line }) => ({
        path,
        got,
        allowed,
        hint,
        item,
        line,
      })),
      ...(requestId === undefined ? {} : { request_id: requestId }),
    },
  };
}
