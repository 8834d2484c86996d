import { Binary, type Collection, type Db, type Document } from 'mongodb';
import type { Clock } from '../runtime/clock.ts';
import type { AccountId } from '../runtime/ids.ts';
import type { KeyDocument, KeyScope } from './key.ts';
import { formatKey, hashSecret, newKeyText } from './key-secret.ts';

export interface NewKey {
  readonly account: AccountId;
  /** For people, to tell keys apart. */
  readonly name: string;
  readonly scopes: readonly KeyScope[];
  readonly expiresAt?: Date;
  readonly perMinute?: number;
  readonly allowedIps?: readonly string[];
}

/** Fields that are absent stay unchanged. An empty list of addresses allows all addresses. */
export type KeyChange = Partial<Pick<NewKey, 'name' | 'scopes' | 'perMinute' | 'allowedIps'>>;

/** Makes a key. The full text is returned here and never again: only its hash is stored. */
export async function createKey(db: Db, clock: Clock, key: NewKey): Promise<{ id: string; key: string }> {
  const now = clock.now();
  const text = newKeyText(now.getTime());
  await keys(db).insertOne({
    _id: text.id,
    account: key.account,
    name: key.name,
    secretHash: new Binary(hashSecret(text.secret)),
    status: 'active',
    scopes: key.scopes,
    createdAt: now,
    ...(key.expiresAt === undefined ? {} : { expiresAt: key.expiresAt }),
    ...(key.perMinute === undefined ? {} : { perMinute: key.perMinute }),
    ...(key.allowedIps === undefined ? {} : { allowedIps: key.allowedIps }),
  });
  return { id: text.id, key: formatKey(text) };
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

/** All keys of an account, oldest first. */
export async function listKeys(db: Db, account: AccountId): Promise<readonly KeyDocument[]> {
  const found = await keys(db).find({ account }).toArray();
  return found.sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime());
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
