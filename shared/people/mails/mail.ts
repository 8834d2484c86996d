import type { Told } from '../../platform/runtime/act.ts';
import type { AccountId, MailId, UserId } from '../../platform/runtime/ids.ts';

/**
 * A mail to a user. The insert decides that it goes; its id is derived from what it tells and to whom, so there is one. It is made into
 * a text when it is sent (workers/mail/render.ts), again with the same `Message-ID` after a crash.
 *
 * `waiting` (`due` set) → `sent` | `failed` (the server refused it for good) | `expired` (nobody took it in time).
 */
export interface MailDocument {
  readonly _id: MailId;
  /** Whose user it is. Absent: an operator. */
  readonly account?: AccountId;
  /** How the account is called. */
  readonly accountName?: string;
  readonly user: UserId;
  /** The address. */
  readonly to: string;
  /** The event that it tells of, or `link`: a one-time link. */
  readonly kind: string;
  readonly told: Readonly<Record<string, Told>>;
  /** The token of a link. Removed when the mail has ended. */
  readonly sealed?: string;
  /** When it happened. */
  readonly at: Date;
  readonly state: 'waiting' | 'sent' | 'failed' | 'expired';
  /** The time of the next try. Set in state `waiting` only. */
  readonly due?: Date;
  /** From then on it helps nobody. */
  readonly until: Date;
  /** Tries that the server answered. */
  readonly tries: number;
  /** What went wrong last, and when. */
  readonly error?: string;
  readonly failedAt?: Date;
  /** The store removes it then. */
  readonly expiresAt: Date;
}

/** How long it is worth telling what happened. */
export const NOTICE_MS = 24 * 3_600_000;
/** How long a mail is kept for operators after it has ended. */
export const KEPT_MS = 14 * 24 * 3_600_000;
/** What an account, or the operators, get in an hour at most. */
export const MAILS_PER_HOUR = 200;
