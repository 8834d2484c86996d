import type { Clock } from '../../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import { type ProblemAnswer, RETRY_AFTER } from '../answer.ts';
import type { Reply } from '../context.ts';
import type { ProblemSlug } from '../problem.ts';

export type Verdict =
  | Accepted
  /** The request is valid, and nothing was done. */
  | { readonly kind: 'dry_run'; readonly body: object }
  | Refused
  /** The action may or may not have been done. A repeated request with the same key finds out. */
  | { readonly kind: 'unknown'; readonly problem: Problem };

/** The request was done. A repeated Idempotency-Key gets this answer again. */
export interface Accepted {
  readonly kind: 'accepted';
  readonly body: object;
  /** The key is remembered for a day from this time; by default from now. */
  readonly keptFrom?: Date;
  /** The body has a secret, so the stored answer is encrypted. */
  readonly sealed?: true;
}

/** Nothing was done. */
export interface Refused {
  readonly kind: 'refused';
  readonly problem: Problem;
}

export function isRefused(result: object): result is Refused {
  return 'problem' in result && 'kind' in result && result.kind === 'refused';
}

export type Problem = readonly [ProblemSlug, ProblemAnswer];

export interface Attempt<Id extends string> {
  /** The id that only this request's result can get. */
  readonly id: Id;
  /** The payment must be made before this moment of the store's time. Set only with an Idempotency-Key. */
  readonly payBy: Date | undefined;
}

export interface Action<Id extends string> {
  /** Stored with the claims of its keys, so it must never change. */
  readonly name: string;
  /** How far ahead `keptFrom` may be. Claims are kept that much longer, or the key would be free too soon. */
  readonly aheadMs?: number;
  newId(account: AccountId): Id;
  /**
   * Rejects with the store's error when the outcome is unknown; the claim stays until a later request looks into it.
   */
  act(res: Reply, attempt: Attempt<Id>): Promise<Verdict>;
  /**
   * Makes sure that an attempt that had to pay before `payBy` can never succeed any more; false while it may. Called
   * before `recover` when `payBy` is over by the store's clock, because that clock may go back at a failover. Left out
   * by actions that no account pays for: they look at the time before `act`.
   */
  end?(account: AccountId, id: Id, payBy: Date): Promise<boolean>;
  /**
   * Finds an accepted request's answer by its id, by a majority read (mongo/find-one.ts). Undefined: it has no result.
   */
  recover(account: AccountId, id: Id): Promise<Accepted | undefined>;
  /**
   * Why this caller must not get an earlier request's answer. Left out when whoever may call the endpoint may have all.
   */
  refuseReplay?(res: Reply, id: Id): Promise<Problem | undefined>;
}

/**
 * Refuses an attempt whose time (`payBy`) is over, because another request with the same Idempotency-Key may have
 * begun. For actions that no account pays for: asked before `act` (api/mount.ts), and before the write by those that
 * use the network first. A late write does no harm: it has the attempt's own id or repeats what was written.
 */
export function refusedLate(clock: Clock, payBy: Attempt<string>['payBy']): Refused | undefined {
  if (payBy === undefined || clock.now() < payBy) return undefined;
  return { kind: 'refused', problem: ['store_unavailable', { headers: RETRY_AFTER }] };
}

interface Outcome {
  readonly kind: string;
  /** The answer to an earlier payment was lost, and it may still take effect. */
  readonly mayStillPay?: true;
}

type Unknown = { readonly kind: 'outcome_unknown' };

/**
 * The verdict on messages that were not accepted. While an earlier attempt may still pay, the outcome is unknown
 * whatever the store said last: the key stays claimed, and a later request frees it once nothing can pay any more.
 */
export function notAccepted<O extends Outcome>(outcome: O, problemOf: (outcome: O | Unknown) => Problem): Verdict {
  const { kind, mayStillPay } = outcome;
  if (kind !== 'outcome_unknown' && mayStillPay !== true) return { kind: 'refused', problem: problemOf(outcome) };
  // "Too late" would make the caller believe that nothing was done.
  return { kind: 'unknown', problem: problemOf(kind === 'too_late' ? { kind: 'outcome_unknown' } : outcome) };
}
