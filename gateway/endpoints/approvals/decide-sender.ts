import { decideSender, findSender } from '../../../shared/carriers/sender-store.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import { changeAudited } from '../../http/audited.ts';
import { bodyOf, type Handler, type Reply, requesterOf } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { invalidRequest } from '../../http/field-problems.ts';
import { readRequest, whole } from '../../http/fields/request.ts';
import { accountInPath } from '../accounts/find-account.ts';
import { DECIDE_SENDER } from './decision-fields.ts';

/** POST /v2/admin/accounts/{account_id}/senders/{sender}/decision (extension): approves or rejects a sender. */
export function createDecideSender(deps: Pick<GatewayDeps, 'db' | 'clock' | 'config'>): Handler {
  const { db, clock, config } = deps;
  return async (req, res: Reply) => {
    const read = await readRequest(DECIDE_SENDER, bodyOf(res), { account: {}, now: clock.now(), config });
    const { problems } = read;
    if (problems.count > 0) return sendProblem(res, ...invalidRequest(problems));
    const account = await accountInPath(db, req);
    if (account === undefined) return sendProblem(res, 'account_not_found');
    const { decision, reason, sender_id: id } = whole(read);
    const name = String(req.params.sender);
    const found = await findSender(db, account._id, name);
    if (found === undefined) return sendProblem(res, 'sender_not_found');
    if (decision === 'approved' && found.requested === true && id === undefined) {
      const detail = 'The account asked for it itself: name the sender_id that you read.';
      problems.add('sender_id', 'missing_field', detail);
      return sendProblem(res, ...invalidRequest(problems));
    }
    if (id !== undefined && id !== found._id) return sendProblem(res, 'sender_changed');
    const before = { status: found.status, reason: found.reason ?? null };
    const done = await changeAudited(deps, requesterOf(res), {
      action: decision === 'approved' ? 'sender.approve' : 'sender.reject',
      subject: { kind: 'sender', id: `${account._id}:${name}` },
      account: account._id,
      read: async () => before,
      make: () => decideSender(db, clock, account._id, name, decision, reason, found._id),
      madeOf: (decided) => (decided ? { status: decision, reason: reason ?? null } : before),
      isRefusal: () => false,
    });
    if (!done) return sendProblem(res, 'sender_changed');
    sendJson(res, {
      status: 'success',
      account_id: account._id,
      sender: name,
      decision,
      reason: reason ?? null,
    });
  };
}
