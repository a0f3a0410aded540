import { z } from 'zod';

const id = z.string().optional();

/** On whose behalf an agent acts, where it is said in code. On the wire it stands in headers. */
export const requestSubjectSchema = z
  .strictObject({ agent_id: id, task_id: id, chat_id: id, session_id: id })
  .transform(({ agent_id: agentId, task_id: taskId, chat_id: chatId, session_id: sessionId }) => {
    return { agentId, taskId, chatId, sessionId };
  });
