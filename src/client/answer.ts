import type { Routes } from '../contract/routes/routes.ts';
import type { InCode, requestToWire } from '../contract/wire-form.ts';

/** What the answer of a route is in code. */
export type Answer<Name extends keyof Routes> = Routes[Name] extends { readonly answer: infer Schema }
  ? Schema extends Parameters<typeof requestToWire>[0]
    ? InCode<Schema>
    : never
  : undefined;
