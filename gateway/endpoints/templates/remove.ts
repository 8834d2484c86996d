import { removeTemplateRequest } from '../../../shared/templates/sms/request-store.ts';
import { decideTemplate } from '../../../shared/templates/sms/store.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import { changeAudited } from '../../http/audited.ts';
import { callerOf, type Handler, type Reply } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { findOwnTemplate, NO_TEMPLATE } from './find.ts';
import { removeTemplate } from './own-store.ts';
import { templateRecord } from './record.ts';

const WITHDRAWN = 'Withdrawn by the account.';
const BEING_TOLD = 'It was just approved or rejected, and webhooks are being told of it. Try again in a minute.';

/**
 * DELETE /v2/account/templates/{template_id} (extension): takes a request back. A template that an operator made or approved
 * stays listed, as rejected: its id must not get another text while messages wait that have this one.
 */
export function createRemoveTemplate(deps: Pick<GatewayDeps, 'db' | 'clock' | 'config'>): Handler {
  const { db, clock } = deps;
  return async (req, res: Reply) => {
    const account = callerOf(res).account._id;
    const own = await findOwnTemplate(db, clock, account, req.params.template_id);
    if (own === undefined) return sendProblem(res, 'template_not_found', NO_TEMPLATE);
    const id = own.kind === 'request' ? own.found._id : own.found.dltId;
    const removed = await changeAudited(deps, callerOf(res), {
      action: 'template.remove',
      subject: { kind: 'template', id },
      read: async () => templateRecord(own.found),
      make: async () => {
        if (own.kind === 'request') return (await removeTemplateRequest(db, account, own.found._id)) || undefined;
        const { dltId, requested, approvedAt } = own.found;
        if (await removeTemplate(db, account, dltId)) return true;
        if (requested && approvedAt === undefined) return undefined;
        await decideTemplate(db, clock, account, dltId, 'rejected', WITHDRAWN);
        return false;
      },
      madeOf: (gone) => {
        if (gone === true) return { removed: true };
        const record = templateRecord(own.found);
        return gone === undefined ? record : { ...record, state: 'rejected' };
      },
      isRefusal: () => false,
    });
    if (removed === undefined) return sendProblem(res, 'template_not_editable', { detail: BEING_TOLD });
    const message = removed
      ? 'The template is removed.'
      : 'The template is withdrawn: no text of it is sent any more. It stays listed as rejected.';
    sendJson(res, { status: 'success', template_id: id, removed, message });
  };
}
