import type { Request } from 'express';
import { auditedUser } from '../../../shared/people/users/audited-user.ts';
import { findUser } from '../../../shared/people/users/store.ts';
import type { UserDocument } from '../../../shared/people/users/user.ts';
import type { Sessions, SignedIn } from '../../access/sessions.ts';
import { sendProblem } from '../../http/answer.ts';
import { changeAudited } from '../../http/audited.ts';
import { type Reply, requesterOf } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import type { ConfirmPassword, MayTry } from '../sign-in/confirm.ts';
import type { Passwords } from '../sign-in/passwords.ts';

export type ProfileDeps = Pick<GatewayDeps, 'db' | 'clock' | 'config' | 'box'>;

export interface ProfileParts {
  readonly sessions: Sessions;
  readonly passwords: Passwords;
  readonly confirmPassword: ConfirmPassword;
  readonly mayTry: MayTry;
}

/** Who has signed in, read once more; otherwise the answer is sent. */
export async function ownOf(req: Request, res: Reply, sessions: Sessions): Promise<SignedIn | undefined> {
  const found = await sessions.find(req);
  if (typeof found !== 'string') return found;
  sendProblem(res, 'session_ended');
  return undefined;
}

/** Makes a change of the user's own document and records it in the audit. Undefined when it was not made. */
export function changeOwn(
  deps: ProfileDeps,
  res: Reply,
  action: string,
  user: UserDocument,
  make: () => Promise<UserDocument | undefined>,
): Promise<UserDocument | undefined> {
  return changeAudited(deps, requesterOf(res), {
    action,
    subject: { kind: 'user', id: user.username },
    read: async () => auditedUser(await findUser(deps.db, user._id)),
    make,
    madeOf: (made) => auditedUser(made ?? user) ?? {},
    isRefusal: () => false,
  });
}
