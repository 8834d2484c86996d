import type { Db } from 'mongodb';
import { boundsOf, excess } from '../../../shared/people/keys/bounds.ts';
import { type KeyDocument, lineOf } from '../../../shared/people/keys/key.ts';
import { listLiveKeys, newestOfLine } from '../../../shared/people/keys/store.ts';
import type { Clock } from '../../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';

/** The keys that work and that this key made, or the ones that it replaced, and the keys that those made. Oldest first. */
export async function descendantsOf(db: Db, key: KeyDocument, now: Date): Promise<readonly KeyDocument[]> {
  const live = await listLiveKeys(db, key.account, now);
  return live.filter((one) => (one.makers ?? []).includes(lineOf(key)) && !isOrWasReplaced(one, key));
}

/** Whether it is the key, or one that the key replaced, as far as the ids tell: a later key has a greater one. */
function isOrWasReplaced(one: KeyDocument, key: KeyDocument): boolean {
  return lineOf(one) === lineOf(key) && one._id <= key._id;
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
 * Calls `narrow` for each key that this one made, directly or not, until all are inside it: one that is not narrowed yet may make
 * another meanwhile. Returns the keys, as they were.
 */
export async function narrowDescendants(
  db: Db,
  key: KeyDocument,
  clock: Clock,
  narrow: (made: KeyDocument) => Promise<unknown>,
): Promise<readonly KeyDocument[]> {
  const found = () => descendantsOf(db, key, clock.now());
  const made = new Map((await found()).map((one) => [one._id, one]));
  const isOutside = (one: KeyDocument) => excess(boundsOf(one), boundsOf(key)).length > 0;
  for (let outside = [...made.values()].filter(isOutside); outside.length > 0; ) {
    for (const one of outside) await narrow(one);
    outside = (await found()).filter(isOutside);
    for (const one of outside) made.set(one._id, one);
  }
  return [...made.values()];
}

/**
 * The key that made this one, or the newest that has replaced it. Undefined: a user or ops made it. A key that replaced itself is in
 * the place of the old one, so the maker of that one is its maker.
 */
export async function makerKey(db: Db, key: KeyDocument): Promise<KeyDocument | undefined> {
  const maker = key.makers?.find((id) => id !== lineOf(key));
  return maker === undefined ? undefined : newestOfLine(db, key.account, maker);
}
