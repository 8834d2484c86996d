import { z } from 'zod';
import { NOTICE_NAMES, NOTICES } from '../../../shared/events/catalogue.ts';
import { getsNotice, noticesFor, wishesOf } from '../../../shared/events/notices.ts';
import { changeUser, endSession, endSessions, listSessions } from '../../../shared/people/users/store.ts';
import { addressOf, type SessionDocument, type UserDocument } from '../../../shared/people/users/user.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import { isSessionId } from '../../../shared/platform/runtime/ids.ts';
import { isConfirmed, isOver, needsSecondFactor } from '../../access/sessions.ts';
import { done, endpoint, refused, type Shown, WithHeaders } from '../../api/endpoint.ts';
import { flag, named, pageShape, success, text, whole } from '../../api/shapes.ts';
import type { SignedIn } from '../../http/context.ts';
import { choice, list, optional, required } from '../../http/fields/field.ts';
import { pageOf } from '../../http/fields/query.ts';
import { request } from '../../http/fields/request.ts';
import { isRefused } from '../../http/idempotency/action.ts';
import { changeOwn, confirmPassword, ownOf } from './confirm.ts';
import { proofsOf, refusalOf } from './factors.ts';
import { currentPassword, email, personName } from './fields.ts';
import { passwordLike, replacePassword } from './own-store.ts';
import { newPassword, refuseCommon } from './passwords.ts';
import { accountRecord, Role, Session, SessionAccount, sessionRecord } from './session.ts';

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
  async handle(_gateway, call) {
    const own = ownOf(call);
    return profileRecord(own);
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
    const own = ownOf(call);
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
    const own = ownOf(call);
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

const SessionTime = text(undefined, { format: 'date-time', example: '2026-11-22T10:00:00+00:00' });

const OwnSession = named('OwnSession', 'A browser in which the user is signed in.', {
  session_id: text(undefined, { example: 'ses_01m7znjn7hdb5pft3awkb6pgvz' }),
  current: flag('Whether it is the session of this request.', true),
  made_at: SessionTime,
  seen_at: SessionTime.describe('The last request, to the minute.'),
  address: text('Where it began.', { example: '203.0.113.7' }),
  agent: text('The browser, as it named itself.', { example: 'Mozilla/5.0' }).nullable(),
  second_factor: text('`totp` or `recovery_code`; null when the password alone was enough.', {
    example: 'totp',
  }).nullable(),
  expires_at: SessionTime,
});

const SessionsEnded = success('SessionsEnded', {
  ended: whole('How many.', { example: 2 }),
  message: text(undefined, { example: 'All other sessions have ended.' }),
});

export const ownSessions = endpoint({
  id: 'ownSessions',
  method: 'get',
  path: '/v2/profile/sessions',
  tag: 'Sign-in',
  summary: 'Where you are signed in',
  description: 'Extension. Newest first, all on one page.',
  signedIn: 'whole',
  answer: pageShape('OwnSessionPage', OwnSession),
  async handle(gateway, call) {
    const own = ownOf(call);
    const all = await listSessions(gateway.db, own.user._id);
    const alive = all.filter((session) => !isOver(session, own.user, gateway.clock.now()));
    const data = alive.map((session) => ownSessionRecord(session, session._id === own.session._id));
    return pageOf('sessions', data, undefined);
  },
});

export const endOtherSessions = endpoint({
  id: 'endOtherSessions',
  method: 'delete',
  path: '/v2/profile/sessions',
  tag: 'Sign-in',
  summary: 'End all other sessions',
  description: 'Extension.',
  signedIn: 'whole',
  answer: SessionsEnded,
  async handle(gateway, call) {
    const own = ownOf(call);
    const ended = await endSessions(gateway.db, own.user._id, own.session._id);
    return done({ ended, message: 'All other sessions have ended.' });
  },
});

export const endOwnSession = endpoint({
  id: 'endOwnSession',
  method: 'delete',
  path: '/v2/profile/sessions/{session_id}',
  tag: 'Sign-in',
  summary: 'End one session',
  description: 'Extension.',
  signedIn: 'whole',
  params: {
    session_id: text('Id of the session, from the list.', {
      pattern: '^ses_[0-9a-hjkmnp-tv-z]{26}$',
      example: 'ses_01m7znjn7hdb5pft3awkb6pgvz',
    }),
  },
  answer: SessionsEnded,
  problems: ['session_not_found'],
  examples: { answer: { example: { status: 'success', ended: 1, message: 'The session has ended.' } } },
  async handle(gateway, call) {
    const own = ownOf(call);
    const { session_id: id } = call.params;
    const ended = isSessionId(id) && (await endSession(gateway.db, own.user._id, id));
    return ended ? done({ ended: 1, message: 'The session has ended.' }) : refused('session_not_found');
  },
});

function ownSessionRecord(session: SessionDocument, current: boolean): Shown<typeof OwnSession> {
  return {
    session_id: session._id,
    current,
    made_at: isoTimestamp(session.madeAt),
    seen_at: isoTimestamp(session.seenAt),
    address: session.address,
    agent: session.agent ?? null,
    second_factor: session.factor ?? null,
    expires_at: isoTimestamp(session.expiresAt),
  };
}

const Notice = named('Notice', 'A kind of mail that the user may choose.', {
  event: z.enum(NOTICE_NAMES).meta({ example: 'key.created' }),
  when: text('When it happens.', { example: 'An API key was made.' }),
  mail: flag('Whether you are told of it.', true),
  usual: flag('Whether somebody of your role is told, unless they say otherwise.', true),
});

const NoticeChoices = named('NoticeChoices', {
  email: text('Where mails go. Null: you have given no address, so none is sent.', {
    example: 'asha@example.com',
  }).nullable(),
  data: z.array(Notice).meta({ description: 'What somebody of your role may be told of.' }),
});

export const ownNotices = endpoint({
  id: 'notices',
  method: 'get',
  path: '/v2/profile/notices',
  tag: 'Sign-in',
  summary: 'What you are told of by mail',
  description: 'Extension. Of the same thing, nothing is told twice within an hour.',
  signedIn: 'whole',
  answer: NoticeChoices,
  async handle(_gateway, call) {
    const own = ownOf(call);
    return choicesOf(own.user);
  },
});

export const chooseNotices = endpoint({
  id: 'chooseNotices',
  method: 'put',
  path: '/v2/profile/notices',
  tag: 'Sign-in',
  summary: 'Choose what you are told of by mail',
  description: 'Extension. These, and no others. What your role may not be told of is left out.',
  signedIn: 'whole',
  bodyMax: 'small',
  body: request({
    mail: required(list(choice(NOTICE_NAMES), { description: 'What you want to be told of.', minItems: 0 })),
  }),
  answer: NoticeChoices,
  examples: { body: { example: { mail: ['key.created', 'webhook.disabled'] } } },
  async handle(gateway, call) {
    const own = ownOf(call);
    const notices = wishesOf(own.user.role, [...new Set(call.body.mail)]);
    const user = await changeOwn(gateway, call, 'user.choose-notices', own.user, () =>
      changeUser(gateway.db, { _id: own.user._id }, { $set: { notices } }),
    );
    return user === undefined ? refused('session_ended') : choicesOf(user);
  },
});

function choicesOf(user: UserDocument): Shown<typeof NoticeChoices> {
  const data = noticesFor(user).map((event) => ({
    event,
    when: NOTICES[event].when,
    mail: getsNotice(user, event),
    usual: getsNotice({ role: user.role }, event),
  }));
  return { email: addressOf(user) ?? null, data };
}
