import { fillPattern, parseScope } from './namespace.ts';
import type { PolicySubject, StoredPolicy } from './policy.ts';

/** On whose behalf a request is made: what policies are found by and their patterns are filled with. */
export interface RequestSubject {
  readonly agentId?: string | undefined;
  readonly taskId?: string | undefined;
  readonly chatId?: string | undefined;
  readonly sessionId?: string | undefined;
}

/** Whose policies a request is under; none where it names neither an agent nor a task. */
export function policySubjects({ agentId, taskId }: RequestSubject): PolicySubject[] {
  return [
    ...(taskId === undefined ? [] : [{ kind: 'task' as const, id: taskId }]),
    ...(agentId === undefined ? [] : [{ kind: 'agent' as const, id: agentId }]),
  ];
}

/** The one policy that holds: a task's replaces its agent's whole. */
export function effectivePolicy(
  subjects: readonly PolicySubject[],
  policies: readonly StoredPolicy[],
): StoredPolicy | null {
  for (const wanted of subjects) {
    const found = policies.find(({ subject }) => subject.kind === wanted.kind && subject.id === wanted.id);
    if (found !== undefined) return found;
  }
  return null;
}

/** What `${…}` in a policy's patterns stands for. */
export type PolicyVariables = Readonly<Record<string, string | undefined>>;

export function policyVariables(userId: string, subject: RequestSubject): PolicyVariables {
  return {
    user_id: userId,
    agent_id: subject.agentId,
    task_id: subject.taskId,
    chat_id: subject.chatId,
    session_id: subject.sessionId,
  };
}

/**
 * The patterns a policy opens for reading, filled in.
 *
 * @throws PalimpsestError `invalid_input` naming a variable that the request leaves unset
 */
export function filledReadPatterns(policy: StoredPolicy, variables: PolicyVariables): string[] {
  return filled(policy.readNamespaces, variables, 'read_namespaces');
}

/** The patterns a policy opens for writing, filled in: its default namespace is one of them. */
export function filledWritePatterns(policy: StoredPolicy, variables: PolicyVariables): string[] {
  const place = policy.writeNamespace === null ? [] : [policy.writeNamespace];
  return filled([...place, ...policy.allowedWriteNamespaces], variables, 'allowed_write_namespaces');
}

/** Where a policy has memories written by default, filled in; null where it says nothing. */
export function filledWriteNamespace(policy: StoredPolicy, variables: PolicyVariables): string | null {
  return policy.writeNamespace === null ? null : fillPattern(policy.writeNamespace, variables);
}

/** Checked again: a long id in the place of `${chat_id}` must not make what the database can't compile. */
function filled(patterns: readonly string[], variables: PolicyVariables, field: string): string[] {
  if (patterns.length === 0) return [];
  return parseScope(
    patterns.map((pattern) => fillPattern(pattern, variables)),
    field,
  );
}
