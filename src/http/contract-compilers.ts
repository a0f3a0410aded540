import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { parseContract } from '../contract/parse-contract.ts';

/** Makes the routes' zod schemas check requests, by the same function and with the same errors as every face. */
export function useContract(app: FastifyInstance): void {
  app.setValidatorCompiler(({ schema }) => {
    if (!(schema instanceof z.ZodType)) throw new Error('A route has a schema that is not of the contract.');
    return (value) => {
      try {
        return { value: parseContract(schema, value, { itemsOf: 'memories' }) };
      } catch (error) {
        if (error instanceof Error) return { error };
        throw error;
      }
    };
  });
  // Answers are built by the contract's own functions and typed by its schemas; parsing each again would cost
  // more than the recall. A test parses one answer of every route.
  app.setSerializerCompiler(() => JSON.stringify);
}
