import type { wireFeedbackResultSchema } from '../contract/feedback.ts';
import type { ShownListPage } from '../contract/list-page.ts';
import type { ShownEntry } from '../contract/memory-entry.ts';
import type { wireNamespacePageSchema } from '../contract/namespace-report.ts';
import type { ShownRecallAnswer } from '../contract/recall-answer.ts';
import type { wireSupersedeResultSchema } from '../contract/supersede.ts';
import type { InCode } from '../contract/wire-form.ts';
import type { ShownWriteResult } from '../contract/write-result.ts';

/** A request's body in wire form, checked by the tool's schema. */
export type WireBody = Readonly<Record<string, unknown>>;

export type NamespacePage = InCode<typeof wireNamespacePageSchema>;
export type SupersedeAnswer = InCode<typeof wireSupersedeResultSchema>;
export type FeedbackAnswer = InCode<typeof wireFeedbackResultSchema>;

/** What the tools, resources and prompts work with: the memory in this process, or one behind a server. */
export interface ToolBackend {
  recall(body: WireBody): Promise<ShownRecallAnswer>;
  remember(body: WireBody): Promise<ShownWriteResult>;
  update(id: string, body: WireBody): Promise<ShownEntry>;
  supersede(id: string, body: WireBody): Promise<SupersedeAnswer>;
  forget(id: string): Promise<ShownEntry>;
  feedback(body: WireBody): Promise<FeedbackAnswer>;
  list(body: WireBody): Promise<ShownListPage>;
  get(id: string): Promise<ShownEntry>;
  /** Namespaces the asker may read, by path. */
  namespaces(after: string | undefined): Promise<NamespacePage>;
}
