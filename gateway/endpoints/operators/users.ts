import type { Db } from 'mongodb';
import { z } from 'zod';
import {
  disableUser,
  enableUser,
  findUser,
  listUsers,
  removeSecondFactor,
  signOutEverywhere,
} from '../../../shared/people/users/store.ts';
import { ACCOUNT_ROLES, isOperatorRole, OPERATOR_ROLES, type UserDocument } from '../../../shared/people/users/user.ts';
import { isUserId, newId } from '../../../shared/platform/runtime/ids.ts';
import { ROLE_PERMISSIONS, scopeMissing } from '../../access/scopes.ts';
import { endpoint, invalid, refused, type Shown } from '../../api/endpoint.ts';
import { named, pageShape, text } from '../../api/shapes.ts';
import type { Requester } from '../../http/context.ts';
import { choice, optional, required } from '../../http/fields/field.ts';
import { cursorOf, limit, pageOfFound, readsPer } from '../../http/fields/query.ts';
import { request } from '../../http/fields/request.ts';
import type { Refused } from '../../http/idempotency/action.ts';
import { askAboutKeys, keysOfTheUser, settleKeys } from '../keys/made-keys.ts';
import {
  changeUserAudited,
  INVITE_USER,
  inviteAudited,
  linkRecord,
  newLink,
  User,
  UserLink,
  userRecord,
} from '../users/users.ts';
import { accountId, checkOpenAccount } from './fields.ts';

/**
 * Help for users who cannot sign in, or no longer should. With a link, or without a second factor, an operator could
 * sign in as an owner and spend credits, so `admin:support` alone is not enough; and for users who are operators both
 * are refused, or one could take over another. `ops user` does it.
 */

const UserIdText = text(undefined, { example: 'usr_01m7znjn7hdb5pft3awkb6pgvz' });
const IN_PATH = { user_id: UserIdText.describe('The user.') };
const TAKES_OVER = [['admin:support', 'admin:money']] as const;
const NO_SUCH = { detail: 'Check the user_id: `GET /v2/admin/users` lists them.' };

const OF_ACCOUNT = {
  role: z.enum([...ACCOUNT_ROLES, ...OPERATOR_ROLES]),
  account_id: text('Null: an operator.', { example: 'acc_01m7znjn7hdb5pft3awkb6pgvz' }).nullable(),
};

const AnyUser = named('AnyUser', { ...User.shape, ...OF_ACCOUNT });
const AnyUserLink = named('AnyUserLink', { ...UserLink.shape, ...OF_ACCOUNT });

export const anyUsers = endpoint({
  id: 'anyUsers',
  method: 'get',
  path: '/v2/admin/users',
  tag: 'Operators',
  summary: 'Users of an account, or operators',
  description:
    'Extension. Newest first; without `account_id` the operators. A page counts as one request for each 100 of `limit`.',
  scopes: ['admin:read'],
  query: { account_id: optional(accountId('The account.')), limit, cursor: cursorOf('users', isUserId) },
  reads: readsPer(100),
  answer: pageShape('AnyUserPage', AnyUser),
  async handle({ db }, { query: { account_id, limit, cursor } }) {
    return pageOfFound('users', await listUsers(db, account_id, { after: cursor, limit: limit + 1 }), limit, anyRecord);
  },
});

export const inviteToAccount = endpoint({
  id: 'inviteToAccount',
  method: 'post',
  path: '/v2/admin/users',
  tag: 'Operators',
  summary: 'Invite a user of an account',
  description:
    'Extension. Usually its first owner. The link to set a password is shown only here. It lets the caller act as an owner who can spend credits: so it needs both scopes.',
  scopes: TAKES_OVER,
  confirmed: true,
  body: request({ ...INVITE_USER.fields, account_id: required(accountId('The account.')) }),
  ownProblems: true,
  answer: AnyUserLink,
  problems: ['too_many_users', 'username_taken'],
  examples: {
    body: {
      example: { username: 'asha@example.com', role: 'owner', account_id: 'acc_01m7znjn7hdb5pft3awkb6pgvz' },
    },
  },
  async handle(deps, call) {
    const { db, clock } = deps;
    await checkOpenAccount(db, call.read);
    if (call.read.problems.count > 0) return invalid(call.read.problems);
    const { account_id: account, ...invited } = call.body;
    const made = await inviteAudited(
      deps,
      call.requester,
      { ...invited, account },
      newId('usr', clock.now().getTime()),
    );
    if ('kind' in made) return made;
    return { ...linkRecord(deps, made.user, made.token), ...ofAccount(made.user) };
  },
});

export const changeUserStatus = endpoint({
  id: 'setUserStatus',
  method: 'post',
  path: '/v2/admin/users/{user_id}/status',
  tag: 'Operators',
  summary: 'Disable a user, or enable one',
  description:
    "Extension. All sessions of a disabled user end at once. When keys that the user made would outlive the right to make them, `keys` must say what becomes of these (409 `user_has_keys` names them). An operator is let in or out by somebody who has all of that operator's scopes.",
  scopes: ['admin:support'],
  confirmed: true,
  params: IN_PATH,
  body: request({
    status: required(choice(['active', 'disabled'], '`disabled`: cannot sign in, and all sessions end at once.')),
    keys: keysOfTheUser,
  }),
  answer: AnyUser,
  problems: ['user_not_found', 'user_has_keys'],
  examples: { body: { example: { status: 'disabled' } } },
  async handle(deps, { requester, params, body: { status, keys: fate } }) {
    const { db } = deps;
    const user = await userOf(db, params.user_id);
    if (user === undefined) return refused('user_not_found', NO_SUCH);
    const colleague = refusesColleague(requester, user);
    if (colleague !== undefined) return colleague;
    const left = { user, keeps: status === 'active' ? ROLE_PERMISSIONS[user.role] : [], fate };
    const question = status === 'active' ? undefined : await askAboutKeys(deps, left);
    if (question !== undefined) return { kind: 'refused', problem: question };
    const action = status === 'active' ? 'user.enable' : 'user.disable';
    const change = () => (status === 'active' ? enableUser : disableUser)(db, user._id);
    const changed = await changeUserAudited(deps, requester, { action, user }, change);
    if (changed === undefined) return refused('user_not_found', NO_SUCH);
    return { ...anyRecord(changed), ...(await settleKeys(deps, requester, left)) };
  },
});

/** Refuses to let in or out an operator who may do more than the requester. */
function refusesColleague({ who, scopes }: Requester, { role }: UserDocument): Refused | undefined {
  const needed = isOperatorRole(role) ? ROLE_PERMISSIONS[role] : [];
  if (needed.every((one) => scopes.includes(one))) return undefined;
  return { kind: 'refused', problem: scopeMissing(who, scopes, needed) };
}

export const endAnySessions = endpoint({
  id: 'endAnySessions',
  method: 'delete',
  path: '/v2/admin/users/{user_id}/sessions',
  tag: 'Operators',
  summary: 'Sign a user out everywhere',
  description: 'Extension. Ends all sessions at once.',
  scopes: ['admin:support'],
  confirmed: true,
  params: IN_PATH,
  answer: AnyUser,
  problems: ['user_not_found'],
  async handle(deps, { requester, params }) {
    const user = await userOf(deps.db, params.user_id);
    if (user === undefined) return refused('user_not_found', NO_SUCH);
    const colleague = refusesColleague(requester, user);
    if (colleague !== undefined) return colleague;
    const change = () => signOutEverywhere(deps.db, user._id);
    const changed = await changeUserAudited(deps, requester, { action: 'user.end-sessions', user }, change);
    return changed === undefined ? refused('user_not_found', NO_SUCH) : anyRecord(changed);
  },
});

export const removeAnyFactor = endpoint({
  id: 'removeAnyFactor',
  method: 'delete',
  path: '/v2/admin/users/{user_id}/second-factor',
  tag: 'Operators',
  summary: 'Reset a second factor',
  description:
    'Extension. For a lost app without recovery codes. All sessions end. For users of accounts. It lets the caller act as an owner who can spend credits: so it needs both scopes.',
  scopes: TAKES_OVER,
  confirmed: true,
  params: IN_PATH,
  answer: AnyUser,
  problems: ['user_not_found', 'operator_by_ops'],
  async handle(deps, { requester, params }) {
    const user = await userOf(deps.db, params.user_id);
    if (user === undefined) return refused('user_not_found', NO_SUCH);
    if (user.account === undefined && requester.who.kind !== 'ops') return refused('operator_by_ops');
    const change = () => removeSecondFactor(deps.db, user._id);
    const changed = await changeUserAudited(deps, requester, { action: 'user.remove-second-factor', user }, change);
    return changed === undefined ? refused('user_not_found', NO_SUCH) : anyRecord(changed);
  },
});

export const anyUserLink = endpoint({
  id: 'anyUserLink',
  method: 'post',
  path: '/v2/admin/users/{user_id}/link',
  tag: 'Operators',
  summary: 'A new link to set a password',
  description:
    'Extension. Earlier ones are void. For users of accounts; those of operators are made by ops. It lets the caller act as an owner who can spend credits: so it needs both scopes.',
  scopes: TAKES_OVER,
  confirmed: true,
  params: IN_PATH,
  answer: AnyUserLink,
  problems: ['user_not_found', 'user_disabled', 'operator_by_ops'],
  async handle(deps, { requester, params }) {
    const user = await userOf(deps.db, params.user_id);
    if (user === undefined) return refused('user_not_found', NO_SUCH);
    if (user.account === undefined && requester.who.kind !== 'ops') return refused('operator_by_ops');
    const made = await newLink(deps, requester, user);
    return made === undefined ? refused('user_disabled') : { ...made, ...ofAccount(user) };
  },
});

async function userOf(db: Db, id: string): Promise<UserDocument | undefined> {
  return isUserId(id) ? findUser(db, id) : undefined;
}

function anyRecord(user: UserDocument): Shown<typeof AnyUser> {
  return { ...userRecord(user), ...ofAccount(user) };
}

function ofAccount({ role, account }: UserDocument) {
  return { role, account_id: account ?? null };
}
