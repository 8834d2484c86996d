import { hash } from 'node:crypto';
import type { Collection, Db } from 'mongodb';
import { defined } from '../platform/runtime/defined.ts';
import type { AccountId, AuditId } from '../platform/runtime/ids.ts';
import { SEALED_TEXT } from '../platform/runtime/secret-box.ts';

export interface Actor {
  /** `ops`: the operator's command; `key`: an API key; `user`: somebody who signed in. */
  readonly kind: 'ops' | 'key' | 'user';
  /** `asha@vm-1` (user of the operating system, and host), or the id of the key or user. */
  readonly id: string;
  /** A user or key of an operator. Accounts are not told which. */
  readonly operator?: true;
  /** The user's sign-in name, because users may be removed. */
  readonly name?: string;
  readonly address?: string;
}

/** `{kind: 'key', id: '01kam…'}` */
export interface Subject {
  readonly kind: string;
  readonly id?: string;
}

/**
 * One change of a setting, written before the change is made and completed after it. An entry that stays `begun` may
 * have been done: the process was stopped in between. A completed entry never changes; the store removes it after
 * `HARKARA_AUDIT_DAYS`.
 */
export interface AuditDocument {
  readonly _id: AuditId;
  readonly at: Date;
  readonly actor: Actor;
  /** `<kind of thing>.<verb>`: `key.create`, `chatapp-webhook.register`. */
  readonly action: string;
  readonly subject: Subject;
  /** Absent for what belongs to none, such as a carrier. */
  readonly account?: AccountId;
  readonly outcome: 'begun' | 'done' | 'failed';
  /** The thing without its secrets, before and after the change. Absent where there was none. */
  readonly before?: Readonly<Record<string, unknown>>;
  readonly after?: Readonly<Record<string, unknown>>;
  /** How often it was done within its minute, if more than once: repeated changes of a key share one entry. */
  readonly times?: number;
  readonly expiresAt: Date;
}

export type Intended = Pick<AuditDocument, 'actor' | 'action' | 'subject' | 'account' | 'before'>;
export type Ended = Pick<AuditDocument, 'outcome' | 'account' | 'after'> & { readonly subject?: Subject };

const MARK_CHARACTERS = 8;

/**
 * A document as the audit shows it. Sealed secrets and bytes (the hash of a key) become a fingerprint, which shows that
 * a secret changed and reveals nothing of it, because every sealing starts with a new random number. Pending
 * announcements are left out.
 */
export function auditView(document: object): Readonly<Record<string, unknown>> {
  const { unannounced, ...lasting } = document as Readonly<Record<string, unknown>>; // every object is one
  return Object.fromEntries(Object.entries(lasting).map(([name, value]) => [name, shown(value)]));
}

function shown(value: unknown): unknown {
  if (typeof value === 'string') return SEALED_TEXT.test(value) ? mark(value) : value;
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  if (Array.isArray(value)) return value.map(shown);
  if (value instanceof Uint8Array) return mark(value);
  // The driver's Binary.
  if ('buffer' in value && value.buffer instanceof Uint8Array) return mark(value.buffer);
  return auditView(value);
}

function mark(stored: string | Uint8Array): string {
  return `hidden (${hash('sha256', stored, 'hex').slice(0, MARK_CHARACTERS)})`;
}

const DAY_MS = 86_400_000;

/** If the id exists, it is the same change within the minute: `times` counts it, and the first `before` stays. */
export async function beginEntry(
  db: Db,
  id: AuditId,
  intended: Intended,
  { now, keptDays }: { readonly now: Date; readonly keptDays: number },
): Promise<void> {
  const { actor, action, subject, account, before } = intended;
  const begun = {
    ...{ at: now, actor, action, subject, expiresAt: new Date(now.getTime() + keptDays * DAY_MS) },
    ...defined({ account, before }),
  };
  await entries(db).updateOne(
    { _id: id },
    { $setOnInsert: begun, $set: { outcome: 'begun' }, $inc: { times: 1 } },
    { upsert: true },
  );
}

/** Records that somebody looked. Again within the minute, `times` counts it. */
export async function noteEntry(
  db: Db,
  id: AuditId,
  { actor, action, subject, account }: Intended,
  { now, keptDays }: { readonly now: Date; readonly keptDays: number },
): Promise<void> {
  const expiresAt = new Date(now.getTime() + keptDays * DAY_MS);
  const noted = {
    ...{ at: now, actor, action, subject, expiresAt, outcome: 'done' as const },
    ...defined({ account }),
  };
  await entries(db).updateOne({ _id: id }, { $setOnInsert: noted, $inc: { times: 1 } }, { upsert: true });
}

export async function completeEntry(db: Db, id: AuditId, ended: Ended): Promise<void> {
  await entries(db).updateOne({ _id: id }, { $set: ended });
}

/**
 * Withdraws a change that did nothing. Removes its entry, unless it also stands for earlier changes of the same minute:
 * then only `times` is lowered, and the outcome is `ended` or, without it, that of the earlier changes.
 */
export async function withdrawEntry(db: Db, id: AuditId, ended?: Ended): Promise<void> {
  const { deletedCount } = await entries(db).deleteOne({ _id: id, outcome: 'begun', times: 1 });
  if (deletedCount === 1) return;
  await entries(db).updateOne({ _id: id }, { ...(ended && { $set: ended }), $inc: { times: -1 } });
  // An entry without `after` stays `begun`: an earlier change is still under way.
  if (ended === undefined)
    await entries(db).updateOne({ _id: id, after: { $exists: true } }, { $set: { outcome: 'done' } });
}

export function entries(db: Db): Collection<AuditDocument> {
  return db.collection('audit');
}
