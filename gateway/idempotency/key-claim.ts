import type { AccountId } from '../../shared/runtime/ids.ts';

/**
 * An Idempotency-Key in use (draft-ietf-httpapi-idempotency-key-header): made before anything is done for the request, with
 * the id that its result will get, and kept only when the request was accepted.
 *
 * `payBy` makes it safe to take over without knowing what became of its process: the account pays for the request before
 * that moment of the store's time or never (payment/debit.ts). After it, what the id does not name will never be.
 */
export interface KeyClaimDocument {
  readonly _id: KeyClaimId;
  /** SHA-256 of method, path and body: the request that the key stands for. */
  readonly fingerprint: string;
  /** Which action was asked for; it knows how to find what `result` names. */
  readonly action: string;
  /** The id that the result gets, `msg_…`; also tells this claim from a later one of the same key. */
  readonly result: string;
  readonly payBy: Date;
  readonly expiresAt: Date;
  /** There when the request was accepted. */
  readonly answer?: KeptAnswer;
}

export interface KeptAnswer {
  readonly status: number;
  /** The JSON as it was sent. */
  readonly body: string;
  /** The body has a secret and is stored in the secret box. */
  readonly sealed?: true;
}

/** `<account>:<SHA-256 of the key>`: per account, and of one length whatever the caller chose. */
export type KeyClaimId = `${AccountId}:${string}`;

/** How long an accepted request is remembered; one for later, from its time on. */
export const KEPT_MS = 24 * 3_600_000;

/**
 * From the claim to the latest debit. Far longer than a request takes, so that the clocks of machines may differ by
 * seconds; short, because who asks again after a crash gets 409 until then.
 */
export const PAY_WITHIN_MS = 15_000;
