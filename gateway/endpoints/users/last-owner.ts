import type { Db } from 'mongodb';
import { changeUser, hasOtherOwner } from '../../../shared/people/users/store.ts';
import type { UserDocument } from '../../../shared/people/users/user.ts';

/** The account would have no owner left. The change was not made, or is taken back. */
export class LastOwner extends Error {}

/**
 * Makes a change of role or status after which the user is no owner any more, or cannot sign in. Throws `LastOwner` when the
 * account would have no owner left. Two owners who do that to each other at the same moment write first and look then: at least
 * one of them finds nobody, and takes the change back. Sessions and a link that ended with it stay over.
 */
export async function keepingAnOwner<T>(db: Db, user: UserDocument, make: () => Promise<T>): Promise<T> {
  const { _id, account, role, status } = user;
  if (account === undefined || role !== 'owner' || status !== 'active') return make();
  if (!(await hasOtherOwner(db, account, _id))) throw new LastOwner();
  const made = await make();
  if (await hasOtherOwner(db, account, _id)) return made;
  await changeUser(db, { _id }, { $set: { role, status } });
  throw new LastOwner();
}

/** For the `catch` of a change: undefined when it was refused. */
export function unlessLastOwner(error: unknown): undefined {
  if (!(error instanceof LastOwner)) throw error;
}
