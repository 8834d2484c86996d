import type { AccountId } from '../../../shared/platform/runtime/ids.ts';

/**
 * An Idempotency-Key in use (draft-ietf-httpapi-idempotency-key-header). It is stored before anything is done for the
 * request, with the id that the result will get. It is kept only if the request is accepted.
 *
 * `payBy` makes it safe to take over a claim when its process may have died: the account pays for the request before
 * that moment of the store's time, or never (payment/pay-by.ts). If no result has the id by then, none will ever have
 * it.
 */
export interface KeyClaimDocument {
  readonly _id: KeyClaimId;
  /** SHA-256 of method, path and body. A key may be used for this request only. */
  readonly fingerprint: string;
  /** Name of the action. It knows how to find the result. */
  readonly action: string;
  /** The id that the result gets, `msg_…`. It also tells this claim from a later one of the same key. */
  readonly result: string;
  readonly payBy: Date;
  readonly expiresAt: Date;
  /** Present after the request was accepted. */
  readonly answer?: KeptAnswer;
}

export interface KeptAnswer {
  readonly status: number;
  /** The JSON text of the answer. */
  readonly body: string;
  /** The body has a secret and is encrypted with the secret box. */
  readonly sealed?: true;
}

/** `<account>:<SHA-256 of the key>`: keys are per account, and the id has a fixed length. */
export type KeyClaimId = `${AccountId}:${string}`;

/** How long an accepted request is remembered. A scheduled one is remembered from its time on. */
export const KEPT_MS = 24 * 3_600_000;

/**
 * Time from the claim to the latest debit. Far longer than a request takes, so that clocks of machines may differ by
 * seconds. Short, because a repeated request after a crash gets 409 until it is over.
 */
export const PAY_WITHIN_MS = 15_000;
