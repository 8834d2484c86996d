import type { AcceptOutcome } from '../../shared/payment/accept.ts';
import { type ResultId, refusal } from '../http/payment-refusal.ts';
import type { Verdict } from '../idempotency/action.ts';

type NotAccepted = Exclude<AcceptOutcome, { readonly kind: 'accepted' }> | { readonly kind: 'too_much_unpaid' };

/**
 * The verdict on SMS that were not accepted. While an earlier attempt may still pay, it is unknown whatever the store said last:
 * the key stays claimed, and a later request frees it when nothing can pay any more.
 */
export function notAccepted(outcome: NotAccepted, id: ResultId): Verdict {
  const mayStillPay = 'mayStillPay' in outcome && outcome.mayStillPay === true;
  if (outcome.kind === 'outcome_unknown' || mayStillPay) {
    // Whoever is told that it was too late would take it for certain that nothing was done.
    const shown = outcome.kind === 'too_late' ? ({ kind: 'outcome_unknown' } as const) : outcome;
    return { kind: 'unknown', problem: refusal(shown, id) };
  }
  return { kind: 'refused', problem: refusal(outcome, id) };
}
