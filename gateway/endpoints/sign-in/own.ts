import { findUser } from '../../../shared/people/users/store.ts';
import { auditedUser, type UserDocument } from '../../../shared/people/users/user.ts';
import type { SignedIn } from '../../access/sessions.ts';
import { type Call, type Gateway, refused } from '../../api/endpoint.ts';
import { changeAudited } from '../../http/audited.ts';
import type { Refused } from '../../http/idempotency/action.ts';

/** What is read of a request of somebody who has signed in. */
export type Asked = Pick<Call, 'req' | 'requester' | 'told'>;

/** Who has signed in, read once more: the session may have ended since the request was let in. */
export async function ownOf({ sessions }: Gateway, { req }: Asked): Promise<SignedIn | Refused> {
  const found = await sessions.find(req);
  return typeof found === 'string' ? refused('session_ended') : found;
}

/** Makes a change of the user's own document and records it in the audit. Undefined when it was not made. */
export function changeOwn(
  gateway: Gateway,
  { requester }: Asked,
  action: string,
  user: UserDocument,
  make: () => Promise<UserDocument | undefined>,
): Promise<UserDocument | undefined> {
  return changeAudited(gateway, requester, {
    action,
    subject: { kind: 'user', id: user.username },
    read: async () => auditedUser(await findUser(gateway.db, user._id)),
    make,
    madeOf: (made) => auditedUser(made ?? user) ?? {},
    isRefusal: () => false,
  });
}
