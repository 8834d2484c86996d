import { decideSender, findSender } from '../../../shared/senders/store.ts';
import { readRequest, whole } from '../../fields/request.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import { changeAudited } from '../../http/audited.ts';
import { bodyOf, type Handler, type Reply, requesterOf } from '../../http/context.ts';
import { invalidRequest } from '../../http/fields.ts';
import type { GatewayDeps } from '../../process/deps.ts';
import { accountInPath } from '../accounts/find-account.ts';
import { DECIDE_SENDER } from './decision-fields.ts';

/** POST /v2/admin/accounts/{account_id}/senders/{sender}/decision (extension): approves or rejects a sender. */
export function createDecideSender(deps: Pick<GatewayDeps, 'db' | 'clock' | 'config'>): Handler {
  const { db, clock, config } = deps;
  return async (req, res: Reply) => {
    const read = await readRequest(DECIDE_SENDER, bodyOf(res), { account: {}, now: clock.now(), config });
    if (read.problems.count > 0) return sendProblem(res, ...invalidRequest(read.problems));
    const account = await accountInPath(db, req);
    if (account === undefined) return sendProblem(res, 'account_not_found');
    const { decision, reason } = whole(read);
    const name = String(req.params.sender);
    const found = await findSender(db, account._id, name);
    if (found === undefined) return sendProblem(res, 'sender_not_found');
    await changeAudited(deps, requesterOf(res), {
      action: decision === 'approved' ? 'sender.approve' : 'sender.reject',
      subject: { kind: 'sender', id: `${account._id}:${name}` },
      account: account._id,
      read: async () => ({ status: found.status, reason: found.reason ?? null }),
      make: () => decideSender(db, clock, account._id, name, decision, reason),
      madeOf: () => ({ status: decision, reason: reason ?? null }),
      isRefusal: () => false,
    });
    sendJson(res, 200, {
      status: 'success',
      account_id: account._id,
      sender: name,
      decision,
      reason: reason ?? null,
    });
  };
}
