import type { Collection, Db } from 'mongodb';
import type { AccountId, MessageId, VerificationCheckId, VerificationId } from '../../platform/runtime/ids.ts';
import type { ChatMessageDocument, FallbackEnd } from './chat-message.ts';
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
  /** How it ended, if that is to be announced (workers/maintenance/announce.ts). */
  readonly unannounced?: readonly { readonly event: VerificationOutcome; readonly at: Date }[];
  /** Of a code that went by SMS first: the chat-app message that goes when it is not given back in time. */
  readonly second?: SecondTry;
  readonly removeAt: Date;
}

/**
 * Checked when the code is asked for, and paid for when it goes (workers/chatapp/second-tries.ts). With neither `due` nor `ended` it
 * was not needed.
 */
export interface SecondTry {
  readonly afterSeconds: number;
  /** When somebody must look at it. Each look that does something moves it, so it is in the filter of whoever writes. */
  readonly due?: Date;
  /** What it says, as JSON, sealed, because it has the code (`SecondMessage`). Gone when the code is over, or with `ended`. */
  readonly sealed?: string;
  /** The newest attempt to pay for it. Before `payBy` of the store's time it succeeds, or never. */
  readonly decided?: { readonly at: Date; readonly payBy: Date };
  readonly ended?: FallbackEnd;
}

/** What is sealed of the message. The rest of it is the verification's. */
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
