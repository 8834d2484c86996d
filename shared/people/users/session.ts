import type { SessionId, UserId } from '../../platform/runtime/ids.ts';

/** A signed-in browser. The cookie is `<id>.<secret>`; the secret itself is stored nowhere, only its SHA-256. */
export interface SessionDocument {
  readonly _id: SessionId;
  /** In hexadecimal. */
  readonly secretHash: string;
  readonly user: UserId;
  /** The user's `epoch` when it began. */
  readonly epoch: number;
  /** Whether the user has shown a second factor, and which. */
  readonly factor?: 'totp' | 'recovery_code';
  /** When the user last showed password and second factor: at the beginning, or again since then. */
  readonly confirmedAt: Date;
  readonly madeAt: Date;
  /** The last request, to the minute. */
  readonly seenAt: Date;
  /** Where it began. */
  readonly address: string;
  /** The browser, as it named itself. */
  readonly agent?: string;
  /** Its absolute end. The store removes it then. */
  readonly expiresAt: Date;
}
