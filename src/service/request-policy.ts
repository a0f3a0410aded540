import { type ErrorDetail, excerpt, invalidInput, PalimpsestError } from '../core/errors.ts';
import type { Asking, PolicySubject, StoredPolicy } from '../core/policy.ts';
import type { PreparedDraft, ScopePatterns } from '../core/ports.ts';
import { mayWrite, ownScope } from '../core/reach.ts';
import {
  effectivePolicy,
  filledReadPatterns,
  filledWriteNamespace,
  filledWritePatterns,
  policySubjects,
  policyVariables,
} from '../core/request-policy.ts';
import type { Access, Principal } from '../core/types.ts';
import type { UnplacedPreparedDraft } from './prepare-drafts.ts';
import type { RequestContext } from './request-context.ts';

/** What a request is about to do, as far as policies make a difference between them. */
export type Intent = 'read' | 'write' | 'delete';

/** The policy a request is under, and what it gives. */
export interface AppliedPolicy {
  /** Null where the request names no agent and no task, or none that has a policy. */
  readonly policy: StoredPolicy | null;
  readonly access: Access;
  /** What is read where the request names no namespaces. */
  readonly defaultScope: ScopePatterns;
  /** Where is written when the request names no namespace. */
  readonly writeNamespace: string | null;
}

/** A request's policy, which the store reads in the transaction of the request's own work. */
export interface RequestPolicy {
  /** What the store is asked with. */
  readonly asking: Asking;
  /** What the policy gives: known as soon as the store has begun the work it was asked for. */
  applied(): AppliedPolicy;
}

/**
 * The policy of the agent or task a request names. What it refuses, it refuses inside the transaction, with
 * `forbidden`; a pattern whose variable the request leaves unset is `invalid_input`.
 */
export function requestPolicy(context: RequestContext, intent: Intent): RequestPolicy {
  const subjects = policySubjects(context.subject ?? {});
  if (subjects.length === 0) {
    const applied = withoutPolicy(context.access);
    refuseUnattended(context, null, subjects, intent);
    return { asking: context.access, applied: () => applied };
  }
  let applied: AppliedPolicy | null = null;
  return {
    asking: {
      principal: context.access.principal,
      subjects,
      accessUnder(policies) {
        applied = applyPolicy(context, effectivePolicy(subjects, policies), intent);
        refuseUnattended(context, applied.policy, subjects, intent);
        return applied.access;
      },
    },
    applied() {
      if (applied === null) throw new Error('The store began its work without reading the policies.');
      return applied;
    },
  };
}

function withoutPolicy(access: Access): AppliedPolicy {
  const { principal, readGrants } = access;
  // An administrator reads what users have opened to administrators by naming it, never in passing.
  const isWide = principal.isTenantWide || !principal.isAdmin;
  const defaultScope = isWide ? null : [...ownScope(principal.userId), ...readGrants];
  return { policy: null, access, defaultScope, writeNamespace: null };
}

function applyPolicy(context: RequestContext, policy: StoredPolicy | null, intent: Intent): AppliedPolicy {
  const { access, subject = {} } = context;
  if (policy === null) return withoutPolicy(access);
  const variables = policyVariables(access.principal.userId, subject);
  const read = filledReadPatterns(policy, variables);
  const isWriting = intent !== 'read';
  return {
    policy,
    access: {
      principal: lentPrincipal(context),
      readGrants: [...access.readGrants, ...read],
      // A read does not need the variables of what is written only.
      writeGrants: isWriting ? [...access.writeGrants, ...filledWritePatterns(policy, variables)] : [],
    },
    defaultScope: read,
    writeNamespace: isWriting ? filledWriteNamespace(policy, variables) : null,
  };
}

/**
 * Who an agent acts as under its policy. The operator of a store reaches everything in it; what the operator's
 * agent does by itself is what the policy opens, beside the operator's own namespaces.
 */
function lentPrincipal({ access: { principal }, origin }: RequestContext): Principal {
  if (origin === undefined || !principal.isTenantWide) return principal;
  return { ...principal, isTenantWide: false, isAdmin: false };
}

/**
 * Whether what an agent's tools, or its host unasked, are about to do is allowed: by the policy, or without one
 * where nobody is kept apart (the operator of the store) or where the program itself, not a credential, says for
 * whom it acts and names no agent. A person's own requests need no permission.
 */
export function mayUnattended(
  { access, scopes, origin, subject = {} }: RequestContext,
  policy: StoredPolicy | null,
  intent: 'write' | 'delete',
): boolean {
  if (origin === undefined) return true;
  if (policy !== null) return policy[PERMISSIONS[origin][intent].field];
  const isOwnProgram = scopes === undefined && policySubjects(subject).length === 0;
  return access.principal.isTenantWide || isOwnProgram;
}

function refuseUnattended(
  context: RequestContext,
  policy: StoredPolicy | null,
  subjects: readonly PolicySubject[],
  intent: Intent,
): void {
  const { origin } = context;
  if (origin === undefined || intent === 'read' || mayUnattended(context, policy, intent)) return;
  const whose = subjects.map(({ kind, id }) => `the ${kind} ${excerpt(id)}`).join(' or ');
  const what = origin === 'automatic' ? 'store anything unasked' : `${intent} memories by a tool`;
  const message =
    whose === '' ? `Only a policy can allow to ${what}.` : `No policy of ${whose} allows to ${what}.`;
  const name = whose === '' ? 'Name the agent or the task. ' : '';
  throw new PalimpsestError('forbidden', message, {
    details: [
      {
        path: 'policy',
        got: false,
        allowed: true,
        hint: `${name}An administrator sets ${PERMISSIONS[origin][intent].wireName} in its policy.`,
      },
    ],
  });
}

/** Which field of a policy allows what. The host deletes nothing unasked; where it writes, it may. */
const PERMISSIONS = {
  tool_call: {
    write: { field: 'allowToolWrite', wireName: 'allow_tool_write' },
    delete: { field: 'allowToolDelete', wireName: 'allow_tool_delete' },
  },
  automatic: {
    write: { field: 'allowWrite', wireName: 'allow_write' },
    delete: { field: 'allowWrite', wireName: 'allow_write' },
  },
} as const;

/** Where a request says something of a draft: the field, and in a batch the item. */
export type DraftPlace = Required<Pick<ErrorDetail, 'path'>> & Pick<ErrorDetail, 'item'>;

/**
 * Drafts with their namespaces: the one they name, else the policy's, and each one the asker may write to.
 *
 * @param placeOf - Where the request says the namespace of a draft.
 * @throws PalimpsestError `invalid_input` where nothing names a namespace, `forbidden` where none may write
 */
export function placed(
  request: RequestPolicy,
  drafts: readonly UnplacedPreparedDraft[],
  placeOf: (index: number) => DraftPlace,
): () => PreparedDraft[] {
  return () => {
    const { access, writeNamespace } = request.applied();
    return drafts.map((unplaced, index) => {
      const namespace = unplaced.draft.namespace ?? writeNamespace;
      if (namespace === null) throw noNamespace(placeOf(index), request.applied().policy);
      if (!mayWrite(access, namespace)) throw notWritable(namespace, placeOf(index));
      return { ...unplaced, draft: { ...unplaced.draft, namespace } };
    });
  };
}

function noNamespace(place: DraftPlace, policy: StoredPolicy | null): PalimpsestError {
  const hint =
    policy === null
      ? 'Name one, or name an agent or a task whose policy has a write_namespace.'
      : `Name one: the policy of the ${policy.subject.kind} ${excerpt(policy.subject.id)} has no write_namespace.`;
  return invalidInput(`${place.path} is missing, and no policy says where to write. ${hint}`, {
    ...place,
    got: null,
    hint,
  });
}

function notWritable(namespace: string, place: DraftPlace): PalimpsestError {
  return new PalimpsestError('forbidden', `You may not write to the namespace ${namespace}.`, {
    details: [
      {
        ...place,
        got: namespace,
        allowed: 'your own namespaces, and those a policy of the agent or task opens for writing',
        hint: 'Ask an administrator for a policy that allows writing there.',
      },
    ],
  });
}
