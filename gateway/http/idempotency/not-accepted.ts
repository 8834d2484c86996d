import type { Problem, Verdict } from './action.ts';

interface Outcome {
  readonly kind: string;
  /** The answer to an attempt was lost, and it may still pay. */
  readonly mayStillPay?: true;
}

type Unknown = { readonly kind: 'outcome_unknown' };

/**
 * The verdict on what was not accepted. While an earlier attempt may still pay, it is unknown whatever the store said last: the key
 * stays claimed, and a later request frees it when nothing can pay any more.
 */
export function notAccepted<O extends Outcome>(outcome: O, problemOf: (outcome: O | Unknown) => Problem): Verdict {
  const { kind, mayStillPay } = outcome;
  if (kind !== 'outcome_unknown' && mayStillPay !== true) return { kind: 'refused', problem: problemOf(outcome) };
  // Whoever is told that it was too late would take it for certain that nothing was done.
  return { kind: 'unknown', problem: problemOf(kind === 'too_late' ? { kind: 'outcome_unknown' } : outcome) };
}
