import type { AnyMessage } from '../../../shared/messages/document/any-message.ts';
import type { MessageDocument } from '../../../shared/messages/document/message.ts';
import { ERASED } from '../../../shared/messages/document/recipient.ts';
import { isBeforeSent } from '../../../shared/messages/document/status.ts';
import { creditsOf } from '../../../shared/money/accounts/prices.ts';
import { findAccepted } from '../../../shared/money/payment/find-accepted.ts';
import { declareOver } from '../../../shared/money/payment/pay-by.ts';
import { isMessageId, newId } from '../../../shared/platform/runtime/ids.ts';
import { endpoint, invalid, refused } from '../../api/endpoint.ts';
import type { JsonObject } from '../../http/context.ts';
import { readRequest } from '../../http/fields/request.ts';
import { IN_PATH } from '../messages/shapes.ts';
import { REFUSALS } from './message-order.ts';
import { SEND_BODY, SendResult, sendOne, sendResult } from './send.ts';

/** A new message with the text, sender and recipient of an earlier one. It takes the same way as `POST /v2/send`. */
export const resend = endpoint({
  id: 'resend',
  call: 'messages.resend',
  method: 'post',
  path: '/v2/messages/{message_id}/resend',
  tag: 'SMS',
  summary: 'Send a message again',
  description:
    'Extension. A new message to the same recipient, with the same text, sender, route and reference; it is checked and charged like any other, and has `resend_of`; the first one has it in `resent_as`. Of an SMS that you sent, that has left or ended, and whose text is still kept; otherwise 409. The recipient may get it twice if the first one arrives after all.',
  scopes: ['send'],
  test: 'apart',
  params: IN_PATH,
  answer: SendResult,
  problems: ['message_not_found', 'not_resendable', ...REFUSALS],
  newId: ({ clock }) => newId('msg', clock.now().getTime()),
  action: (deps) => ({
    async act(call, attempt) {
      const { caller, params } = call;
      const id = params.message_id;
      const messages = deps.db.collection<AnyMessage>('messages');
      const earlier = isMessageId(id) ? await messages.findOne({ _id: id, account: caller.account._id }) : null;
      if (earlier === null) return refused('message_not_found');
      const body = repeated(earlier);
      if (body === undefined) return refused('not_resendable');
      const context = { account: caller.account, now: deps.clock.now(), config: deps.config };
      const read = await readRequest(SEND_BODY, body, context);
      if (read.problems.count > 0) return invalid(read.problems);
      await messages.updateOne(
        { _id: earlier._id, resentAs: { $ne: attempt.id } },
        { $push: { resentAs: { $each: [attempt.id], $slice: -RESENDS_KEPT } } },
      );
      return sendOne(deps, call, read, attempt, { resendOf: earlier._id });
    },
    end: (account, _id, payBy) => declareOver(deps.db, account, payBy),
    async recover(account, id) {
      const message = await findAccepted(deps.db, account, id);
      return message && { kind: 'accepted', body: sendResult(message, creditsOf(message)) };
    },
  }),
});

/** More than that of one message are not linked from it. */
const RESENDS_KEPT = 10;

/** What must be asked to send it again. Undefined: it cannot be. While it waits, a second one would only arrive beside it. */
function repeated(message: AnyMessage): JsonObject | undefined {
  if (message.channel !== 'sms' || 'inbound' in message) return undefined;
  // Its text may have been removed (HARKARA_TEXT_DAYS), or its recipient erased.
  const {
    text,
    to,
    state,
    sender,
    route,
    lane,
    reference,
    verification,
  }: Omit<MessageDocument, 'text'> & { readonly text?: string } = message;
  // The code of a verification goes to nobody else, and not without its bounds.
  if (verification !== undefined || text === undefined || to === ERASED || isBeforeSent(state)) return undefined;
  const priority = lane === 0 ? 'otp' : lane === 2 ? 'low' : 'normal';
  return { to, message: text, sender, route, priority, ...(reference !== undefined && { reference }) };
}
