import assert from 'node:assert/strict';
import type { Db } from 'mongodb';
import { z } from 'zod';
import { findAccount, updateAccount } from '../../../shared/money/accounts/store.ts';
import { findUser, inviteUser, listUsers, makeLink, UsernameTaken } from '../../../shared/people/users/store.ts';
import {
  ACCOUNT_ROLES,
  type AccountRole,
  addressOf,
  auditedUser,
  canonicalUsername,
  linkUrl,
  type UserDocument,
  whereOf,
} from '../../../shared/people/users/user.ts';
import { AllPlacesTaken } from '../../../shared/platform/mongo/places.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { type AccountId, isUserId, newId, type UserId } from '../../../shared/platform/runtime/ids.ts';
import { endpoint, refused, type Shown } from '../../api/endpoint.ts';
import { flag, named, pageShape, text } from '../../api/shapes.ts';
import { changeAudited } from '../../http/audited.ts';
import type { Requester } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { choice, Fault, optional, required, string } from '../../http/fields/field.ts';
import { cursorOf, limit, pageOfFound, readsPer } from '../../http/fields/query.ts';
import { request } from '../../http/fields/request.ts';
import { type Accepted, type Refused, refusedLate } from '../../http/idempotency/action.ts';
import { MadeKey } from '../keys/made-keys.ts';
import { email, personName } from '../sign-in/fields.ts';

/** Who may sign in to an account, and as what. Changes of users: change-user.ts. */

export type Deps = Pick<GatewayDeps, 'db' | 'clock' | 'config' | 'box'>;

export const UserIdText = text(undefined, { example: 'usr_01m7znjn7hdb5pft3awkb6pgvz' });
const Time = text(undefined, { format: 'date-time', example: '2026-11-22T10:00:00+00:00' });

const COMMON = {
  user_id: UserIdText,
  username: text('What the user signs in with.', { example: 'ravi@example.com' }),
  name: text(undefined, { example: 'Ravi' }).nullable(),
  email: text('Where mails go: the address that was given, or the sign-in name if it is one. Null: nowhere.', {
    example: 'ravi@example.com',
  }).nullable(),
  role: z.enum(ACCOUNT_ROLES).meta({ example: 'developer' }),
  status: z.enum(['invited', 'active', 'disabled']).meta({ description: 'invited: has set no password yet.' }),
  second_factor: flag('Whether an authenticator app is set up.'),
  last_sign_in_at: text(undefined, { format: 'date-time' }).nullable(),
  link_expires_at: Time.describe('Until when the link that was made last can be used; null when none can.').nullable(),
  created_at: Time,
};

export const LeftKeysShape = z
  .array(MadeKey)
  .meta({
    description:
      'Only where a change takes the right to make keys from a user who made some: those keys, revoked or kept.',
  })
  .optional();

export const User = named('User', { ...COMMON, keys: LeftKeysShape });

export const UserLink = named('UserLink', {
  ...COMMON,
  link: text('Give it to the user; whoever has it can set the password. It is shown only here and works once.', {
    example: 'https://sms.example.com/dashboard/link#q1Zb0nQ5s6mJ8y3xw2f9dK4tR7uVcAeLpXhGiNoTzBY',
  }),
  purpose: z.enum(['invitation', 'reset']).meta({ description: 'invitation: 7 days. reset: one hour.' }),
  mailed_to: text('Where the link is mailed, too. Null: the user has no address, or no mail server is set up.', {
    example: 'ravi@example.com',
  }).nullable(),
});

export const users = endpoint({
  id: 'users',
  method: 'get',
  path: '/v2/account/users',
  tag: 'Users',
  summary: 'Users of the account',
  description: 'Extension. Newest first. A page counts as one request for each 100 of `limit`.',
  scopes: ['owner', 'admin:look'],
  query: { limit, cursor: cursorOf('users', isUserId) },
  reads: readsPer(100),
  answer: pageShape('UserPage', User),
  async handle({ db }, { caller, query: { limit, cursor } }) {
    const found = await listUsers(db, caller.account._id, { after: cursor, limit: limit + 1 });
    return pageOfFound('users', found, limit, userRecord);
  },
});

export const ROLE = choice(
  ACCOUNT_ROLES,
  'viewer reads, sender also sends, developer also changes settings, owner also manages users.',
);

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
  role: required(ROLE),
  name: optional(personName),
  email: optional(email),
});

export const invite = endpoint({
  id: 'inviteUser',
  method: 'post',
  path: '/v2/account/users',
  tag: 'Users',
  summary: 'Invite a user',
  description:
    'Extension. The answer has a link with which the user sets a password within 7 days. It is mailed too, if the user has an address and a mail server is set up; otherwise send it to the user. An account may have 200 users. No two of them have the same sign-in name; users of other accounts may have it too.',
  scopes: ['owner'],
  confirmed: true,
  body: INVITE_USER,
  answer: UserLink,
  problems: ['too_many_users', 'username_taken'],
  examples: { body: { example: { username: 'ravi@example.com', role: 'developer', name: 'Ravi' } } },
  newId: ({ clock }) => newId('usr', clock.now().getTime()),
  action: (deps) => ({
    async act({ caller, body }, { id, payBy }) {
      const late = refusedLate(deps.clock, payBy);
      if (late !== undefined) return late;
      const made = await inviteAudited(deps, caller, { ...body, account: caller.account._id }, id);
      return 'kind' in made ? made : invited(deps, made.user, made.token);
    },
    /** The link is stored nowhere, so the answer has a new one. */
    async recover(_account, id) {
      const user = await findUser(deps.db, id);
      const made = user && (await makeLink(deps.db, deps.clock.now(), user, deps.box));
      return made && invited(deps, made.user, made.token);
    },
  }),
});

function invited(deps: Deps, user: UserDocument, token: string): Accepted {
  return { kind: 'accepted', sealed: true, body: linkRecord(deps, user, token) };
}

export async function inviteAudited(
  deps: Deps,
  requester: Requester,
  wanted: Parameters<typeof inviteUser>[2] & { readonly account: AccountId },
  id: UserId,
): Promise<Invitation | Refused> {
  const { db, clock, box } = deps;
  const { username, account, role } = wanted;
  try {
    return await changeAudited<Invitation>(deps, requester, {
      action: 'user.invite',
      subject: { kind: 'user', id: username },
      account,
      apart: `${account} ${role}`,
      make: () => inviteUser(db, clock.now(), wanted, id, box),
      madeOf: ({ user }) => auditedUser(user) ?? {},
      isRefusal: isNotInvited,
    });
  } catch (error) {
    if (error instanceof UsernameTaken) return refused('username_taken');
    if (error instanceof AllPlacesTaken) return refused('too_many_users');
    throw error;
  }
}

type Invitation = Awaited<ReturnType<typeof inviteUser>>;

function isNotInvited(error: unknown): boolean {
  return error instanceof UsernameTaken || error instanceof AllPlacesTaken;
}

interface UserChange {
  readonly action: string;
  readonly user: UserDocument;
  /** As for `changeAudited`. */
  readonly apart?: string;
  /** The state after the change, undefined if nothing was changed. Default: the user that `make` returns. */
  madeOf?(made: UserDocument | undefined): object | undefined;
  isRefusal?(error: unknown): boolean;
}

/** Records the change in the audit of the user's account. Resolves as `make` does. */
export function changeUserAudited(
  deps: Pick<Deps, 'db' | 'clock' | 'config'>,
  requester: Requester,
  { user, apart = '', madeOf = auditedUser, ...change }: UserChange,
  make: () => Promise<UserDocument | undefined>,
): Promise<UserDocument | undefined> {
  return changeAudited(deps, requester, {
    ...change,
    subject: { kind: 'user', id: user.username },
    ...(user.account && { account: user.account }),
    // Several accounts may have a user of that name.
    apart: `${whereOf(user)} ${apart}`,
    read: async () => auditedUser(user),
    make,
    madeOf,
  });
}

/** Undefined: the user is disabled. */
export async function newLink(deps: Deps, requester: Requester, user: UserDocument) {
  let token = '';
  const made = await changeUserAudited(deps, requester, { action: 'user.link', user }, async () => {
    const link = await makeLink(deps.db, deps.clock.now(), user, deps.box);
    token = link?.token ?? '';
    return link?.user;
  });
  return made && linkRecord(deps, made, token);
}

export function userRecord(user: UserDocument): Shown<typeof User> {
  const { link, lastSignInAt } = user;
  return {
    user_id: user._id,
    username: user.username,
    name: user.name ?? null,
    email: addressOf(user) ?? null,
    role: user.role as AccountRole, // users of an account have no other
    status: user.status,
    second_factor: user.totp !== undefined,
    last_sign_in_at: lastSignInAt === undefined ? null : isoTimestamp(lastSignInAt),
    link_expires_at: link === undefined ? null : isoTimestamp(link.expiresAt),
    created_at: isoTimestamp(user.createdAt),
  };
}

/** Whoever has the link may sign in once, until it expires. */
export function linkRecord(
  { config }: Pick<Deps, 'config'>,
  user: UserDocument,
  token: string,
): Shown<typeof UserLink> {
  const { link } = user;
  assert(link !== undefined, 'no link was made');
  const { keys: _none, ...record } = userRecord(user);
  return { ...record, link: linkUrl(config, token), purpose: link.purpose, mailed_to: mailedTo(config, user) };
}

function mailedTo({ smtpHost }: Deps['config'], user: UserDocument): string | null {
  return smtpHost === '' ? null : (addressOf(user) ?? null);
}

const SignInRules = named('SignInRules', {
  second_factor: z.enum(['none', 'owners', 'all']).meta({
    description: 'Who needs an authenticator app. none: only the demo account of `npm start`.',
    example: 'owners',
  }),
});

export const signInRules = endpoint({
  id: 'signInRules',
  method: 'get',
  path: '/v2/account/sign-in',
  tag: 'Users',
  summary: 'What sign-in asks for',
  description: 'Extension.',
  scopes: ['owner', 'admin:look'],
  answer: SignInRules,
  handle: ({ db }, { caller }) => rulesOf(db, caller.account._id),
});

/** Takes effect within seconds. */
export const changeSignInRules = endpoint({
  id: 'changeSignInRules',
  method: 'patch',
  path: '/v2/account/sign-in',
  tag: 'Users',
  summary: 'Change what sign-in asks for',
  description: 'Extension. Users without an authenticator app may then do nothing but set one up.',
  scopes: ['owner'],
  confirmed: true,
  body: request({
    second_factor: required(
      choice(['owners', 'all'], 'Who needs an authenticator app. Owners always do; `all`: the other users too.'),
    ),
  }),
  answer: SignInRules,
  examples: { body: { example: { second_factor: 'all' } }, answer: { example: { second_factor: 'all' } } },
  async handle(deps, { caller, body }) {
    const { db } = deps;
    const id = caller.account._id;
    const { second_factor } = body;
    await changeAudited(deps, caller, {
      action: 'account.sign-in',
      apart: second_factor,
      subject: { kind: 'account', id },
      read: () => rulesOf(db, id),
      make: async () => {
        await updateAccount(db, id, { secondFactor: second_factor === 'all' ? 'required' : undefined });
        return rulesOf(db, id);
      },
      madeOf: (made) => made,
    });
    return rulesOf(db, id);
  },
});

async function rulesOf(db: Db, id: AccountId): Promise<Shown<typeof SignInRules>> {
  const account = await findAccount(db, id);
  // `none` is for the demo account of `npm start`, until somebody changes the setting.
  return {
    second_factor:
      account?.secondFactor === 'required' ? 'all' : account?.secondFactor === 'exempt' ? 'none' : 'owners',
  };
}
