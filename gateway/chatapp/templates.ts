import { listChatTemplates } from '../../shared/chat-templates/store.ts';
import type { GatewayDeps } from '../deps.ts';
import { sendJson } from '../http/answer.ts';
import { callerOf, type Handler, type Reply } from '../http/context.ts';

/**
 * GET /v2/chatapp/templates ("Chat-app template"): the account's, as the provider told last; only `approved` ones can be
 * sent, the others are there so that their status can be seen.
 */
export function createChatTemplates({ db }: Pick<GatewayDeps, 'db'>): Handler {
  return async (_req, res: Reply) => {
    const all = await listChatTemplates(db, callerOf(res).account._id);
    sendJson(res, 200, { templates: all.map(({ name, status, language }) => ({ name, status, language })) });
  };
}
