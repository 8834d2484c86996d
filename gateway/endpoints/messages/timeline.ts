import { tlvMembers } from '../../../shared/events/catalogue.ts';
import type { LogRecord } from '../../../shared/messages/settlement/message-log.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import type { Shown } from '../../api/endpoint.ts';
import type { WholeMessage } from './read-whole.ts';
import type { Happened } from './shapes.ts';
import { type Happening, partRecords, type TextlessMessage } from './view.ts';
import { viewOf } from './views.ts';

/** Attempts of one delivery that are shown, the newest ones. Replays can add hundreds. */
const ATTEMPTS_SHOWN = 20;

/** What happened to a message, oldest first. Entries of the same millisecond are in the order of cause and effect. */
export function timelineOf(whole: WholeMessage): Shown<typeof Happened>[] {
  const { instead } = whole;
  const ofSms = (instead === undefined ? [] : happeningsOf(instead)).map(({ more, ...one }) => {
    return { ...one, more: { ...more, message_id: instead?.message._id } };
  });
  return [...happeningsOf(whole), ...ofSms]
    .sort((a, b) => a.at.getTime() - b.at.getTime())
    .map(({ at, what, more }) => ({ at: isoTimestamp(at), what, ...more }));
}

function happeningsOf({ message, paid, refunded, deliveries, log }: WholeMessage): Happening[] {
  const happened = beginningOf(message, paid);
  // A carrier's answer is listed before the state that it caused.
  for (const record of log) happened.push({ at: record.at, what: record.kind, more: said(record, message) });
  for (const { state, at, error } of message.history) {
    const why = state === 'fallback' ? { error_code: error?.code, error_reason: error?.reason } : {};
    happened.push({ at, what: 'state', more: { status: state, ...why } });
  }
  if ('fallback' in message && message.fallback?.decided !== undefined) {
    const { at, because } = message.fallback.decided;
    happened.push({ at, what: 'fallback', more: { because } });
  }
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
    const more = {
      credits: viewOf(message).payment(message).credits,
      ledger_seq: refunded.seq,
      change_id: refunded.change,
    };
    happened.push({ at: refunded.at, what: 'refunded', more });
  }
  return happened;
}

/** The entries up to the claim by a worker. */
function beginningOf(message: TextlessMessage, paid: WholeMessage['paid']): Happening[] {
  const view = viewOf(message);
  const happened = [...view.beginning(message)];
  if (paid !== undefined) {
    const { credits } = view.payment(message);
    happened.push({ at: paid.at, what: 'paid', more: { credits, ledger_seq: paid.seq, change_id: paid.change } });
  }
  const { claim, earlier = [], attempts = [] } = message;
  // If a claimed message was put back, that claim is the last entry of `earlier` until the message is claimed again.
  const isKnown = earlier.some(({ id }) => id === claim?.id) || isPassedOn(message);
  const last = claim === undefined || isKnown ? [] : [claim];
  for (const { at, carrier } of [...attempts, ...earlier, ...last]) {
    happened.push({ at, what: 'taken', more: view.showsCarrier ? { carrier } : {} });
  }
  return happened;
}

/** Whether the last claim's carrier refused the message for another carrier, and no carrier has claimed it since. */
function isPassedOn({ claim, attempts = [] }: TextlessMessage): boolean {
  return claim !== undefined && attempts.some(({ carrier, at }) => carrier === claim.carrier && +at === +claim.at);
}

/** What a carrier answered, raw and as we read it. Or what we decided because it did not answer. */
function said(record: LogRecord, message: TextlessMessage): NonNullable<Happening['more']> {
  const view = viewOf(message);
  const idOf = (key: string): string => view.upstreamId(key, message.account);
  const carrier = view.showsCarrier ? record.carrier : undefined;
  switch (record.kind) {
    case 'answer':
      return {
        carrier,
        outcome: record.outcome,
        error_code: record.code,
        error_reason: record.reason,
        parts: record.parts === undefined ? undefined : partRecords(record.parts, idOf),
      };
    case 'receipt': {
      const { result, text, tlvs, key, part } = record;
      return {
        carrier,
        result,
        raw: { text, ...tlvMembers(tlvs) },
        carrier_message_id: idOf(key),
        status: part.effect === undefined ? part.state : undefined,
        error_code: part.error,
        error_reason: part.reason,
        done_at: part.doneAt === undefined ? undefined : isoTimestamp(part.doneAt),
      };
    }
    case 'policy':
      // It decided about an SMS, which is neither waiting nor read then.
      return { carrier, policy: record.policy, became: record.became as Shown<typeof Happened>['became'] };
  }
}
