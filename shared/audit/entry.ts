import type { AccountId, AuditId } from '../runtime/ids.ts';

/** Who changed something. */
export interface Actor {
  /** `ops`: the operator's command; `key`: an API key; `user`: somebody who signed in. */
  readonly kind: 'ops' | 'key' | 'user';
  /** `asha@vm-1` (user of the operating system, and host), or the id of the key or user. */
  readonly id: string;
  /** Where the change came from, when that was another machine. */
  readonly address?: string;
}

/** What was changed: `{kind: 'key', id: '01kam…'}`. */
export interface Subject {
  readonly kind: string;
  readonly id?: string;
}

/**
 * One change of a setting: written before the change is made, and completed after it. One that stays `begun` was perhaps done:
 * whoever made it was stopped between the two. Never changed again, and removed by the store when it is `AUDIT_DAYS` old.
 */
export interface AuditDocument {
  readonly _id: AuditId;
  readonly at: Date;
  readonly actor: Actor;
  /** `<kind of thing>.<verb>`: `key.create`, `chatapp-webhook.register`. */
  readonly action: string;
  readonly subject: Subject;
  /** Whose thing it is; left out for what is nobody's, a carrier. */
  readonly account?: AccountId;
  readonly outcome: 'begun' | 'done' | 'failed';
  /** The thing, without secrets: before, and after what was done. Left out where there was none. */
  readonly before?: Readonly<Record<string, unknown>>;
  readonly after?: Readonly<Record<string, unknown>>;
  /** How often within its minute, where that is more than once: changes of a key are taken together then. */
  readonly times?: number;
  readonly expiresAt: Date;
}

/** What there is to say of a change before it is made. */
export type Intended = Pick<AuditDocument, 'actor' | 'action' | 'subject' | 'account' | 'before'>;
/** And after it. */
export type Ended = Pick<AuditDocument, 'outcome' | 'account' | 'after'> & { readonly subject?: Subject };
