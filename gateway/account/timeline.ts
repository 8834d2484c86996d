import { CREDITS_PER_MESSAGE } from '../../shared/credits/refund.ts';
import type { WholeMessage } from '../../shared/messages/read-whole.ts';
import { isoTimestamp } from '../../shared/runtime/clock.ts';
import { idTime } from '../../shared/runtime/ids.ts';

/** Tries of one delivery that are shown, the newest: replays can add hundreds. */
const ATTEMPTS_SHOWN = 20;

/** One thing that happened to a message. `what` says which members it has. */
interface Happening {
  readonly at: Date;
  readonly what: 'accepted' | 'paid' | 'taken' | 'state' | 'webhook' | 'refunded';
  readonly more?: Readonly<Record<string, string | number>>;
}

/** What happened to a message, oldest first; what happened at the same moment in the order in which it follows. */
export function timelineOf({ message, paid, refunded, deliveries }: WholeMessage): object[] {
  const happened: Happening[] = [{ at: idTime(message._id), what: 'accepted' }];
  if (paid !== undefined) {
    // One debit may have paid for many messages, and one refund gives back for many: an entry's amount is not this message's.
    happened.push({ at: paid.at, what: 'paid', more: { credits: CREDITS_PER_MESSAGE, ledger_seq: paid.seq } });
  }
  const { claim } = message;
  if (claim !== undefined) happened.push({ at: claim.at, what: 'taken', more: { carrier: claim.carrier } });
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
    const more = { credits: CREDITS_PER_MESSAGE, ledger_seq: refunded.seq };
    happened.push({ at: refunded.at, what: 'refunded', more });
  }
  return happened
    .sort((a, b) => a.at.getTime() - b.at.getTime())
    .map(({ at, what, more }) => ({ at: isoTimestamp(at), what, ...more }));
}
