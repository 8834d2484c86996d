import { findSenderById, removeSender } from '../../../shared/carriers/sender-store.ts';
import { isSenderId } from '../../../shared/platform/runtime/ids.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import { changeAudited } from '../../http/audited.ts';
import { callerOf, type Handler, type Reply } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { senderRecord } from './record.ts';

const NO_SENDER = {
  detail: 'Check the sender_id: the account has no such sender. `GET /v2/account/senders` lists them.',
};

/** DELETE /v2/account/senders/{sender_id} (extension): gives a sender up. Messages that wait with it are refused and refunded. */
export function createRemoveSender(deps: Pick<GatewayDeps, 'db' | 'clock' | 'config'>): Handler {
  const { db } = deps;
  return async (req, res: Reply) => {
    const { sender_id: id } = req.params;
    const account = callerOf(res).account._id;
    const found = typeof id === 'string' && isSenderId(id) ? await findSenderById(db, account, id) : undefined;
    if (found === undefined) return sendProblem(res, 'sender_not_found', NO_SENDER);
    await changeAudited(deps, callerOf(res), {
      action: 'sender.remove',
      subject: { kind: 'sender', id: found._id },
      read: async () => senderRecord(found),
      make: () => removeSender(db, account, found._id),
      madeOf: () => ({ removed: true }),
      isRefusal: () => false,
    });
    sendJson(res, { status: 'success', sender_id: found._id, message: 'The sender is removed.' });
  };
}
