import { auditedUser } from '../../../shared/people/users/audited-user.ts';
import { linkUrl } from '../../../shared/people/users/link.ts';
import { findUser, inviteUser, makeLink, UsernameTaken } from '../../../shared/people/users/store.ts';
import { ACCOUNT_ROLES, canonicalUsername, type UserDocument } from '../../../shared/people/users/user.ts';
import { AllPlacesTaken } from '../../../shared/platform/mongo/places.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { newId, type UserId } from '../../../shared/platform/runtime/ids.ts';
import { changeAudited } from '../../http/audited.ts';
import { bodyOf, callerOf } from '../../http/context.ts';
import { invalidRequest } from '../../http/field-problems.ts';
import { choice, Fault, optional, required, string } from '../../http/fields/field.ts';
import { readRequest, request, whole } from '../../http/fields/request.ts';
import type { Accepted, Action } from '../../http/idempotency/action.ts';
import { refusedLate } from '../../http/idempotency/refused-late.ts';
import { personName } from '../sign-in/person-name.ts';
import { userRecord } from './record.ts';
import type { UsersDeps } from './users.ts';

export const ROLE_ABOUT = 'viewer reads, sender also sends, developer also changes settings, owner also manages users.';

export const INVITE_USER = request({
  username: required(
    string(
      {
        description: 'What the user signs in with: an e-mail address, or a name. Case makes no difference.',
        minLength: 3,
        maxLength: 254,
      },
      (text) =>
        canonicalUsername(text) ??
        new Fault('invalid_value', 'It must have 3 to 254 letters, digits and the signs . _ % + - @.'),
    ),
  ),
  role: required(choice(ACCOUNT_ROLES, ROLE_ABOUT)),
  name: optional(personName),
});

/** POST /v2/account/users (extension): a new user, with the link to set a password. It is shown only here. */
export function createInvite({ db, clock, config }: UsersDeps): Action<UserId> {
  return {
    name: 'invite-user',
    newId: () => newId('usr', clock.now().getTime()),
    async act(res, { id, payBy }) {
      const read = await readRequest(INVITE_USER, bodyOf(res), { account: {}, now: clock.now(), config });
      if (read.problems.count > 0) return { kind: 'refused', problem: invalidRequest(read.problems) };
      const late = refusedLate(clock, payBy);
      if (late !== undefined) return late;
      const caller = callerOf(res);
      try {
        const made = await changeAudited({ db, clock, config }, caller, {
          action: 'user.invite',
          subject: { kind: 'user', id: whole(read).username },
          apart: whole(read).role,
          read: async () => undefined,
          make: () => inviteUser(db, clock.now(), { ...whole(read), account: caller.account._id }, id),
          madeOf: ({ user }) => auditedUser(user) ?? {},
          isRefusal: (error) => notInvited(error) !== undefined,
        });
        return withLink(config, made);
      } catch (error) {
        const refusal = notInvited(error);
        if (refusal === undefined) throw error;
        return { kind: 'refused', problem: [refusal, {}] };
      }
    },
    /** The link is stored nowhere, so the answer has a new one. */
    async recover(_account, id) {
      const user = await findUser(db, id);
      const made = user && (await makeLink(db, clock.now(), user));
      return made && withLink(config, made);
    },
  };
}

/** Why nobody was invited, if that is what the error says. */
export function notInvited(error: unknown): 'username_taken' | 'too_many_users' | undefined {
  if (error instanceof UsernameTaken) return 'username_taken';
  return error instanceof AllPlacesTaken ? 'too_many_users' : undefined;
}

function withLink(
  config: UsersDeps['config'],
  { user, token }: { readonly user: UserDocument; readonly token: string },
): Accepted {
  return { kind: 'accepted', sealed: true, body: { ...userRecord(user), ...linkMembers(config, user, token) } };
}

/** Who may sign in once with which address, and until when. */
export function linkMembers(config: UsersDeps['config'], { link }: UserDocument, token: string): object {
  return {
    link: linkUrl(config, token),
    purpose: link?.purpose,
    link_expires_at: link && isoTimestamp(link.expiresAt),
  };
}
