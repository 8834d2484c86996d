import type { Collection, Db } from 'mongodb';
import type { AccountId, MessageId, VerificationCheckId, VerificationId } from '../../platform/runtime/ids.ts';
import type { ChatMessageDocument, FallbackEnd } from './chat-message.ts';

export type VerificationOutcome = 'approved' | 'failed' | 'expired';

/**
 * A code that was sent to somebody, who is to give it back (docs/decisions/0058). Each check is one update of this
 * document, with the number of checks that was read in its filter. Stored before the message is paid for.
 */
export interface VerificationDocument {
  readonly _id: VerificationId;
  readonly account: AccountId;
  /** Digits, country code first. */
  readonly to: string;
  /** Where the code went first. */
  readonly channel: 'sms' | 'chatapp';
  /** The message with the code. Its id derives from this one's. */
  readonly message: MessageId;
  /** A keyed hash (`SecretBox.hash`). Removed when the code can be used no more. */
  readonly codeHash?: string;
  readonly codeLength: number;
  readonly state: 'pending' | VerificationOutcome;
  readonly attempts: number;
  readonly maxAttempts: number;
  /** From then on a pending one is expired, whether maintenance has written that or not: `stateAt`. */
  readonly expiresAt: Date;
  readonly reference?: string;
  /** The last check, so that a request with an Idempotency-Key finds its answer again. */
  readonly check?: VerificationCheckId;
  readonly decidedAt?: Date;
  /** How it ended, if that is to be announced (workers/maintenance/announce.ts). */
  readonly unannounced?: readonly { readonly event: VerificationOutcome; readonly at: Date }[];
  /** For a code sent by SMS first: the chat-app message that goes when the code is not given back in time. */
  readonly second?: SecondTry;
  readonly removeAt: Date;
}

/** Paid for when it goes (workers/chatapp/second-tries.ts). Neither `due` nor `ended`: not needed. */
export interface SecondTry {
  readonly afterSeconds: number;
  /** When to look at it. Each look that does something moves `due`, so every writer filters on it. */
  readonly due?: Date;
  /** A `SecondMessage` as JSON, sealed because it has the code. Removed when the code is over, or with `ended`. */
  readonly sealed?: string;
  /** The newest attempt to pay for it: it succeeds before `payBy` of the store's time, or never. */
  readonly decided?: { readonly at: Date; readonly payBy: Date };
  readonly ended?: FallbackEnd;
}

/** The sealed part of the message. The verification has the rest. */
export type SecondMessage = Pick<ChatMessageDocument, 'from' | 'content' | 'keys'>;

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
