import type { AccountId, AuditId } from '../../platform/runtime/ids.ts';

/** Who changed something. */
export interface Actor {
  /** `ops`: the operator's command; `key`: an API key; `user`: somebody who signed in. */
  readonly kind: 'ops' | 'key' | 'user';
  /** `asha@vm-1` (user of the operating system, and host), or the id of the key or user. */
  readonly id: string;
  /** A user or key of an operator. Accounts are not told which. */
  readonly operator?: true;
  /** What a user signs in with. Users may be removed. */
  readonly name?: string;
  /** Where the change came from, when that was another machine. */
  readonly address?: string;
}

/** What was changed: `{kind: 'key', id: '01kam…'}`. */
export interface Subject {
  readonly kind: string;
  readonly id?: string;
}

/**
 * One change of a setting. It is written before the change is made and completed after it. An entry that stays `begun` may have
 * been done: the process was stopped in between. A completed entry never changes; the store removes it after `HARKARA_AUDIT_DAYS`.
 */
export interface AuditDocument {
  readonly _id: AuditId;
  readonly at: Date;
  readonly actor: Actor;
  /** `<kind of thing>.<verb>`: `key.create`, `chatapp-webhook.register`. */
  readonly action: string;
  readonly subject: Subject;
  /** The account that it belongs to; absent for what belongs to none, such as a carrier. */
  readonly account?: AccountId;
  readonly outcome: 'begun' | 'done' | 'failed';
  /** The thing without its secrets, before and after the change. Absent where there was none. */
  readonly before?: Readonly<Record<string, unknown>>;
  readonly after?: Readonly<Record<string, unknown>>;
  /** How often it was done within its minute, if more than once: repeated changes of a key share one entry. */
  readonly times?: number;
  readonly expiresAt: Date;
}

/** What is known before the change is made. */
export type Intended = Pick<AuditDocument, 'actor' | 'action' | 'subject' | 'account' | 'before'>;
/** What is known after the change. */
export type Ended = Pick<AuditDocument, 'outcome' | 'account' | 'after'> & { readonly subject?: Subject };
