import type { Db } from 'mongodb';
import type { MessageDraft } from '../../../shared/messages/document/draft.ts';
import type { MessageDocument } from '../../../shared/messages/document/message.ts';
import { promotionalHours } from '../../../shared/messages/document/promotional-hours.ts';
import { findInQueue } from '../../../shared/messages/queue/queue-store.ts';
import { CREDITS_PER_MESSAGE } from '../../../shared/money/ledger/refund.ts';
import { declareOver } from '../../../shared/money/payment/pay-by.ts';
import { readPaid } from '../../../shared/money/payment/read-paid.ts';
import { findCommitted } from '../../../shared/platform/mongo/find-one.ts';
import { type AccountId, type MessageId, newId } from '../../../shared/platform/runtime/ids.ts';
import { bodyOf, callerOf } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { messageOrTemplate } from '../../http/fields/message-fields.ts';
import { readRequest, request, whole } from '../../http/fields/request.ts';
import { validUntilFromNow } from '../../http/fields/times.ts';
import type { Action } from '../../http/idempotency/action.ts';
import { notAccepted } from '../../http/idempotency/not-accepted.ts';
import { refusal } from '../../http/payment-refusal.ts';
import { dryRun } from './dry-run.ts';
import { deferral, MESSAGE_FIELDS, MESSAGE_RULES, messageDryRun, orderMessage } from './message-order.ts';
import type { Sending } from './sending.ts';

export const SEND = request({ ...MESSAGE_FIELDS, valid_until: validUntilFromNow }, [messageOrTemplate], MESSAGE_RULES);

/** POST /v2/send: one message to one recipient. A refused request is neither stored nor charged. */
export function createSend(deps: GatewayDeps & Sending): Action<MessageId> {
  const { accepter, clock, config, db } = deps;
  const hours = promotionalHours(config);

  return {
    name: 'send',
    newId: () => newId('msg', clock.now().getTime()),
    async act(res, { id, payBy }) {
      const caller = callerOf(res);
      const account = caller.account._id;
      const read = await readRequest(SEND, bodyOf(res), { account: caller.account, now: clock.now(), config });
      const order = await orderMessage(deps, caller, read);
      if (order.kind === 'refused') return order;
      const { message } = order;
      const { valid_until: validUntil, dry_run: dry } = whole(read);
      if (dry) return dryRun(deps, { account, id, credits: CREDITS_PER_MESSAGE }, messageDryRun(message));

      res.locals.messageId = id;
      const draft: MessageDraft = { ...message, _id: id, validUntil };
      const outcome = await accepter.accept(account, [draft], payBy);
      if (outcome.kind === 'accepted') {
        const deferred = deferral(hours, draft.lane, clock.now());
        return { kind: 'accepted', body: { ...sendResult(draft, outcome.credits), ...deferred } };
      }
      return notAccepted(outcome, (shown) => refusal(shown, id));
    },
    end: (account, _id, payBy) => declareOver(db, account, payBy),
    async recover(account, id) {
      const message = await findAccepted(db, account, id);
      if (message === undefined) return undefined;
      return { kind: 'accepted', body: sendResult(message, CREDITS_PER_MESSAGE) };
    },
  };
}

/** "SMS send result": exactly five fields. 1000 means accepted and queued (docs/specification/decisions.md, Errors). */
function sendResult({ _id, to }: Pick<MessageDraft, '_id' | 'to'>, credits: number): object {
  return { status: 'success', message_id: _id, to, status_code: '1000', credits_used: credits };
}

/**
 * Whether an account has paid for a message: it is in the account's pending changes, in the queue, or stored.
 * After the time to pay is over, undefined is final.
 */
export async function findAccepted(
  db: Db,
  account: AccountId,
  id: MessageId,
): Promise<Pick<MessageDocument, '_id' | 'to'> | undefined> {
  for (const { messages } of (await readPaid(db, account, findCommitted)).values()) {
    const pending = messages.find((message) => message._id === id);
    if (pending !== undefined) return pending;
  }
  const waiting = await findInQueue(db, account, id, true);
  if (waiting !== undefined) return waiting;
  const messages = db.collection<MessageDocument>('messages');
  return (await findCommitted(messages, { _id: id, account }, { to: 1 })) ?? undefined;
}
