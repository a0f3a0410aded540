import type { Access, Principal } from './types.ts';

/** What an agent or a task may do. An unset number falls back to the profile; 0 is a value. */
export interface MemoryPolicy {
  /** Patterns with `${user_id}`, `${agent_id}`, `${task_id}`, `${chat_id}`, `${session_id}`. */
  readonly readNamespaces: readonly string[];
  /** Where memories are written by default. */
  readonly writeNamespace: string | null;
  /** Patterns that writes may go to, beside `writeNamespace`. */
  readonly allowedWriteNamespaces: readonly string[];
  /** Whether runs are stored automatically. Default false. */
  readonly allowWrite: boolean;
  /** Whether the agent's tools may write. Default false. */
  readonly allowToolWrite: boolean;
  /** Whether the agent's tools may delete. Default false. */
  readonly allowToolDelete: boolean;
  /** Name of a ranking profile. */
  readonly profile: string | null;
  readonly topK: number | null;
  readonly minScore: number | null;
  readonly relativeCutoff: number | null;
  /** Tokens a memory block may take. */
  readonly tokenBudget: number | null;
}

/** Whom a policy is for. A task's policy replaces the agent's whole. */
export interface PolicySubject {
  readonly kind: 'agent' | 'task';
  readonly id: string;
}

export interface StoredPolicy extends MemoryPolicy {
  readonly subject: PolicySubject;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/**
 * Who asks, where policies decide what they may reach. The policies are read in the transaction of the work
 * itself, so that one that was changed before it began already holds.
 */
export interface PolicyAccess {
  readonly principal: Principal;
  /** Whose policies are read. */
  readonly subjects: readonly PolicySubject[];
  /**
   * What the policies that exist give: for the same tenant and user, who may reach less by it than before. May
   * refuse by throwing. Called again when the transaction is run again.
   */
  readonly accessUnder: (policies: readonly StoredPolicy[]) => Access;
}

/** Who asks, and what they may reach: known beforehand, or once their policies are read. */
export type Asking = Access | PolicyAccess;
