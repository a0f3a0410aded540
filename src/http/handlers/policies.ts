import type { policyRoutes } from '../../contract/routes/policies.ts';
import type { PolicySubject } from '../../core/policy.ts';
import type { PolicyDraft } from '../../service/governance-service.ts';
import type { RequestContext } from '../../service/request-context.ts';
import type { HandlerParts } from '../http-app.ts';
import type { RouteHandlers } from '../route-handler.ts';

interface SubjectCall {
  readonly context: RequestContext;
  readonly params: { readonly id: string };
}

export function policyHandlers({ governance }: HandlerParts): Pick<RouteHandlers, keyof typeof policyRoutes> {
  const of = (kind: PolicySubject['kind']) => ({
    get: async ({ context, params }: SubjectCall) => ({
      body: await governance.getPolicy(context, { kind, id: params.id }),
    }),
    put: async ({ context, params, body }: SubjectCall & { readonly body: PolicyDraft }) => {
      const { value, warnings } = await governance.putPolicy(context, { kind, id: params.id }, body);
      return { body: { policy: value, warnings } };
    },
    delete: async ({ context, params }: SubjectCall) => {
      await governance.deletePolicy(context, { kind, id: params.id });
      return { body: undefined };
    },
  });
  const agent = of('agent');
  const task = of('task');
  return {
    async listPolicies({ context }) {
      return { body: { policies: await governance.listPolicies(context) } };
    },
    getAgentPolicy: agent.get,
    putAgentPolicy: agent.put,
    deleteAgentPolicy: agent.delete,
    getTaskPolicy: task.get,
    putTaskPolicy: task.put,
    deleteTaskPolicy: task.delete,
  };
}
