import { z } from 'zod';
import type { AnyMessage } from '../../../shared/messages/document/any-message.ts';
import type { MessageDocument, MessageDraft } from '../../../shared/messages/document/message.ts';
import { ERASED } from '../../../shared/messages/document/recipient.ts';
import { promotionalHours } from '../../../shared/messages/document/routing.ts';
import { isBeforeSent } from '../../../shared/messages/document/status.ts';
import { creditsOf } from '../../../shared/money/accounts/prices.ts';
import { declareOver } from '../../../shared/money/payment/debit.ts';
import { findAccepted } from '../../../shared/money/payment/pending.ts';
import { isMessageId, type MessageId, newId } from '../../../shared/platform/runtime/ids.ts';
import { type Call, endpoint, type Gateway, invalid, refused, type Shown } from '../../api/endpoint.ts';
import { id, success } from '../../api/shapes.ts';
import type { JsonObject } from '../../http/context.ts';
import { messageOrTemplate } from '../../http/fields/message-fields.ts';
import { type ReadRequest, readRequest, request, whole } from '../../http/fields/request.ts';
import { validUntilFromNow } from '../../http/fields/times.ts';
import { type Attempt, notAccepted, type Verdict } from '../../http/idempotency/action.ts';
import { refusal } from '../../http/payment-refusal.ts';
import { type AroundPayment, withinRecipientLimit } from '../limits/recipients.ts';
import { IN_PATH } from '../messages/shapes.ts';
import {
  CREDITS_USED,
  DEFERRED_UNTIL,
  daytimeOf,
  deferral,
  dryRun,
  MESSAGE_FIELDS,
  MESSAGE_RULES,
  messageDryRun,
  orderMessage,
  RECIPIENT,
  REFUSALS,
  SendDryRun,
} from './message-order.ts';
import { predicted } from './scrubbing/facts.ts';

const SendResult = success('SendResult', {
  message_id: id('msg', 'Id of the message.', 'msg_01m7znjn7hdb5pft3awkb6pgvz'),
  to: RECIPIENT,
  status_code: z.literal('1000').meta({ description: 'Accepted and queued.' }),
  credits_used: CREDITS_USED.meta({ example: 1 }),
  deferred_until: DEFERRED_UNTIL,
});

const SendAnswer = z.union([SendResult, SendDryRun]).meta({
  id: 'SendAnswer',
  description: '`SendResult`, or `SendDryRun` to a request with `dry_run`: it alone has the member `dry_run`.',
});

export const SEND_BODY = request(
  { ...MESSAGE_FIELDS, valid_until: validUntilFromNow },
  [messageOrTemplate],
  MESSAGE_RULES,
);

export const send = endpoint({
  id: 'send',
  call: 'sms.send',
  method: 'post',
  path: '/v2/send',
  tag: 'SMS',
  summary: 'Send one message',
  description:
    'The answer comes after the account has paid and the message is stored with it; `GET /v2/status/{message_id}` knows it from then on. A refused request is neither stored nor charged.',
  scopes: ['send'],
  test: 'apart',
  body: SEND_BODY,
  ownProblems: true,
  answer: SendAnswer,
  problems: REFUSALS,
  examples: {
    body: {
      plain: { to: '919876543210', message: 'Your code is 4711', sender: 'HARKRA', route: 'transactional' },
      template: {
        to: '919876543210',
        template_id: '1107160000000000001',
        params: ['4711'],
        sender: 'HARKRA',
        reference: 'order 7',
      },
    },
    answer: {
      accepted: {
        status: 'success',
        message_id: 'msg_01m7znjn7hdb5pft3awkb6pgvz',
        to: '919876543210',
        status_code: '1000',
        credits_used: 1,
      },
      'dry run': {
        status: 'success',
        dry_run: true,
        credits_used: 0,
        credits_required: 1,
        segments: 1,
        encoding: 'GSM7',
        units: 18,
        unicode_characters: [],
        template_id: null,
      },
    },
  },
  newId: ({ clock }) => newId('msg', clock.now().getTime()),
  action: (deps) => ({
    act: (call, attempt) => sendOne(deps, call, call.read, attempt),
    end: (account, _id, payBy) => declareOver(deps.db, account, payBy),
    async recover(account, id) {
      const message = await findAccepted(deps.db, account, id);
      return message && { kind: 'accepted', body: sendResult(message, creditsOf(message)) };
    },
  }),
});

/** Checks, pays for and stores one message. `more`: further members. `around`: done around the payment. */
export async function sendOne(
  deps: Gateway,
  { caller, told }: Pick<Call, 'caller' | 'told'>,
  read: ReadRequest<typeof SEND_BODY.fields>,
  { id, payBy }: Attempt<MessageId>,
  more: Pick<MessageDraft, 'resendOf' | 'verification'> = {},
  around: AroundPayment = (pay) => pay(),
): Promise<Verdict> {
  const { accepter, clock, config } = deps;
  const account = caller.account._id;
  const order = await orderMessage(deps, caller, read);
  if (order.kind === 'refused') return order;
  const { message } = order;
  const { valid_until: validUntil, dry_run: dry } = whole(read);
  const { recipients, placeOf } = order.held;
  const at = clock.now();
  const waits = await daytimeOf(order.held, { at, validUntil });
  if (waits.kind === 'refused') return waits;
  const deferred = deferral(promotionalHours(config), message.lane, at, waits.until);
  if (dry) {
    const price = { caller, id, credits: creditsOf(message), recipients, placeOf };
    const refusals = await predicted(deps, caller.account, message, { missing: order.missing, at });
    return dryRun(deps, price, messageDryRun(message, { ...refusals, ...deferred }));
  }

  told.messageId = id;
  const draft: MessageDraft = { ...message, ...more, _id: id, validUntil };
  const outcome = await withinRecipientLimit(deps, caller.account, recipients, placeOf, () =>
    around(() => accepter.accept(account, [draft], payBy, caller.caps)),
  );
  if (outcome.kind === 'refused') return outcome;
  if (outcome.kind === 'accepted') {
    return { kind: 'accepted', body: { ...sendResult(draft, outcome.credits), ...deferred } };
  }
  return notAccepted(outcome, (shown) => refusal(shown, id));
}

/** "SMS send result": exactly five fields. 1000 means accepted and queued (docs/specification/decisions.md, Errors). */
function sendResult({ _id, to }: Pick<MessageDraft, '_id' | 'to'>, credits: number): Shown<typeof SendResult> {
  return { status: 'success', message_id: _id, to, status_code: '1000', credits_used: credits };
}

/** A new message with text, sender and recipient of an earlier one, accepted like `POST /v2/send`. */
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

/** The most resends that a message links to. */
const RESENDS_KEPT = 10;

/** The request that sends it again. Undefined: not possible. A message that still waits is not repeated. */
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
  // A verification's code goes to nobody else, and not without its limits.
  if (verification !== undefined || text === undefined || to === ERASED || isBeforeSent(state)) return undefined;
  const priority = lane === 0 ? 'otp' : lane === 2 ? 'low' : 'normal';
  return { to, message: text, sender, route, priority, ...(reference !== undefined && { reference }) };
}
