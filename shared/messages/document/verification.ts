import type { Collection, Db } from 'mongodb';
import type { AccountId, MessageId, VerificationCheckId, VerificationId } from '../../platform/runtime/ids.ts';
import type { ChannelName } from './message.ts';

/** How one ends. */
export type VerificationOutcome = 'approved' | 'failed' | 'expired';

/**
 * A code that was sent to somebody, who is to give it back (docs/decisions/0058). The document decides whether the code is right: each
 * check is one update of it, with the number of checks that was read in its filter. It is stored before the message is paid for.
 */
export interface VerificationDocument {
  readonly _id: VerificationId;
  readonly account: AccountId;
  /** Digits, country code first. */
  readonly to: string;
  /** Where the code went first. */
  readonly channel: ChannelName;
  /** It has the code. Its id derives from this one's. */
  readonly message: MessageId;
  /** A keyed hash of the code (`SecretBox.hash`). Gone when the code can be used no more. */
  readonly codeHash?: string;
  /** Its digits. */
  readonly codeLength: number;
  readonly state: 'pending' | VerificationOutcome;
  /** Checks that were made, and the most that may be. */
  readonly attempts: number;
  readonly maxAttempts: number;
  /** From then on a pending one is expired, whether maintenance has written that or not: `stateAt`. */
  readonly expiresAt: Date;
  readonly reference?: string;
  /** The last check, so that a request with an Idempotency-Key finds its answer again. */
  readonly check?: VerificationCheckId;
  readonly decidedAt?: Date;
  /** How it ended, if that is to be announced (workers/maintenance/announce-verifications.ts). */
  readonly unannounced?: readonly { readonly event: VerificationOutcome; readonly at: Date }[];
  readonly removeAt: Date;
}

export const VERIFICATION_DAYS = 14;

export function verificationsOf(db: Db): Collection<VerificationDocument> {
  return db.collection('verifications');
}

export function stateAt(
  { state, expiresAt }: Pick<VerificationDocument, 'state' | 'expiresAt'>,
  now: Date,
): VerificationDocument['state'] {
  return state === 'pending' && expiresAt <= now ? 'expired' : state;
}
