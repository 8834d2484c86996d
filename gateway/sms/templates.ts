import { listTemplates } from '../../shared/templates/store.ts';
import type { GatewayDeps } from '../deps.ts';
import { sendJson } from '../http/answer.ts';
import { callerOf, type Handler, type Reply } from '../http/context.ts';

/** GET /v2/templates ("DLT template"): the account's approved ones, by id. Read from the store: a decision shows at once. */
export function createTemplates({ db }: Pick<GatewayDeps, 'db'>): Handler {
  return async (_req, res: Reply) => {
    const approved = await listTemplates(db, callerOf(res).account._id, 'approved');
    const templates = approved.map(({ dltId, name, content }) => ({ id: dltId, name, content }));
    sendJson(res, 200, { templates });
  };
}
