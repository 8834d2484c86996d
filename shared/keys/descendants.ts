import type { Db } from 'mongodb';
import type { AccountId } from '../runtime/ids.ts';
import { type KeyDocument, MAKERS_MAX } from './key.ts';
import { findKey, listLiveKeys } from './store.ts';

/** The keys that work and that this key made, or the ones that it replaced, and the keys that those made. Oldest first. */
export async function descendantsOf(db: Db, key: KeyDocument, now: Date): Promise<readonly KeyDocument[]> {
  const line = await lineOf(db, key);
  const live = await listLiveKeys(db, key.account, now);
  return live.filter(({ _id, makers = [] }) => !line.has(_id) && makers.some((maker) => line.has(maker)));
}

/** The keys that work and that a user made, and the keys that those made. Oldest first. */
export async function keysOfUser(
  db: Db,
  { account, user }: { readonly account: AccountId; readonly user: string },
  now: Date,
): Promise<readonly KeyDocument[]> {
  const live = await listLiveKeys(db, account, now);
  return live.filter(({ makers = [] }) => makers.includes(user));
}

/**
 * Revokes what `find` finds until it finds nothing: one of the keys may make another meanwhile. Returns the keys, as they were.
 */
export async function revokeEach(
  find: () => Promise<readonly KeyDocument[]>,
  revoke: (key: KeyDocument) => Promise<unknown>,
): Promise<readonly KeyDocument[]> {
  const done: KeyDocument[] = [];
  for (let found = await find(); found.length > 0; found = await find()) {
    for (const key of found) await revoke(key);
    done.push(...found);
  }
  return done;
}

/**
 * The key that made this one, or the newest that has replaced it. Undefined: a user or ops made it. A key that replaced itself is in
 * the place of the old one, so the maker of that one is its maker.
 */
export async function makerKey(db: Db, key: KeyDocument): Promise<KeyDocument | undefined> {
  let made = key;
  for (let i = 0; i < MAKERS_MAX; i++) {
    const maker = made.createdBy?.kind === 'key' ? await findKey(db, made.createdBy.id) : undefined;
    if (maker === undefined || maker.rotatedTo !== made._id) return maker && newestOf(db, maker);
    made = maker;
  }
  return undefined;
}

async function newestOf(db: Db, key: KeyDocument): Promise<KeyDocument> {
  let newest = key;
  for (let i = 0; i < MAKERS_MAX && newest.rotatedTo !== undefined; i++) {
    newest = (await findKey(db, newest.rotatedTo)) ?? newest;
  }
  return newest;
}

/** The ids of the key and of those that it replaced, one after the other. */
async function lineOf(db: Db, key: KeyDocument): Promise<ReadonlySet<string>> {
  const line = new Set([key._id]);
  let old = key.rotatedFrom?.key;
  while (old !== undefined && line.size < MAKERS_MAX) {
    line.add(old);
    old = (await findKey(db, old))?.rotatedFrom?.key;
  }
  return line;
}
