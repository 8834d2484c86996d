import type { Collection, Db, Filter, UpdateFilter } from 'mongodb';
import { isDuplicateKey } from '../../platform/mongo/errors.ts';
import { takePlace } from '../../platform/mongo/places.ts';
import type { Act } from '../../platform/runtime/act.ts';
import { isoTimestamp } from '../../platform/runtime/clock.ts';
import { type AccountId, newId, type SessionId, type UserId } from '../../platform/runtime/ids.ts';
import type { SecretBox } from '../../platform/runtime/secret-box.ts';
import { ownedBy } from '../erasure.ts';
import {
  type AccountRole,
  addressOf,
  isOperatorRole,
  newLink,
  type OneTimeLink,
  OPERATORS,
  type OperatorRole,
  type Role,
  type SessionDocument,
  USERS_PER_ACCOUNT,
  type UserDocument,
  whereOf,
} from './user.ts';

/** A user of the account, or another operator, signs in with that name already. */
export class UsernameTaken extends Error {}

/** Without an account: an operator. */
export type Invited = Pick<UserDocument, 'username' | 'name' | 'email'> &
  (
    | { readonly account: UserDocument['account'] & string; readonly role: AccountRole }
    | { readonly role: OperatorRole }
  );

/** `box`: the link to set the password is mailed, if possible. Throws `UsernameTaken`, `AllPlacesTaken`. */
export async function inviteUser(
  db: Db,
  now: Date,
  invited: Invited,
  id: UserId = newId('usr', now.getTime()),
  box?: SecretBox,
): Promise<{ readonly user: UserDocument; readonly token: string }> {
  const { token, link } = newLink({}, now);
  const of = 'account' in invited ? invited.account : undefined;
  const places = { db, collection: 'users', owner: ownedBy(of), most: USERS_PER_ACCOUNT };
  try {
    const user = await takePlace(places, async (place) => {
      const { username, role } = invited;
      const told = { user_id: id, username, role };
      const made: UserDocument = {
        ...{ _id: id, ...invited, status: 'invited', epoch: 1, link, place, createdAt: now },
        unannounced: [
          { event: 'user.added', at: now, told },
          ...mailedLink({ _id: id, ...invited }, link, token, now, box),
        ],
      };
      await users(db).insertOne(made);
      return made;
    });
    return { user, token };
  } catch (error) {
    if (isDuplicateKey(error)) throw new UsernameTaken(`somebody signs in as ${invited.username}`);
    throw error;
  }
}

/** The link to be mailed, as an act of the user's document. Only the mail will have its token. */
function mailedLink(
  user: Pick<UserDocument, '_id' | 'username' | 'email'>,
  { purpose, expiresAt }: OneTimeLink,
  token: string,
  now: Date,
  box: SecretBox | undefined,
): readonly Act[] {
  if (box === undefined || addressOf(user) === undefined) return [];
  const sealed = box.seal(token, ['users', user._id, 'unannounced.sealed']);
  const told = { purpose, expires_at: isoTimestamp(expiresAt), username: user.username };
  return [{ event: 'link', at: now, told, sealed }];
}

/** Earlier links no longer work. `box`: mailed too, if possible. Undefined: the user is gone or disabled. */
export async function makeLink(
  db: Db,
  now: Date,
  user: UserDocument,
  box?: SecretBox,
): Promise<{ readonly user: UserDocument; readonly token: string } | undefined> {
  const { token, link } = newLink(user, now);
  const acts = mailedLink(user, link, token, now, box);
  const update = { $set: { link }, ...(acts.length > 0 && { $push: { unannounced: { $each: [...acts] } } }) };
  const changed = await changeUser(db, { _id: user._id, status: { $ne: 'disabled' } }, update);
  return changed && { user: changed, token };
}

export async function findUser(db: Db, id: UserId): Promise<UserDocument | undefined> {
  return (await users(db).findOne({ _id: id })) ?? undefined;
}

/** Users of this name who are looked at when nobody says of which account: the oldest. */
const SAME_NAME_MAX = 20;

/** By canonical name: of all accounts and the operators, or of one (or `operators`). Oldest first. */
export function findUsersByName(db: Db, username: string, where?: string): Promise<UserDocument[]> {
  // Only compared with.
  const of = where === undefined ? {} : ownedBy(where === OPERATORS ? undefined : (where as AccountId));
  return users(db)
    .find({ username, ...of })
    .sort({ _id: 1 })
    .limit(SAME_NAME_MAX)
    .toArray();
}

/** Where somebody has signed in from this network before: one of these users' accounts, or `operators`. */
export async function knownAt(
  db: Db,
  network: string,
  of: readonly Pick<UserDocument, 'account'>[],
): Promise<string | undefined> {
  // Operators have no account: null finds them. A name that nobody has takes as long.
  const accounts = of.length === 0 ? ['nobody'] : of.map(({ account }) => account ?? null);
  const found = await db
    .collection<{ readonly account?: AccountId | null }>('users')
    .findOne({ account: { $in: accounts as AccountId[] }, networks: network }, { projection: { account: 1 } });
  return found === null ? undefined : whereOf({ ...(found.account && { account: found.account }) });
}

export async function findUserByLink(db: Db, hash: string, now: Date): Promise<UserDocument | undefined> {
  const valid = { 'link.hash': hash, 'link.expiresAt': { $gt: now }, status: { $ne: 'disabled' as const } };
  return (await users(db).findOne(valid)) ?? undefined;
}

/** Newest first, after the one named. `undefined`: the operators. */
export function listUsers(
  db: Db,
  account: AccountId | undefined,
  { after, limit = USERS_PER_ACCOUNT }: { readonly after?: UserId | undefined; readonly limit?: number } = {},
): Promise<readonly UserDocument[]> {
  const filter = { ...ownedBy(account), ...(after && { _id: { $lt: after } }) };
  return users(db).find(filter).sort({ _id: -1 }).limit(limit).toArray();
}

export function countUsers(db: Db, account: AccountId): Promise<number> {
  return users(db).countDocuments({ account });
}

/** A role of an account, or of operators, as before. Takes effect with the user's next request. */
export function setRole(db: Db, id: UserId, role: Role): Promise<UserDocument | undefined> {
  return changeUser(db, { _id: id, account: { $exists: !isOperatorRole(role) } }, { $set: { role } });
}

/** Sessions are over at once, and links stop working. */
export async function disableUser(db: Db, id: UserId): Promise<UserDocument | undefined> {
  const user = await changeUser(
    db,
    { _id: id },
    { $set: { status: 'disabled' }, $unset: { link: '' }, $inc: { epoch: 1 } },
  );
  await endSessions(db, id);
  return user;
}

/** One without a password needs a new link. */
export async function enableUser(db: Db, id: UserId): Promise<UserDocument | undefined> {
  return (
    (await changeUser(db, { _id: id, password: { $exists: true } }, { $set: { status: 'active' } })) ??
    (await changeUser(db, { _id: id, password: { $exists: false } }, { $set: { status: 'invited' } }))
  );
}

/** False when there is no such user. */
export async function removeUser(db: Db, id: UserId): Promise<boolean> {
  const { deletedCount } = await users(db).deleteOne({ _id: id });
  await endSessions(db, id);
  return deletedCount === 1;
}

export async function signOutEverywhere(db: Db, id: UserId): Promise<UserDocument | undefined> {
  const user = await changeUser(db, { _id: id }, { $inc: { epoch: 1 } });
  await endSessions(db, id);
  return user;
}

/** For a user who has lost it; ends the sessions. A role that needs a second factor must set it up again. */
export async function removeSecondFactor(db: Db, id: UserId): Promise<UserDocument | undefined> {
  const user = await changeUser(db, { _id: id }, { $unset: { totp: '', recoveryCodes: '' }, $inc: { epoch: 1 } });
  await endSessions(db, id);
  return user;
}

export async function hasOtherOwner(db: Db, account: AccountId, id: UserId): Promise<boolean> {
  const other = await users(db).findOne({ account, role: 'owner', status: 'active', _id: { $ne: id } });
  return other !== null;
}

/** Changes a user, if the filter still fits: one document decides. */
export async function changeUser(
  db: Db,
  filter: Filter<UserDocument>,
  update: UpdateFilter<UserDocument>,
): Promise<UserDocument | undefined> {
  return (await users(db).findOneAndUpdate(filter, update, { returnDocument: 'after' })) ?? undefined;
}

function users(db: Db): Collection<UserDocument> {
  return db.collection('users');
}

export async function insertSession(db: Db, session: SessionDocument): Promise<void> {
  await sessions(db).insertOne(session);
}

export async function findSession(db: Db, id: SessionId): Promise<SessionDocument | undefined> {
  return (await sessions(db).findOne({ _id: id })) ?? undefined;
}

/** Never brings back a session that has ended meanwhile. */
export async function touchSession(db: Db, id: SessionId, seenAt: Date): Promise<void> {
  await sessions(db).updateOne({ _id: id }, { $max: { seenAt } });
}

export async function confirmSession(db: Db, id: SessionId, confirmedAt: Date): Promise<void> {
  await sessions(db).updateOne({ _id: id }, { $max: { confirmedAt } });
}

/** Newest first. Some may be over already: see `isOver`. */
export async function listSessions(db: Db, user: UserId): Promise<readonly SessionDocument[]> {
  const found = await sessions(db).find({ user }).toArray();
  return found.sort((a, b) => b.madeAt.getTime() - a.madeAt.getTime());
}

export async function endSession(db: Db, user: UserId, id: SessionId): Promise<boolean> {
  const { deletedCount } = await sessions(db).deleteOne({ _id: id, user });
  return deletedCount === 1;
}

export async function endOldestSessions(db: Db, user: UserId, most: number): Promise<void> {
  const kept = await sessions(db)
    .find({ user }, { projection: { _id: 1 } })
    .sort({ _id: -1 })
    .limit(most)
    .toArray();
  const oldest = kept.at(most - 1);
  if (oldest !== undefined) await sessions(db).deleteMany({ user, _id: { $lt: oldest._id } });
}

/** Except `kept`. Returns how many. */
export async function endSessions(db: Db, user: UserId, kept?: SessionId): Promise<number> {
  const { deletedCount } = await sessions(db).deleteMany({ user, ...(kept && { _id: { $ne: kept } }) });
  return deletedCount;
}

function sessions(db: Db): Collection<SessionDocument> {
  return db.collection('sessions');
}
