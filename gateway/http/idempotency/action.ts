import type { Clock } from '../../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import { type ProblemAnswer, RETRY_AFTER } from '../answer.ts';
import type { Reply } from '../context.ts';
import type { ProblemSlug } from '../problem.ts';

/** The result of a request that wants to do something. */
export type Verdict =
  | Accepted
  /** The request is valid, and nothing was done. */
  | { readonly kind: 'dry_run'; readonly body: object }
  | Refused
  /** The action may have been done, or not. A repeated request with the same key finds out. */
  | { readonly kind: 'unknown'; readonly problem: Problem };

/** The request was done. An Idempotency-Key repeats this answer. */
export interface Accepted {
  readonly kind: 'accepted';
  readonly body: object;
  /** The key is remembered for a day from this time on; by default from now on. */
  readonly keptFrom?: Date;
  /** The body has a secret, so the stored answer is encrypted. */
  readonly sealed?: true;
}

/** The request was refused and nothing was done. */
export interface Refused {
  readonly kind: 'refused';
  readonly problem: Problem;
}

/** `result`: a body, or a refusal in its place. */
export function isRefused(result: object): result is Refused {
  return 'problem' in result && 'kind' in result && result.kind === 'refused';
}

export type Problem = readonly [ProblemSlug, ProblemAnswer];

export interface Attempt<Id extends string> {
  /** The id that the result gets. No other result can have it. */
  readonly id: Id;
  /** The payment must be made before this moment of the store's time. Set only with an Idempotency-Key. */
  readonly payBy: Date | undefined;
}

/** A POST that does something, as its endpoint's file defines it. */
export interface Action<Id extends string> {
  /** Stored with the claims of its keys, so it must not change. */
  readonly name: string;
  /** How far ahead `keptFrom` may be. A claim without an answer is kept that much longer, or the key would be free too soon. */
  readonly aheadMs?: number;
  /** `account`: whose request it is. */
  newId(account: AccountId): Id;
  /**
   * Rejects with the store's error when the outcome is unknown. The key's claim then stays until a later request
   * looks into it.
   */
  act(res: Reply, attempt: Attempt<Id>): Promise<Verdict>;
  /**
   * Makes sure that an attempt that had to pay before `payBy` never succeeds from now on; false while it may. Called before
   * `recover` when the store's time says that it is over: that time may go back at a failover. Left out by actions that no
   * account pays for: the time is looked at before `act`.
   */
  end?(account: AccountId, id: Id, payBy: Date): Promise<boolean>;
  /**
   * Finds the answer of an accepted request by its id, read from a majority (mongo/find-one.ts). Undefined when there is no such result.
   */
  recover(account: AccountId, id: Id): Promise<Accepted | undefined>;
  /**
   * Why this caller must not have the answer to an earlier request; undefined when they may. Left out when whoever may call the
   * endpoint may have every answer of it.
   */
  refuseReplay?(res: Reply, id: Id): Promise<Problem | undefined>;
}

/**
 * Refuses an attempt whose time (`payBy`) is over, because another request with the same Idempotency-Key may have begun by now. Of
 * actions that no account pays for it is asked before `act` (api/mount.ts); those that ask the network first ask again before they
 * write. Undefined while there is time. A write that comes late nevertheless does no harm: it has the attempt's own id, or repeats what
 * was written.
 */
export function refusedLate(clock: Clock, payBy: Attempt<string>['payBy']): Refused | undefined {
  if (payBy === undefined || clock.now() < payBy) return undefined;
  return { kind: 'refused', problem: ['store_unavailable', { headers: RETRY_AFTER }] };
}

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
