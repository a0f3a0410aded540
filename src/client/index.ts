export type {
  ExportInput,
  FeedbackInput,
  ListInput,
  ModelChangeInput,
  NamespacesInput,
  RememberInput,
  RememberOptionsInput,
  RollbackInput,
  RuleInput,
  RunInput,
  SuccessorInput,
  SwitchInput,
  UpdateInput,
  VerifyInput,
} from '../contract/inputs.ts';
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
  ImportOptions,
  ImportTotals,
  KeyInput,
  PolicyInput,
  ProfileInput,
  RulePreviewInput,
  StatsInput,
  TraceFilterInput,
  TracesInput,
} from './inputs.ts';
export type { CallOptions, Fetch } from './transport.ts';
