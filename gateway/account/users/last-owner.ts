import type { Db } from 'mongodb';
import { hasOtherOwner, restoreUser } from '../../../shared/users/store.ts';
import type { UserDocument } from '../../../shared/users/user.ts';

/**
 * Makes a change after which the user is no owner any more, or cannot sign in. Undefined when it was not made, because the
 * account would have no owner left. Two owners who remove each other at the same moment write first and look then: at least one
 * of them finds nobody, and takes the change back.
 */
export async function keepingAnOwner<T>(db: Db, user: UserDocument, make: () => Promise<T>): Promise<T | undefined> {
  const { account, role, status } = user;
  if (account === undefined || role !== 'owner' || status !== 'active') return make();
  if (!(await hasOtherOwner(db, account, user._id))) return undefined;
  const made = await make();
  if (await hasOtherOwner(db, account, user._id)) return made;
  await restoreUser(db, user);
  return undefined;
}
