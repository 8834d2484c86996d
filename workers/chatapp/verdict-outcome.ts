import { chatMessageKey } from '../../shared/carriers/providers/message-key.ts';
import type { SubmitOutcome } from '../../shared/messages/settlement/submit-outcome.ts';
import { defined } from '../../shared/platform/runtime/defined.ts';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';
import type { SendVerdict } from './provider/answer.ts';

/** The message is tried once more, then it is refused. */
const TWO_TRIES = 2;
/** A new template that is not ready: tried again after 10 minutes and after 30 more, then it is refused. */
const NOT_READY = { maxTries: 3, pauseMs: 600_000 };

/**
 * The outcome of a verdict for its message. The change is decided as for an SMS of one part
 * (settlement/decide-outcome.ts). `probe`: the send tested whether the provider is back, so its failure says nothing
 * about the message. Pure.
 */
export function outcomeOf(account: AccountId, verdict: SendVerdict, probe: boolean): SubmitOutcome {
  switch (verdict.kind) {
    case 'accepted':
      return {
        kind: 'sent',
        parts: [{ key: chatMessageKey(account, verdict.upstreamId), state: 'accepted' }],
        ...defined({ heldBack: verdict.heldBack }),
      };
    case 'unknown':
      return { kind: 'unknown', parts: [{ state: 'unknown' }] };
    // Nothing was sent, or nothing may be sent until a person solves the problem. The message keeps its place in the
    // queue.
    case 'not_sent':
    case 'stop':
      return { kind: 'requeue' };
    // The account is too fast, perhaps for hours: that says nothing about the message, which was only the first in the queue.
    case 'back_off':
      return { kind: 'throttled', code: verdict.code, reason: verdict.reason, uncounted: true };
    case 'customer_delay':
      return { kind: 'throttled', code: verdict.code, reason: verdict.reason };
    case 'retry':
      return { kind: 'retry', code: verdict.code, reason: verdict.reason, ...(probe ? { uncounted: true } : {}) };
    case 'retry_once':
      return { kind: 'retry', code: verdict.code, reason: verdict.reason, maxTries: TWO_TRIES };
    case 'retry_later':
      return { kind: 'retry', code: verdict.code, reason: verdict.reason, ...NOT_READY };
    case 'refuse':
      return {
        kind: 'rejected',
        parts: [{ state: 'refused', error: verdict.code }],
        code: verdict.code,
        reason: verdict.reason,
      };
  }
}
