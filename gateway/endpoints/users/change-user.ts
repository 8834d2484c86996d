import type { Db } from 'mongodb';
import {
  changeUser as change,
  disableUser,
  enableUser,
  findUser,
  hasOtherOwner,
  removeUser as remove,
  removeSecondFactor,
  setRole,
  signOutEverywhere,
} from '../../../shared/people/users/store.ts';
import type { UserDocument } from '../../../shared/people/users/user.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import { isUserId } from '../../../shared/platform/runtime/ids.ts';
import { ROLE_PERMISSIONS } from '../../access/scopes.ts';
import { done, endpoint, refused } from '../../api/endpoint.ts';
import { success, text } from '../../api/shapes.ts';
import type { Caller } from '../../http/context.ts';
import { choice, optional } from '../../http/fields/field.ts';
import { type Given, request } from '../../http/fields/request.ts';
import { askAboutKeys, keysOfTheUser, settleKeys } from '../keys/made-keys.ts';
import { email, personName } from '../sign-in/fields.ts';
import { changeUserAudited, LeftKeysShape, newLink, ROLE, User, UserIdText, UserLink, userRecord } from './users.ts';

/** One user of the account: changes by owners, and help for users who cannot get in. */

const IN_PATH = {
  user_id: text('Id of the user, from the list.', {
    pattern: '^usr_[0-9a-hjkmnp-tv-z]{26}$',
    example: 'usr_01m7znjn7hdb5pft3awkb6pgvz',
  }),
};

export const showUser = endpoint({
  id: 'user',
  method: 'get',
  path: '/v2/account/users/{user_id}',
  tag: 'Users',
  summary: 'One user',
  description: 'Extension.',
  scopes: ['owner', 'admin:look'],
  params: IN_PATH,
  answer: User,
  problems: ['user_not_found'],
  async handle({ db }, { caller, params }) {
    const user = await userOf(db, caller, params.user_id);
    return user === undefined ? refused('user_not_found') : userRecord(user);
  },
});

const CHANGE_USER = request(
  {
    role: optional(ROLE),
    status: optional(choice(['active', 'disabled'], 'disabled: cannot sign in, and all sessions end at once.')),
    name: optional(personName),
    email: optional(email),
    keys: keysOfTheUser,
  },
  [],
  [
    (_given, has, problems) => {
      if (['role', 'status', 'name', 'email'].some(has)) return;
      problems.add('role', 'missing_field', 'Give `role`, `status`, `name` or `email`.');
    },
  ],
);

export const changeUser = endpoint({
  id: 'changeUser',
  method: 'patch',
  path: '/v2/account/users/{user_id}',
  tag: 'Users',
  summary: 'Change role, name, address, or whether a user may sign in',
  description:
    "Extension. It counts with the user's next request; a disabled user's sessions end at once. The last owner who can sign in stays one. When keys that the user made would outlive the right to make them, `keys` must say what becomes of these (409 `user_has_keys` names them).",
  scopes: ['owner'],
  confirmed: true,
  params: IN_PATH,
  body: CHANGE_USER,
  answer: User,
  problems: ['user_not_found', 'user_has_keys', 'last_owner'],
  examples: { body: { example: { role: 'developer' } } },
  async handle(deps, { caller, params, body }) {
    const user = await userOf(deps.db, caller, params.user_id);
    if (user === undefined) return refused('user_not_found');
    const { role = user.role, status = user.status, keys: fate } = body;
    const left = { user, keeps: status === 'disabled' ? [] : ROLE_PERMISSIONS[role], fate };
    const loses = body.role !== undefined || body.status === 'disabled';
    const question = loses ? await askAboutKeys(deps, left) : undefined;
    if (question !== undefined) return refused(...question);
    const apart = JSON.stringify([body.role, body.status]);
    const make = () => apply(deps.db, user, body);
    const changed = await changeUserAudited(
      deps,
      caller,
      { action: 'user.update', user, apart, isRefusal: isLastOwner },
      make,
    ).catch(unlessLastOwner);
    if (changed === undefined) return refused('last_owner');
    return { ...userRecord(changed), ...(await settleKeys(deps, caller, left)) };
  },
});

/** The audit keeps the name. */
export const removeUser = endpoint({
  id: 'removeUser',
  method: 'delete',
  path: '/v2/account/users/{user_id}',
  tag: 'Users',
  summary: 'Remove a user',
  description:
    'Extension. All sessions end at once. The last owner who can sign in cannot be removed. When keys that the user made would outlive the right to make them, `keys` must say what becomes of these (409 `user_has_keys` names them).',
  scopes: ['owner'],
  confirmed: true,
  params: IN_PATH,
  query: { keys: keysOfTheUser },
  answer: success('RemovedUser', {
    user_id: UserIdText,
    message: text(undefined, { example: 'The user is removed.' }),
    keys: LeftKeysShape,
  }),
  problems: ['user_not_found', 'user_has_keys', 'last_owner'],
  async handle(deps, { caller, params, query }) {
    const { db } = deps;
    const user = await userOf(db, caller, params.user_id);
    if (user === undefined) return refused('user_not_found');
    const left = { user, keeps: [], fate: query.keys };
    const question = await askAboutKeys(deps, left);
    if (question !== undefined) return refused(...question);
    const removing = { action: 'user.remove', user, madeOf: () => ({}), isRefusal: isLastOwner };
    let keys = {};
    const change = changeUserAudited(deps, caller, removing, async () => {
      // First, because a removed user could not be restored.
      await keepingAnOwner(db, user, () => disableUser(db, user._id));
      // Before the user is gone: whoever asks again after a failure must find the user to revoke the rest.
      keys = await settleKeys(deps, caller, left);
      await remove(db, user._id);
      return undefined;
    });
    const removed = await change.then(() => true).catch(unlessLastOwner);
    if (removed === undefined) return refused('last_owner');
    return done({ user_id: user._id, message: 'The user is removed.', ...keys });
  },
});

export const userLink = endpoint({
  id: 'userLink',
  method: 'post',
  path: '/v2/account/users/{user_id}/link',
  tag: 'Users',
  summary: 'New link for a user',
  description:
    'Extension. For a user who has lost the password, or the invitation. Earlier links are void. The password stays until the link is used.',
  scopes: ['owner'],
  confirmed: true,
  params: IN_PATH,
  answer: UserLink,
  problems: ['user_not_found', 'own_user', 'user_disabled'],
  async handle(deps, { caller, params }) {
    const user = await userOf(deps.db, caller, params.user_id);
    if (user === undefined) return refused('user_not_found');
    if (isSelf(caller, user)) return refused('own_user');
    return (await newLink(deps, caller, user)) ?? refused('user_disabled');
  },
});

export const removeUserSecondFactor = endpoint({
  id: 'removeUserSecondFactor',
  method: 'delete',
  path: '/v2/account/users/{user_id}/second-factor',
  tag: 'Users',
  summary: "Remove a user's authenticator app",
  description:
    'Extension. For a lost app without recovery codes. All sessions of the user end. Be sure who asks: from then on the password alone lets the user in, to set up another app where one is needed.',
  scopes: ['owner'],
  confirmed: true,
  params: IN_PATH,
  answer: User,
  problems: ['user_not_found', 'own_user'],
  async handle(deps, { caller, params }) {
    const user = await userOf(deps.db, caller, params.user_id);
    if (user === undefined) return refused('user_not_found');
    if (isSelf(caller, user)) return refused('own_user');
    const make = () => removeSecondFactor(deps.db, user._id);
    const changed = await changeUserAudited(deps, caller, { action: 'user.remove-second-factor', user }, make);
    return changed === undefined ? refused('user_not_found') : userRecord(changed);
  },
});

export const endUserSessions = endpoint({
  id: 'endUserSessions',
  method: 'delete',
  path: '/v2/account/users/{user_id}/sessions',
  tag: 'Users',
  summary: 'Sign a user out everywhere',
  description: 'Extension.',
  scopes: ['owner'],
  confirmed: true,
  params: IN_PATH,
  answer: User,
  problems: ['user_not_found'],
  async handle(deps, { caller, params }) {
    const user = await userOf(deps.db, caller, params.user_id);
    if (user === undefined) return refused('user_not_found');
    const make = () => signOutEverywhere(deps.db, user._id);
    const changed = await changeUserAudited(deps, caller, { action: 'user.end-sessions', user }, make);
    return changed === undefined ? refused('user_not_found') : userRecord(changed);
  },
});

async function userOf(db: Db, { account }: Caller, id: string): Promise<UserDocument | undefined> {
  const user = isUserId(id) ? await findUser(db, id) : undefined;
  return user?.account === account._id ? user : undefined;
}

/** A stolen session could otherwise set a new password without the old one. */
function isSelf({ who }: Caller, user: UserDocument): boolean {
  return who.id === user._id;
}

type Wanted = Given<(typeof CHANGE_USER)['fields']>;

async function apply(db: Db, user: UserDocument, wanted: Wanted): Promise<UserDocument> {
  const { role = 'owner', status, name, email } = wanted;
  const leaves = role !== 'owner' || status === 'disabled';
  const move = () => applyRoleAndStatus(db, user, wanted);
  // First, because it may be refused.
  const moved = leaves ? await keepingAnOwner(db, user, move) : await move();
  if (name === undefined && email === undefined) return moved;
  return (await change(db, { _id: user._id }, { $set: defined({ name, email }) })) ?? moved;
}

async function applyRoleAndStatus(db: Db, user: UserDocument, { role, status }: Wanted): Promise<UserDocument> {
  let changed = user;
  if (role !== undefined) changed = (await setRole(db, user._id, role)) ?? changed;
  if (status === 'disabled') changed = (await disableUser(db, user._id)) ?? changed;
  if (status === 'active') changed = (await enableUser(db, user._id)) ?? changed;
  return changed;
}

class LastOwner extends Error {}

function isLastOwner(error: unknown): boolean {
  return error instanceof LastOwner;
}

/**
 * For changes after which the user is no owner or cannot sign in. Throws `LastOwner` if none would be left. Two owners
 * who do this to each other write first and then look: at least one finds nobody and takes the change back. Ended
 * sessions and links stay ended.
 */
async function keepingAnOwner<T>(db: Db, user: UserDocument, make: () => Promise<T>): Promise<T> {
  const { _id, account, role, status } = user;
  if (account === undefined || role !== 'owner' || status !== 'active') return make();
  if (!(await hasOtherOwner(db, account, _id))) throw new LastOwner();
  const made = await make();
  if (await hasOtherOwner(db, account, _id)) return made;
  await change(db, { _id }, { $set: { role, status } });
  throw new LastOwner();
}

/** For the `catch` of a change: undefined when it was refused. */
function unlessLastOwner(error: unknown): undefined {
  if (!(error instanceof LastOwner)) throw error;
}
