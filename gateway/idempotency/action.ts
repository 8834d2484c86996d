import type { AccountId } from '../../shared/runtime/ids.ts';
import type { ProblemAnswer } from '../http/answer.ts';
import type { Reply } from '../http/context.ts';
import type { ProblemSlug } from '../http/problem.ts';

/** What came of a request that wants to do something. */
export type Verdict =
  | Accepted
  /** Nothing was done, and nothing was wrong. */
  | { readonly kind: 'dry_run'; readonly body: object }
  | Refused
  /** It was perhaps done: the same key finds out. */
  | { readonly kind: 'unknown'; readonly problem: Problem };

/** It was done, and an Idempotency-Key stands for this answer. */
export interface Accepted {
  readonly kind: 'accepted';
  readonly body: object;
  /** From when on the key is remembered for a day; from now on when it is left out. */
  readonly keptFrom?: Date;
  /** The body has a secret: what is kept of it is sealed. */
  readonly sealed?: true;
}

/** Nothing was done. */
export interface Refused {
  readonly kind: 'refused';
  readonly problem: Problem;
}

export type Problem = readonly [ProblemSlug, ProblemAnswer];

export interface Attempt<Id extends string> {
  /** The id that the result gets, and nothing else may get. */
  readonly id: Id;
  /** What is paid for must be paid before this moment of the store's time; there with an Idempotency-Key. */
  readonly payBy: Date | undefined;
}

/** A POST that does something, as its endpoint file defines it. */
export interface Action<Id extends string> {
  /** Stable: stored with the claims of its keys. */
  readonly name: string;
  newId(): Id;
  /** Rejects with the store's error when nothing can be said; the claim of a key then stays until it is looked into. */
  act(res: Reply, attempt: Attempt<Id>): Promise<Verdict>;
  /** What an accepted request with this id was answered with; undefined when there is no such result. */
  recover(account: AccountId, id: Id): Promise<Accepted | undefined>;
}
