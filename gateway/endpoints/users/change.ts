import type { Db } from 'mongodb';
import { changeUser, disableUser, enableUser, removeUser, setRole } from '../../../shared/people/users/store.ts';
import { ACCOUNT_ROLES, type UserDocument } from '../../../shared/people/users/user.ts';
import { ROLE_PERMISSIONS } from '../../access/roles.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import { bodyOf, callerOf, type Handler, type Reply } from '../../http/context.ts';
import { FieldProblems, invalidRequest } from '../../http/field-problems.ts';
import { choice, optional } from '../../http/fields/field.ts';
import { type Given, readRequest, request, whole } from '../../http/fields/request.ts';
import { parseQuery, parseQueryChoice } from '../../http/query.ts';
import { askAboutKeys, KEY_FATES, keysOfTheUser, settleKeys } from '../keys/made-keys.ts';
import { personName } from '../sign-in/person-name.ts';
import { ROLE_ABOUT } from './invite.ts';
import { keepingAnOwner, unlessLastOwner } from './last-owner.ts';
import { userRecord } from './record.ts';
import { changeOf, type UsersDeps, userOf } from './users.ts';

export const CHANGE_USER = request(
  {
    role: optional(choice(ACCOUNT_ROLES, ROLE_ABOUT)),
    status: optional(choice(['active', 'disabled'], 'disabled: cannot sign in, and all sessions end at once.')),
    name: optional(personName),
    keys: keysOfTheUser,
  },
  [],
  [
    (_given, has, problems) => {
      if (['role', 'status', 'name'].some(has)) return;
      problems.add('role', 'missing_field', 'Give `role`, `status` or `name`.');
    },
  ],
);

/** PATCH /v2/account/users/{user_id} (extension): role, name, and whether the user may sign in. It counts at once. */
export function createChangeUser(deps: UsersDeps): Handler {
  const { db, clock, config } = deps;
  return async (req, res: Reply) => {
    const user = await userOf(db, req, res);
    if (user === undefined) return;
    const read = await readRequest(CHANGE_USER, bodyOf(res), { account: {}, now: clock.now(), config });
    if (read.problems.count > 0) return sendProblem(res, ...invalidRequest(read.problems));
    const wanted = whole(read);
    const { role = user.role, status = user.status, keys: fate } = wanted;
    const left = { user, keeps: status === 'disabled' ? [] : ROLE_PERMISSIONS[role], fate };
    const loses = wanted.role !== undefined || wanted.status === 'disabled';
    const question = loses ? await askAboutKeys(deps, left) : undefined;
    if (question !== undefined) return sendProblem(res, ...question);
    const apart = JSON.stringify([wanted.role, wanted.status]);
    const change = changeOf(deps, res, { action: 'user.update', user, apart }, () => apply(db, user, wanted));
    const changed = await change.catch(unlessLastOwner);
    if (changed === undefined) sendProblem(res, 'last_owner');
    else sendJson(res, { ...userRecord(changed), ...(await settleKeys(deps, callerOf(res), left)) });
  };
}

/** DELETE /v2/account/users/{user_id} (extension): the user is gone, and all sessions end. The audit keeps the name. */
export function createRemoveUser(deps: UsersDeps): Handler {
  const { db } = deps;
  return async (req, res: Reply) => {
    const problems = new FieldProblems();
    const query = parseQuery(req, ['keys'], problems);
    const fate = parseQueryChoice('keys', query.keys, KEY_FATES, problems);
    if (problems.count > 0) return sendProblem(res, ...invalidRequest(problems));
    const user = await userOf(db, req, res);
    if (user === undefined) return;
    const left = { user, keeps: [], fate };
    const question = await askAboutKeys(deps, left);
    if (question !== undefined) return sendProblem(res, ...question);
    const remove = changeOf(deps, res, { action: 'user.remove', user, madeOf: () => ({}) }, async () => {
      // First, because a user who is gone could not be brought back as they were.
      await keepingAnOwner(db, user, () => disableUser(db, user._id));
      await removeUser(db, user._id);
      return undefined;
    });
    const removed = await remove.then(() => true).catch(unlessLastOwner);
    if (removed === undefined) return sendProblem(res, 'last_owner');
    const keys = await settleKeys(deps, callerOf(res), left);
    sendJson(res, { status: 'success', user_id: user._id, message: 'The user is removed.', ...keys });
  };
}

type Wanted = Given<(typeof CHANGE_USER)['fields']>;

async function apply(db: Db, user: UserDocument, wanted: Wanted): Promise<UserDocument> {
  const { role = 'owner', status, name } = wanted;
  const leaves = role !== 'owner' || status === 'disabled';
  const move = () => applyChange(db, user, wanted);
  // First, because it may be refused.
  const moved = leaves ? await keepingAnOwner(db, user, move) : await move();
  if (name === undefined) return moved;
  return (await changeUser(db, { _id: user._id }, { $set: { name } })) ?? moved;
}

async function applyChange(db: Db, user: UserDocument, { role, status }: Wanted): Promise<UserDocument> {
  let changed = user;
  if (role !== undefined) changed = (await setRole(db, user._id, role)) ?? changed;
  if (status === 'disabled') changed = (await disableUser(db, user._id)) ?? changed;
  if (status === 'active') changed = (await enableUser(db, user._id)) ?? changed;
  return changed;
}
