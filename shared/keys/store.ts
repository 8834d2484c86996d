import assert from 'node:assert/strict';
import { Binary, type Collection, type Db, type Document, type Filter } from 'mongodb';
import type { Clock } from '../runtime/clock.ts';
import type { AccountId } from '../runtime/ids.ts';
import type { KeyDocument, KeyScope } from './key.ts';
import { formatKey, hashSecret, type KeyText, newKeyText } from './key-secret.ts';

export interface NewKey {
  /** Absent: a key of operators. */
  readonly account?: AccountId;
  /** For people, to tell keys apart. */
  readonly name: string;
  readonly scopes: readonly KeyScope[];
  readonly expiresAt?: Date | undefined;
  readonly perMinute?: number;
  readonly allowedIps?: readonly string[];
  readonly createdBy?: KeyDocument['createdBy'];
  readonly rotatedFrom?: KeyDocument['rotatedFrom'];
}

/** Fields that are absent stay unchanged. An empty list of addresses allows all addresses. */
export type KeyChange = Partial<Pick<NewKey, 'name' | 'scopes' | 'perMinute' | 'allowedIps'>>;

/** Makes a key. The full text is returned here and never again: only its hash is stored. */
export async function createKey(db: Db, clock: Clock, key: NewKey): Promise<{ id: string; key: string }> {
  const text = newKeyText(clock.now().getTime());
  await insertKey(db, clock, key, text);
  return { id: text.id, key: formatKey(text) };
}

/** Makes a key of this text. */
export async function insertKey(db: Db, clock: Clock, key: NewKey, text: KeyText): Promise<KeyDocument> {
  const { account, name, scopes, expiresAt, perMinute, allowedIps, createdBy, rotatedFrom } = key;
  const document: KeyDocument = {
    _id: text.id,
    ...(account === undefined ? {} : { account }),
    name,
    secretHash: new Binary(hashSecret(text.secret)),
    status: 'active',
    scopes,
    createdAt: clock.now(),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(perMinute === undefined ? {} : { perMinute }),
    ...(allowedIps === undefined ? {} : { allowedIps }),
    ...(createdBy === undefined ? {} : { createdBy }),
    ...(rotatedFrom === undefined ? {} : { rotatedFrom }),
  };
  await keys(db).insertOne(document);
  return document;
}

/** Whether the key is revoked, expired or replaced: then nothing can replace it. */
export function isOver({ status, expiresAt, rotatedTo }: KeyDocument, now: Date): boolean {
  return status === 'revoked' || rotatedTo !== undefined || (expiresAt !== undefined && expiresAt <= now);
}

/** How long a replaced key works unless somebody says otherwise. */
export const OVERLAP_MS = 24 * 3_600_000;

export interface Rotation {
  /** Until when the old key works at most. */
  readonly until: Date;
  /** When the new key ends. Undefined: when the old one would have. */
  readonly expiresAt?: Date | undefined;
  readonly createdBy?: KeyDocument['createdBy'];
}

/**
 * Makes a key of this text with the settings of `old`. The new key is stored first: if the process dies then, both work, and
 * `retireReplaced` completes it. Undefined when `old` was replaced or revoked meanwhile.
 */
export async function rotateKey(
  db: Db,
  clock: Clock,
  old: KeyDocument,
  { until, expiresAt = old.expiresAt, createdBy }: Rotation,
  text: KeyText = newKeyText(clock.now().getTime()),
): Promise<KeyDocument | undefined> {
  const settings = { ...old, expiresAt, rotatedFrom: { key: old._id, until }, createdBy };
  const made = await insertKey(db, clock, settings, text);
  return (await retireReplaced(db, made)) ? made : undefined;
}

/**
 * The key that `made` replaces gets its end. Idempotent: it completes a rotation whose process died after it had made the new key.
 * False when another key replaces it already, or somebody has revoked it: then `made` is removed, whose text nobody has seen.
 */
export async function retireReplaced(db: Db, { _id: made, rotatedFrom }: KeyDocument): Promise<boolean> {
  assert(rotatedFrom !== undefined, 'a key that replaces another names it');
  const { matchedCount } = await keys(db).updateOne(
    { _id: rotatedFrom.key, $or: [{ rotatedTo: made }, { rotatedTo: { $exists: false }, status: 'active' }] },
    { $set: { rotatedTo: made }, $min: { expiresAt: rotatedFrom.until } },
  );
  if (matchedCount === 0) await keys(db).deleteOne({ _id: made });
  return matchedCount === 1;
}

/** Gateways see the change within `KEY_CACHE_MS`. False when there is no such key. */
export async function updateKey(db: Db, id: string, { allowedIps, ...change }: KeyChange): Promise<boolean> {
  const everywhere = allowedIps?.length === 0;
  const limited = allowedIps === undefined || everywhere ? {} : { allowedIps };
  const { matchedCount } = await keys(db).updateOne({ _id: id }, [
    { $set: { ...literally({ ...change, ...limited }), ...(everywhere ? { allowedIps: '$$REMOVE' } : {}) } },
  ]);
  return matchedCount === 1;
}

/** Marks the values as literals: a name may begin with `$`. */
function literally(change: KeyChange): Document {
  return Object.fromEntries(Object.entries(change).map(([name, value]) => [name, { $literal: value }]));
}

/** Revokes a key for good; gateways refuse it within `KEY_CACHE_MS`. False when there is no such key. Idempotent. */
export async function revokeKey(db: Db, id: string): Promise<boolean> {
  const { matchedCount } = await keys(db).updateOne({ _id: id }, { $set: { status: 'revoked' } });
  return matchedCount === 1;
}

/** All keys of an account, oldest first. `undefined`: those of operators. */
export async function listKeys(db: Db, account: AccountId | undefined): Promise<readonly KeyDocument[]> {
  // The index holds keys without an account under null.
  const found = await keys(db)
    .find(account === undefined ? { account: null as never } : { account })
    .toArray();
  return found.sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime());
}

/** What an account sees of its keys: not those with the scope `admin`, which only ops makes. */
const OWN = { scopes: { $ne: 'admin' as const } };

/** A key that the account may see. */
export async function findOwnKey(db: Db, account: AccountId, id: string): Promise<KeyDocument | undefined> {
  return (await keys(db).findOne({ _id: id, account, ...OWN })) ?? undefined;
}

/** As it is shown: a key that has expired is not active. */
export const KEY_STATES = ['active', 'expired', 'revoked'] as const;
export type KeyState = (typeof KEY_STATES)[number];

/** Keys that the account may see, newest first, older than `after`. */
export function listOwnKeys(
  db: Db,
  account: AccountId,
  {
    state,
    now,
    after,
  }: { readonly state?: KeyState | undefined; readonly now: Date; readonly after?: string | undefined },
  limit: number,
): Promise<KeyDocument[]> {
  return keys(db)
    .find({
      account,
      ...OWN,
      ...(state === undefined ? {} : ofState(state, now)),
      ...(after === undefined ? {} : { _id: { $lt: after } }),
    })
    .sort({ _id: -1 })
    .limit(limit)
    .toArray();
}

/** How many of an account's keys work now, up to `max`. */
export function countLiveKeys(db: Db, account: AccountId, now: Date, max: number): Promise<number> {
  return keys(db).countDocuments({ account, ...ofState('active', now) }, { limit: max });
}

function ofState(state: KeyState, now: Date): Filter<KeyDocument> {
  if (state === 'revoked') return { status: 'revoked' };
  if (state === 'expired') return { status: 'active', expiresAt: { $lte: now } };
  return { status: 'active', $or: [{ expiresAt: { $exists: false } }, { expiresAt: { $gt: now } }] };
}

export async function findKey(db: Db, id: string): Promise<KeyDocument | undefined> {
  return (await keys(db).findOne({ _id: id })) ?? undefined;
}

/** The keys that exist, in no order. */
export async function findKeys(db: Db, ids: readonly string[]): Promise<readonly KeyDocument[]> {
  return keys(db)
    .find({ _id: { $in: ids } })
    .toArray();
}

function keys(db: Db): Collection<KeyDocument> {
  return db.collection('keys');
}
