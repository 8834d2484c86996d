import assert from 'node:assert/strict';
import { Binary, type Collection, type Db, type Document, type Filter, type UpdateFilter } from 'mongodb';
import { takePlace } from '../../platform/mongo/places.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import { defined } from '../../platform/runtime/defined.ts';
import type { AccountId } from '../../platform/runtime/ids.ts';
import { ownedBy } from '../erasure.ts';
import {
  type Bounds,
  boundsOf,
  excess,
  formatKey,
  hashSecret,
  inside,
  type KeyDocument,
  type KeyScope,
  type KeyText,
  LIVE_KEYS_MAX,
  lineOf,
  newKeyText,
} from './key.ts';

export interface NewKey {
  /** Absent: a key of operators. */
  readonly account?: AccountId;
  readonly test?: true | undefined;
  readonly name: string;
  readonly scopes: readonly KeyScope[];
  readonly expiresAt?: Date | undefined;
  readonly perMinute?: number | undefined;
  readonly allowedIps?: readonly string[] | undefined;
  readonly caps?: KeyDocument['caps'] | undefined;
  readonly maker?: Maker | undefined;
  readonly rotatedFrom?: KeyDocument['rotatedFrom'];
  /** Given with `rotatedFrom`. */
  readonly line?: string;
}

/** Absent fields stay unchanged. An empty list of addresses allows all addresses. */
export type KeyChange = Partial<Pick<NewKey, 'name' | 'scopes' | 'perMinute' | 'allowedIps'>>;

/** Who makes a key. Absent where ops does, which may give it anything. */
export interface Maker {
  readonly by: NonNullable<KeyDocument['createdBy']>;
  /** The new key's makers: this one, then its own. */
  readonly makers: readonly string[];
  /** Asked after it is stored: whoever narrows or revokes the maker then looks for its keys, so one sees the other. */
  mayStill(made: KeyDocument): Promise<boolean>;
}

/** The maker was revoked, disabled or narrowed at the same moment. There is no key. */
export class MakerChanged extends Error {}

/** The full text is returned here and never again: only its hash is stored. Throws `AllPlacesTaken`. */
export async function createKey(db: Db, clock: Clock, key: NewKey): Promise<{ id: string; key: string }> {
  const text = newKeyText(clock.now().getTime());
  await insertKey(db, clock, key, text);
  return { id: text.id, key: formatKey(text, key.test) };
}

/** Throws `AllPlacesTaken` and `MakerChanged`. */
export async function insertKey(db: Db, clock: Clock, key: NewKey, text: KeyText): Promise<KeyDocument> {
  const { account, test, name, scopes, expiresAt, perMinute, allowedIps, caps, maker, rotatedFrom, line } = key;
  const now = clock.now();
  const document: KeyDocument = {
    _id: text.id,
    ...defined({ account, test }),
    name,
    secretHash: new Binary(hashSecret(text.secret)),
    status: 'active',
    scopes,
    createdAt: now,
    ...defined({ expiresAt, perMinute, allowedIps, caps }),
    ...(maker === undefined ? {} : { createdBy: maker.by, makers: maker.makers }),
    ...defined({ rotatedFrom, line }),
    unannounced: [
      {
        event: 'key.created',
        at: now,
        told: { key_id: text.id, name, scopes, created_by: maker?.by.name ?? maker?.by.id ?? null },
      },
    ],
  };
  const places = { db, collection: 'keys', owner: ownedBy(account), most: LIVE_KEYS_MAX };
  const release = () => releasePlaces(db, account, clock.now());
  const made = await takePlace({ ...places, release }, async (place) => {
    const placed = { ...document, place };
    await keys(db).insertOne(placed);
    return placed;
  });
  if (maker === undefined || (await maker.mayStill(made))) return made;
  await keys(db).deleteOne({ _id: made._id });
  throw new MakerChanged(`${maker.by.id} may not make the key any more`);
}

/** Keys that have expired need no place. */
async function releasePlaces(db: Db, account: AccountId | undefined, now: Date): Promise<void> {
  await keys(db).updateMany(
    { ...ownedBy(account), place: { $gte: 0 }, expiresAt: { $lte: now } },
    { $unset: { place: '' } },
  );
}

/** Revoked, expired or replaced: nothing can replace it. */
export function isOver({ status, expiresAt, rotatedTo }: KeyDocument, now: Date): boolean {
  return status === 'revoked' || rotatedTo !== undefined || (expiresAt !== undefined && expiresAt <= now);
}

/** How long a replaced key works unless somebody says otherwise. */
export const OVERLAP_MS = 24 * 3_600_000;

export interface Rotation {
  readonly until: Date;
  /** When the new key ends. Undefined: when the old one would have. */
  readonly expiresAt?: Date | undefined;
  readonly maker?: Maker | undefined;
}

/**
 * Makes a key of this text with the settings of `old`. The new key is stored first: if the process dies then, both
 * work, and `retireReplaced` completes it. Undefined when `old` was replaced, revoked or changed meanwhile. Throws
 * `AllPlacesTaken` and `MakerChanged`.
 */
export async function rotateKey(
  db: Db,
  clock: Clock,
  old: KeyDocument,
  { until, expiresAt = old.expiresAt, maker }: Rotation,
  text: KeyText = newKeyText(clock.now().getTime()),
): Promise<KeyDocument | undefined> {
  const settings = { ...old, expiresAt, rotatedFrom: { key: old._id, until }, line: lineOf(old), maker };
  const made = await insertKey(db, clock, settings, text);
  return (await retireReplaced(db, made)) ? made : undefined;
}

/**
 * Ends the key that `made` replaces. Idempotent: completes a rotation whose process died after it had made the new key.
 * False when another key replaces it already, or it was revoked, or what it may do or spend was changed: then `made` is
 * removed, whose text nobody has seen.
 */
export async function retireReplaced(db: Db, made: KeyDocument): Promise<boolean> {
  const { _id, rotatedFrom, caps } = made;
  assert(rotatedFrom !== undefined, 'a key that replaces another names it');
  const asRead = { rotatedTo: ABSENT, status: 'active', ...allowedTo(made), caps: caps ?? ABSENT } as const;
  const { matchedCount } = await keys(db).updateOne(
    { _id: rotatedFrom.key, $or: [{ rotatedTo: _id }, asRead] },
    { $set: { rotatedTo: _id }, $min: { expiresAt: rotatedFrom.until } },
  );
  if (matchedCount === 0) await keys(db).deleteOne({ _id });
  return matchedCount === 1;
}

/** Gateways see it within 4 s. Undefined when the key is no longer as `seen`, so the right may be gone. */
export async function updateKey(
  db: Db,
  seen: KeyDocument,
  { allowedIps, ...change }: KeyChange,
): Promise<KeyDocument | undefined> {
  const everywhere = allowedIps?.length === 0;
  const limited = allowedIps === undefined || everywhere ? {} : { allowedIps };
  return changeSeen(db, seen, [
    { $set: { ...literally({ ...change, ...limited }), ...(everywhere ? { allowedIps: '$$REMOVE' } : {}) } },
  ]);
}

/** Changes a key that still may do what `seen` may. */
async function changeSeen(db: Db, seen: KeyDocument, update: Document[]): Promise<KeyDocument | undefined> {
  const { _id, status, expiresAt } = seen;
  const same = { _id, status, expiresAt: expiresAt ?? ABSENT, ...allowedTo(seen) };
  return (await keys(db).findOneAndUpdate(same, update, { returnDocument: 'after' })) ?? undefined;
}

const ABSENT = { $exists: false } as const;

/** Keys that may do the same while they work. */
function allowedTo({ scopes, perMinute, allowedIps }: KeyDocument): Filter<KeyDocument> {
  return { scopes, perMinute: perMinute ?? ABSENT, allowedIps: allowedIps ?? ABSENT };
}

/** A key of which nothing is left is revoked. Undefined when it was inside `bound` already. */
export async function narrowKey(db: Db, id: string, bound: Bounds): Promise<KeyDocument | undefined> {
  for (;;) {
    const key = await findKey(db, id);
    if (key === undefined || key.status === 'revoked' || excess(boundsOf(key), bound).length === 0) return undefined;
    const left = inside(boundsOf(key), bound);
    if (left === undefined) return revokeKey(db, id);
    const changed = await changeSeen(db, key, [{ $set: literally(left) }]);
    if (changed !== undefined) return changed;
  }
}

/** Sets or removes the caps of all keys of a line. Returns the key as it is then. */
export async function setKeyCaps(
  db: Db,
  { _id, account, line }: KeyDocument,
  caps: KeyDocument['caps'],
): Promise<KeyDocument | undefined> {
  const first = line ?? _id;
  const ofLine = { ...ownedBy(account), $or: [{ _id: first }, { line: first }] };
  const update = caps === undefined ? { $unset: { caps: '' as const } } : { $set: { caps } };
  // A key that replaced one during a pass is found by the next. Afterwards none with other caps replaces one
  // (`retireReplaced`).
  while ((await keys(db).updateMany(ofLine, update)).modifiedCount > 0);
  return findKey(db, _id);
}

/** What the keys of these lines may spend, for lines with caps (money/ledger/spending.ts). */
export async function readCapsOfLines(
  db: Db,
  account: AccountId,
  lines: readonly string[],
): Promise<readonly ({ readonly key: string } & NonNullable<KeyDocument['caps']>)[]> {
  if (lines.length === 0) return [];
  const ofLines = [{ _id: { $in: [...lines] } }, { line: { $in: [...lines] } }];
  const found = await keys(db)
    .find({ account, $or: ofLines, caps: { $exists: true } }, { projection: { line: 1, caps: 1 } })
    .toArray();
  return [...new Map(found.map((key) => [lineOf(key), { key: lineOf(key), ...key.caps }])).values()];
}

/** A name may begin with `$`. */
function literally(change: object): Document {
  const given = Object.entries(change).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, { $literal: value }]));
}

/** For good; gateways refuse it within 4 s. Undefined when there is no such key. Idempotent. */
export async function revokeKey(db: Db, id: string): Promise<KeyDocument | undefined> {
  const revoked: UpdateFilter<KeyDocument> = { $set: { status: 'revoked' }, $unset: { place: '' } };
  return (await keys(db).findOneAndUpdate({ _id: id }, revoked, { returnDocument: 'after' })) ?? undefined;
}

/** Idempotent. */
export async function revokeKeysOf(db: Db, account: AccountId): Promise<void> {
  await keys(db).updateMany({ account, status: 'active' }, { $set: { status: 'revoked' }, $unset: { place: '' } });
}

export async function findOwnKey(db: Db, account: AccountId, id: string): Promise<KeyDocument | undefined> {
  return (await keys(db).findOne({ _id: id, account })) ?? undefined;
}

export const KEY_STATES = ['active', 'expired', 'revoked'] as const;
export type KeyState = (typeof KEY_STATES)[number];

/** Keys of an account, or of operators; newest first, older than `after`. */
export function listKeyPage(
  db: Db,
  account: AccountId | undefined,
  {
    state,
    now,
    after,
  }: { readonly state?: KeyState | undefined; readonly now: Date; readonly after?: string | undefined },
  limit: number,
): Promise<KeyDocument[]> {
  return keys(db)
    .find({
      ...ownedBy(account),
      ...(state === undefined ? {} : ofState(state, now)),
      ...(after === undefined ? {} : { _id: { $lt: after } }),
    })
    .sort({ _id: -1 })
    .limit(limit)
    .toArray();
}

/** Oldest first: at most `LIVE_KEYS_MAX`. */
export async function listLiveKeys(db: Db, account: AccountId | undefined, now: Date): Promise<readonly KeyDocument[]> {
  const placed = await keys(db)
    .find({ ...ownedBy(account), place: { $gte: 0 } })
    .toArray();
  const live = placed.filter(({ expiresAt }) => expiresAt === undefined || expiresAt > now);
  return live.sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime());
}

function ofState(state: KeyState, now: Date): Filter<KeyDocument> {
  if (state === 'revoked') return { status: 'revoked' };
  if (state === 'expired') return { status: 'active', expiresAt: { $lte: now } };
  return { status: 'active', $or: [{ expiresAt: { $exists: false } }, { expiresAt: { $gt: now } }] };
}

export async function newestOfLine(
  db: Db,
  account: AccountId | undefined,
  line: string,
): Promise<KeyDocument | undefined> {
  const newest = { ...ownedBy(account), $or: [{ _id: line }, { line }], rotatedTo: { $exists: false } };
  return (await keys(db).findOne(newest, { sort: { _id: -1 } })) ?? undefined;
}

export async function findKey(db: Db, id: string): Promise<KeyDocument | undefined> {
  return (await keys(db).findOne({ _id: id })) ?? undefined;
}

export async function findKeys(db: Db, ids: readonly string[]): Promise<readonly KeyDocument[]> {
  return keys(db)
    .find({ _id: { $in: ids } })
    .toArray();
}

function keys(db: Db): Collection<KeyDocument> {
  return db.collection('keys');
}
