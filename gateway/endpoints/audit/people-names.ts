import type { Db } from 'mongodb';
import { findKeys } from '../../../shared/people/keys/store.ts';
import type { UserDocument } from '../../../shared/people/users/user.ts';

/** How keys and users are called, by `key …` and `user usr_…`, as statement and audit name who acted. Two reads at most. */
export async function peopleNames(db: Db, people: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const of = (kind: string) => [
    ...new Set(people.filter((who) => who.startsWith(kind)).map((who) => who.slice(kind.length))),
  ];
  const [keys, users] = [of('key '), of('user ')];
  const [foundKeys, foundUsers] = await Promise.all([
    keys.length === 0 ? [] : findKeys(db, keys),
    users.length === 0
      ? []
      : db
          .collection<UserDocument>('users')
          .find(
            { _id: { $in: users as UserDocument['_id'][] } } /* as they were noted */,
            { projection: { name: 1, username: 1 } },
          )
          .toArray(),
  ]);
  return new Map([
    ...foundKeys.map(({ _id, name }) => [`key ${_id}`, name] as const),
    ...foundUsers.map(({ _id, name, username }) => [`user ${_id}`, name ?? username] as const),
  ]);
}
