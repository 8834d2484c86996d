import type { Request } from 'express';
import type { Db } from 'mongodb';
import { isUserId } from '../../../shared/runtime/ids.ts';
import { auditedUser } from '../../../shared/users/audited-user.ts';
import { findUser } from '../../../shared/users/store.ts';
import { type UserDocument, whereOf } from '../../../shared/users/user.ts';
import { type Deps, userRecord } from '../../endpoints/users/users.ts';
import { changeAudited } from '../../http/audited.ts';
import { type Reply, requesterOf } from '../../http/context.ts';

/** The user that the path names: of any account, or an operator. */
export async function userInPath(db: Db, { params }: Request): Promise<UserDocument | undefined> {
  const { user_id: id } = params;
  return typeof id === 'string' && isUserId(id) ? findUser(db, id) : undefined;
}

/** Makes a change of a user and records it in the audit of the user's account. Undefined when it was not made. */
export function changeUserAudited(
  deps: Deps,
  res: Reply,
  { action, user }: { readonly action: string; readonly user: UserDocument },
  make: () => Promise<UserDocument | undefined>,
): Promise<UserDocument | undefined> {
  return changeAudited(deps, requesterOf(res), {
    action,
    subject: { kind: 'user', id: user.username },
    ...(user.account && { account: user.account }),
    // Several accounts may have a user of that name.
    apart: whereOf(user),
    read: async () => auditedUser(user),
    make,
    madeOf: auditedUser,
    isRefusal: () => false,
  });
}

/** A user as operators see one. */
export function anyUserRecord(user: UserDocument): object {
  return { ...userRecord(user), role: user.role, account_id: user.account ?? null };
}
