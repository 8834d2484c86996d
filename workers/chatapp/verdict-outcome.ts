import { chatMessageKey } from '../../shared/providers/message-key.ts';
import type { AccountId } from '../../shared/runtime/ids.ts';
import type { SubmitOutcome } from '../../shared/settlement/submit-outcome.ts';
import type { SendVerdict } from './provider/answer.ts';

/** Once more, then it is refused. */
const TWO_TRIES = 2;

/**
 * What a verdict makes of the message; the change itself is decided as for an SMS of one part (settlement/decide-outcome.ts).
 * `probe`: it was sent to see whether the provider is back, so that its failure tells nothing about the message. Pure.
 */
export function outcomeOf(account: AccountId, verdict: SendVerdict, probe: boolean): SubmitOutcome {
  switch (verdict.kind) {
    case 'accepted':
      return { kind: 'sent', parts: [{ key: chatMessageKey(account, verdict.upstreamId), state: 'accepted' }] };
    case 'unknown':
      return { kind: 'unknown', parts: [{ state: 'unknown' }] };
    // Nothing left, or nothing may leave until a person has mended it: it waits in its place.
    case 'not_sent':
    case 'stop':
      return { kind: 'requeue' };
    case 'back_off':
    case 'customer_delay':
      return { kind: 'throttled', code: verdict.code, reason: verdict.reason };
    case 'retry':
      return { kind: 'retry', code: verdict.code, reason: verdict.reason, ...(probe ? { uncounted: true } : {}) };
    case 'retry_once':
      return { kind: 'retry', code: verdict.code, reason: verdict.reason, maxTries: TWO_TRIES };
    case 'refuse':
      return {
        kind: 'rejected',
        parts: [{ state: 'refused', error: verdict.code }],
        code: verdict.code,
        reason: verdict.reason,
      };
  }
}
