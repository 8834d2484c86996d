import { z } from 'zod';
import { promotionalHours } from '../../../shared/messages/document/daytime.ts';
import type { MessageDraft } from '../../../shared/messages/document/draft.ts';
import { creditsOf } from '../../../shared/money/accounts/prices.ts';
import { findAccepted } from '../../../shared/money/payment/find-accepted.ts';
import { declareOver } from '../../../shared/money/payment/pay-by.ts';
import { type MessageId, newId } from '../../../shared/platform/runtime/ids.ts';
import { type Call, endpoint, type Gateway, type Shown } from '../../api/endpoint.ts';
import { id, success } from '../../api/shapes.ts';
import { messageOrTemplate } from '../../http/fields/message-fields.ts';
import { type ReadRequest, request, whole } from '../../http/fields/request.ts';
import { validUntilFromNow } from '../../http/fields/times.ts';
import { type Attempt, notAccepted, type Verdict } from '../../http/idempotency/action.ts';
import { refusal } from '../../http/payment-refusal.ts';
import { type AroundPayment, withinRecipientLimit } from '../limits/recipients.ts';
import { daytimeOf } from './daytime.ts';
import {
  CREDITS_USED,
  DEFERRED_UNTIL,
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

export const SendResult = success('SendResult', {
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

/** One message to one recipient. */
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

/** Checks, pays for and stores one message. `more`: what the message has beside the request. `around`: of what is paid for with it. */
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
export function sendResult({ _id, to }: Pick<MessageDraft, '_id' | 'to'>, credits: number): Shown<typeof SendResult> {
  return { status: 'success', message_id: _id, to, status_code: '1000', credits_used: credits };
}
