export { type ErrorCode, type ErrorDetail, PalimpsestError } from '../core/errors.ts';
export {
  type ClientOptions,
  createClient,
  type PalimpsestClient,
  type RememberCallOptions,
  type UpdateCallOptions,
} from './client.ts';
export type {
  AuditFilterInput,
  AuditInput,
  ClientContextInput,
  ClientRecallInput,
  ClientRememberInput,
  ClientSuccessorInput,
  ImportOptions,
  ImportTotals,
  KeyInput,
  NamespacesInput,
  PolicyInput,
  ProfileInput,
  RulePreviewInput,
  StatsInput,
  TraceFilterInput,
  TracesInput,
} from './inputs.ts';
export type { CallOptions, Fetch } from './transport.ts';
