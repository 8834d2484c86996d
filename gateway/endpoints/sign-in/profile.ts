import { z } from 'zod';
import { changeUser } from '../../../shared/people/users/store.ts';
import { addressOf } from '../../../shared/people/users/user.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import { isConfirmed } from '../../access/session-limits.ts';
import { needsSecondFactor, type SignedIn } from '../../access/sessions.ts';
import { endpoint, refused, type Shown, WithHeaders } from '../../api/endpoint.ts';
import { flag, named, text, whole } from '../../api/shapes.ts';
import { optional, required } from '../../http/fields/field.ts';
import { request } from '../../http/fields/request.ts';
import { isRefused } from '../../http/idempotency/action.ts';
import { confirmPassword } from './confirm.ts';
import { proofsOf, refusalOf } from './factors.ts';
import { currentPassword, email, personName } from './fields.ts';
import { changeOwn, ownOf } from './own.ts';
import { passwordLike, replacePassword } from './own-store.ts';
import { newPassword, refuseCommon } from './passwords.ts';
import { accountRecord, Role, Session, SessionAccount, sessionRecord } from './session.ts';

/** The user who has signed in: name and password. */

const Time = text(undefined, { format: 'date-time', example: '2026-11-22T10:00:00+00:00' });

const SecondFactor = z
  .strictObject({ since: Time })
  .nullable()
  .meta({ id: 'SecondFactor', description: 'The authenticator app. Null: none is set up.' });

const Profile = named('Profile', {
  user_id: text(undefined, { example: 'usr_01m7znjn7hdb5pft3awkb6pgvz' }),
  username: text('What you sign in with.', { example: 'asha@example.com' }),
  name: text(undefined, { example: 'Asha' }).nullable(),
  email: text('Where mails go: the address that was given, or the sign-in name if it is one. Null: nowhere.', {
    example: 'asha@example.com',
  }).nullable(),
  role: Role,
  account: SessionAccount,
  second_factor: SecondFactor,
  second_factor_required: flag('Whether your role or account needs one.', true),
  recovery_codes_left: whole('Of ten.', { example: 10 }),
  password_changed_at: Time.nullable(),
  last_sign_in_at: Time.nullable(),
  created_at: Time,
});

export const profile = endpoint({
  id: 'profile',
  method: 'get',
  path: '/v2/profile',
  tag: 'Sign-in',
  summary: 'Your own profile',
  description: 'Extension.',
  signedIn: 'whole',
  answer: Profile,
  async handle(gateway, call) {
    const own = await ownOf(gateway, call);
    return isRefused(own) ? own : profileRecord(own);
  },
});

export const changeProfile = endpoint({
  id: 'changeProfile',
  method: 'patch',
  path: '/v2/profile',
  tag: 'Sign-in',
  summary: 'Change your name, or where mails go',
  description:
    'Extension. Owners and operators change roles. Links to set a password go to `email`: it needs the password shown within the last 10 minutes, at sign-in or by `POST /v2/session/confirm`.',
  signedIn: 'whole',
  bodyMax: 'small',
  body: request(
    { name: optional(personName), email: optional(email) },
    [],
    [
      (_given, has, problems) => {
        if (!['name', 'email'].some(has)) problems.add('name', 'missing_field', 'Give `name` or `email`.');
      },
    ],
  ),
  answer: Profile,
  problems: ['confirmation_required'],
  examples: { body: { example: { name: 'Asha' } } },
  async handle(gateway, call) {
    const own = await ownOf(gateway, call);
    if (isRefused(own)) return own;
    const { name, email } = call.body;
    if (email !== undefined && !isConfirmed(own.session, gateway.clock.now())) return refused('confirmation_required');
    const user = await changeOwn(gateway, call, 'user.rename', own.user, () =>
      changeUser(gateway.db, { _id: own.user._id }, { $set: defined({ name, email }) }),
    );
    return user === undefined ? refused('session_ended') : profileRecord({ ...own, user });
  },
});

export const changePassword = endpoint({
  id: 'changePassword',
  method: 'post',
  path: '/v2/profile/password',
  tag: 'Sign-in',
  summary: 'Change your password',
  description:
    'Extension. All other sessions end; this one gets another cookie. Who has an authenticator app must have shown a code within the last 10 minutes: `POST /v2/session/confirm`.',
  signedIn: 'whole',
  bodyMax: 'small',
  body: request({ current_password: required(currentPassword), password: newPassword }),
  answer: Session,
  problems: ['password_wrong', 'confirmation_required', 'sign_in_limited', 'sign_in_busy'],
  examples: {
    body: {
      example: { current_password: 'correct horse battery staple', password: 'staple battery horse correct' },
    },
  },
  async handle(gateway, call) {
    const own = await ownOf(gateway, call);
    if (isRefused(own)) return own;
    const { db, clock, sessions } = gateway;
    const { passwords } = proofsOf(gateway);
    const { current_password: current, password } = call.body;
    const lane = await confirmPassword(gateway, call, own, current);
    if (isRefused(lane)) return lane;
    const common = await refuseCommon(password, [own.user.username, own.user.name]);
    if (common !== undefined) return common;
    const stored = await passwords.hash(lane, password, await passwordLike(db, own.user.username));
    if (stored === undefined) return refusalOf('sign_in_busy');
    const user = await changeOwn(gateway, call, 'user.change-password', own.user, () =>
      replacePassword(db, own.user, stored, clock.now()),
    );
    if (user === undefined) return refused('session_ended');
    const { factor, confirmedAt } = own.session;
    const { session, cookie } = await sessions.renew(call.req, user, { factor, confirmedAt });
    return new WithHeaders(sessionRecord({ ...own, user, session }), sessions.cookie.write(cookie));
  },
});

function profileRecord({ user, account }: SignedIn): Shown<typeof Profile> {
  const { totp, passwordAt, lastSignInAt } = user;
  return {
    user_id: user._id,
    username: user.username,
    name: user.name ?? null,
    email: addressOf(user) ?? null,
    role: user.role,
    account: accountRecord(account),
    second_factor: totp === undefined ? null : { since: isoTimestamp(totp.since) },
    second_factor_required: needsSecondFactor(user, account),
    recovery_codes_left: user.recoveryCodes?.length ?? 0,
    password_changed_at: passwordAt === undefined ? null : isoTimestamp(passwordAt),
    last_sign_in_at: lastSignInAt === undefined ? null : isoTimestamp(lastSignInAt),
    created_at: isoTimestamp(user.createdAt),
  };
}
