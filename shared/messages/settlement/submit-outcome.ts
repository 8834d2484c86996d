import type { Part } from '../document/message.ts';

/**
 * The result of one message's submit, all its segments together. A chat-app message has one segment.
 *
 * - `sent`: all were accepted.
 * - `partial`: some were accepted, others were refused for good.
 * - `rejected`: refused for good, nothing was accepted.
 * - `failover`: this carrier refused it, nothing was accepted. `path` names the carriers that may still take it.
 * - `retry`: refused for now.
 * - `throttled`: the carrier wants us to slow down, nothing was accepted.
 * - `requeue`: nothing was written.
 * - `deferred`: nothing was written, and it may not leave before `until` (carriers/routing/daytime.ts).
 * - `unknown`: something was written, and its answer did not come.
 */
export type SubmitOutcome =
  /** `heldBack`: taken and not passed on yet, in the provider's word. */
  | { readonly kind: 'sent'; readonly parts: readonly Part[]; readonly heldBack?: string }
  | ({ readonly kind: 'partial' | 'rejected' } & Refusal)
  | { readonly kind: 'failover'; readonly path: string; readonly code: string; readonly reason: string }
  | ({ readonly kind: 'retry' | 'throttled' } & RefusalForNow)
  | { readonly kind: 'unknown'; readonly parts: readonly Part[] }
  | { readonly kind: 'requeue' }
  | { readonly kind: 'deferred'; readonly until: Date };

/** Refused for good. */
export interface Refusal {
  readonly parts: readonly Part[];
  readonly code: string;
  readonly reason: string;
}

export interface RefusalForNow {
  readonly code: string;
  readonly reason: string;
  /** After this many tries it is rejected. Default `MAX_TRIES`. */
  readonly maxTries?: number;
  /** The try does not count: it only probed whether the other side is back, or was throttled for all that the account sends. */
  readonly uncounted?: true;
  /** The first pause in milliseconds, if the carrier's settings have one. */
  readonly pauseMs?: number;
  /** The path of the other carriers that may take it when all tries have failed. Absent: it is rejected then. */
  readonly path?: string;
}

/** After this many temporary refusals a message is rejected. */
export const MAX_TRIES = 5;
/** This many throttled submits of one message count as one try: some carriers say "throttled" about a single recipient. */
export const THROTTLES_PER_TRY = 20;
/** `errorCode` of a message of which some segments were taken and others refused for good. */
export const PARTIAL = 'partial';
