import { CREDITS_PER_MESSAGE } from '../../shared/ledger/refund.ts';
import { chatMessageKey } from '../../shared/providers/message-key.ts';
import { isoTimestamp } from '../../shared/runtime/clock.ts';
import { idTime } from '../../shared/runtime/ids.ts';
import type { LogRecord } from '../../shared/settlement/message-log.ts';
import { carrierMessageId, partRecord } from './part-record.ts';
import { isInbound, type UnreadInboundMessage, type UnreadMessage, type WholeMessage } from './read-whole.ts';

/** Tries of one delivery that are shown, the newest: replays can add hundreds. */
const ATTEMPTS_SHOWN = 20;

/** One thing that happened to a message. `what` says which members it has. */
interface Happening {
  readonly at: Date;
  readonly what:
    | 'accepted'
    | 'template'
    | 'path'
    | 'paid'
    | 'taken'
    | LogRecord['kind']
    | 'state'
    | 'webhook'
    | 'refunded';
  readonly more?: Readonly<Record<string, string | number | object | undefined>>;
}

/** What happened to a message, oldest first; what happened at the same moment in the order in which it follows. */
export function timelineOf({ message, paid, refunded, deliveries, log }: WholeMessage): object[] {
  const happened: Happening[] = isInbound(message) ? [] : beginningOf(message, paid);
  // What a carrier said comes before the state that it led to.
  for (const record of log) happened.push({ at: record.at, what: record.kind, more: said(record, message) });
  for (const { state, at } of message.history) happened.push({ at, what: 'state', more: { status: state } });
  for (const delivery of deliveries) {
    for (const { at, result, durationMs } of delivery.attempts.slice(-ATTEMPTS_SHOWN)) {
      const more = {
        event: delivery.event,
        webhook_id: delivery.endpoint,
        result,
        duration_ms: Math.round(durationMs),
      };
      happened.push({ at, what: 'webhook', more });
    }
  }
  if (refunded !== undefined) {
    const more = { credits: creditsOf(message), ledger_seq: refunded.seq };
    happened.push({ at: refunded.at, what: 'refunded', more });
  }
  return happened
    .sort((a, b) => a.at.getTime() - b.at.getTime())
    .map(({ at, what, more }) => ({ at: isoTimestamp(at), what, ...more }));
}

/** Until it was taken to be sent. */
function beginningOf(message: Exclude<UnreadMessage, UnreadInboundMessage>, paid: WholeMessage['paid']): Happening[] {
  const acceptedAt = idTime(message._id);
  const happened: Happening[] = [{ at: acceptedAt, what: 'accepted' }];
  if (message.channel === 'sms') {
    const { template, entityId, path } = message;
    if (template !== undefined) {
      happened.push({ at: acceptedAt, what: 'template', more: { template_id: template, entity_id: entityId } });
    }
    happened.push({ at: acceptedAt, what: 'path', more: { path } });
  } else if (message.content.kind === 'template') {
    const { name, language } = message.content;
    happened.push({ at: acceptedAt, what: 'template', more: { template: name, language } });
  }
  if (paid !== undefined) {
    happened.push({ at: paid.at, what: 'paid', more: { credits: creditsOf(message), ledger_seq: paid.seq } });
  }
  const { claim, earlier = [] } = message;
  // One that was put back to be sent again is the last of the earlier ones, until it is taken anew.
  const last = claim === undefined || earlier.some(({ id }) => id === claim.id) ? [] : [claim];
  for (const { at, carrier } of [...earlier, ...last]) {
    // Messages of the chat-app channel are claimed by shares of accounts, which are nobody's business.
    happened.push({ at, what: 'taken', more: message.channel === 'sms' ? { carrier } : {} });
  }
  return happened;
}

/** Its own: one debit may have paid for many messages, and one refund gives back for many. */
function creditsOf(message: UnreadMessage): number {
  if (message.channel === 'sms') return CREDITS_PER_MESSAGE;
  return isInbound(message) ? 0 : (message.opened?.credits ?? 0);
}

/** What a carrier said, raw and as we read it, or what was decided because it said nothing. */
function said(record: LogRecord, { channel, account }: UnreadMessage): NonNullable<Happening['more']> {
  const chat = channel === 'chatapp';
  const carrier = chat ? undefined : record.carrier;
  switch (record.kind) {
    case 'answer':
      return {
        carrier,
        outcome: record.outcome,
        error_code: record.code,
        error_reason: record.reason,
        parts: record.parts?.map((part, index) =>
          partRecord(part, index, chat ? chatMessageKey(account, '') : undefined),
        ),
      };
    case 'receipt': {
      const { result, text, tlvs, key, part } = record;
      return {
        carrier,
        result,
        raw: {
          text,
          receipted_message_id: tlvs?.receiptedMessageId,
          message_state: tlvs?.messageState,
          network_error_code: tlvs?.networkErrorCode,
        },
        carrier_message_id: carrierMessageId(key),
        status: part.state,
        error_code: part.error,
        error_reason: part.reason,
        done_at: part.doneAt === undefined ? undefined : isoTimestamp(part.doneAt),
      };
    }
    case 'policy':
      return { carrier, policy: record.policy, became: record.became };
  }
}
