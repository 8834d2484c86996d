import type { Db } from 'mongodb';
import { keysOfUser, revokeEach } from '../../shared/people/keys/descendants.ts';
import type { KeyDocument } from '../../shared/people/keys/key.ts';
import { revokeKey } from '../../shared/people/keys/store.ts';
import { linkUrl } from '../../shared/people/users/link.ts';
import { listSessions } from '../../shared/people/users/session-store.ts';
import {
  disableUser,
  enableUser,
  findUsersByName,
  type Invited,
  inviteUser,
  listUsers,
  makeLink,
  removeSecondFactor,
  removeUser,
  setRole,
  signOutEverywhere,
  UsernameTaken,
} from '../../shared/people/users/store.ts';
import {
  ACCOUNT_ROLES,
  canonicalUsername,
  isOperatorRole,
  OPERATOR_ROLES,
  OPERATORS,
  type UserDocument,
} from '../../shared/people/users/user.ts';
import type { Config } from '../../shared/platform/config/settings.ts';
import { AllPlacesTaken } from '../../shared/platform/mongo/places.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import { type Answer, type Command, defineCommand, Failure, UsageError } from './command.ts';
import { existing } from './owners.ts';
import { accountId, choice, flag, name, optional, required } from './parameters.ts';
import { table } from './show.ts';

const username = required(
  {
    value: 'NAME',
    form: 'a sign-in name: 3 to 254 letters, digits and the signs . _ % + - @',
    parse: canonicalUsername,
  },
  'what the user signs in with, usually an e-mail address',
);
const whose = {
  account: optional(accountId, 'the users of this account'),
  operator: flag('the operators'),
};
const among = {
  account: optional(accountId, 'of which account, when several have a user of that name'),
  operator: flag('the operator of that name'),
};
const KEYS = optional(
  choice(['keep', 'revoke']),
  'what becomes of the keys that the user made, and of those that these made; needed when there are any',
);
const LINK_NOTES =
  'The link is mailed too, if the user has an address and a mail server is set up. Whoever has it can set the password, once. It is not shown again.';

export const USER_COMMANDS: readonly Command[] = [
  defineCommand({
    noun: 'user',
    verb: 'invite',
    about: 'Makes a user, and the link with which the user sets a password within 7 days.',
    args: { username },
    options: {
      ...whose,
      role: optional(choice([...ACCOUNT_ROLES, ...OPERATOR_ROLES]), 'what the user may do'),
      name: optional(name, 'how the user is called'),
    },
    notes:
      'Give --account and --role, or --operator. Of the operators, operator_viewer only looks, operator_support also decides about accounts,\n' +
      `users and approvals, and operator (without --role) does everything. ${LINK_NOTES}`,
    async run({ username, account, operator, role, name }, { db, clock, config, box }) {
      const store = await db();
      const who = { username, ...(name === undefined ? {} : { name }) };
      const invite = async (invited: Invited) =>
        linked(config, await inviteUser(store, clock.now(), invited, undefined, await box()));
      try {
        if (operator && account === undefined && (role === undefined || isOperatorRole(role))) {
          return await invite({ ...who, role: role ?? 'operator' });
        }
        if (operator || account === undefined || role === undefined || isOperatorRole(role)) {
          throw new UsageError(
            `Give --account and --role ${ACCOUNT_ROLES.join('|')}, or --operator, with --role ${OPERATOR_ROLES.join('|')} if it may do less than everything.`,
          );
        }
        await existing(store, account);
        return await invite({ ...who, account, role });
      } catch (error) {
        if (error instanceof UsernameTaken)
          throw new Failure(
            `Somebody signs in there as ${username} already: choose another name, or make a new link with \`user reset ${username}\`.`,
          );
        if (error instanceof AllPlacesTaken)
          throw new Failure(`There are ${error.most} users already, and no more may be. \`user remove\` makes room.`);
        throw error;
      }
    },
  }),
  defineCommand({
    noun: 'user',
    verb: 'reset',
    about: 'Makes a link with which a user sets another password within the hour.',
    args: { username },
    options: {
      ...among,
      secondFactor: flag('also removes the authenticator app and its recovery codes, and ends all sessions'),
    },
    notes: `Earlier links no longer work. ${LINK_NOTES} With --second-factor, first be sure who asks: the link is then all that is needed.`,
    async run({ secondFactor, ...words }, { db, clock, config, box }) {
      const store = await db();
      const { username } = words;
      const user = await existingUser(store, words);
      if (secondFactor) await removeSecondFactor(store, user._id);
      const made = await makeLink(store, clock.now(), user, await box());
      if (made === undefined) throw new Failure(`${username} is disabled: \`user enable ${username}\` first.`);
      return linked(config, made);
    },
  }),
  defineCommand({
    noun: 'user',
    verb: 'list',
    about: 'Shows who may sign in to the dashboard.',
    args: {},
    options: whose,
    async run({ account, operator }, { db }) {
      if ((account === undefined) !== operator) throw new UsageError('Give --account or --operator, one of them.');
      const store = await db();
      if (account !== undefined) await existing(store, account);
      const shown = await Promise.all((await listUsers(store, account)).map((user) => withSessions(store, user)));
      const rows = shown.map((user) => [
        user.username,
        user.role,
        user.status,
        user.second_factor ? 'yes' : 'no',
        String(user.sessions),
        user.last_sign_in?.toISOString() ?? 'never',
        user.id,
      ]);
      const heading = ['SIGNS IN AS', 'ROLE', 'STATUS', 'SECOND FACTOR', 'SESSIONS', 'LAST SIGN-IN', 'USER'];
      return { text: table(heading, rows, 'There are no users yet.'), json: shown };
    },
  }),
  defineCommand({
    noun: 'user',
    verb: 'role',
    about: 'Gives a user of an account another role. It counts with the next request.',
    args: { username, role: required(choice([...ACCOUNT_ROLES, ...OPERATOR_ROLES]), 'what the user may do') },
    options: { ...among, keys: KEYS },
    async run({ role, keys, ...words }, { db, clock }) {
      const store = await db();
      const { username } = words;
      const user = await existingUser(store, words);
      if ((user.account === undefined) !== isOperatorRole(role)) {
        const [is, roles] =
          user.account === undefined ? ['an operator', OPERATOR_ROLES] : ['of an account', ACCOUNT_ROLES];
        throw new Failure(`${username} is ${is}: the role is one of ${roles.join(', ')}.`);
      }
      const left = { user, manages: role === 'owner' || role === 'developer', fate: keys };
      await askAboutKeys(store, clock, left);
      await setRole(store, user._id, role);
      const done = await settleKeys(store, clock, left);
      return {
        text: `${username} is ${role} now.${done.text}`,
        json: { id: user._id, username, role, keys: done.keys },
      };
    },
  }),
  toEach(
    'disable',
    'Keeps a user out: sessions end at once, and links no longer work.',
    'disabled',
    disableUser,
    false,
  ),
  toEach('enable', 'Lets a disabled user in again.', 'let in again', enableUser, true),
  toEach('sessions', 'Ends all sessions of a user at once.', 'signed out everywhere', signOutEverywhere, true),
  toEach('remove', 'Removes a user for good. The audit keeps the name.', 'removed', removeUser, false),
];

/** `manages`: whether the user may have keys afterwards. */
function toEach(
  verb: string,
  about: string,
  done: string,
  act: (db: Db, id: UserDocument['_id']) => Promise<unknown>,
  manages: boolean,
): Command {
  return defineCommand({
    noun: 'user',
    verb,
    about,
    args: { username },
    options: manages ? among : { ...among, keys: KEYS },
    async run(words, { db, clock }) {
      const store = await db();
      const { username } = words;
      const user = await existingUser(store, words);
      const left = { user, manages, fate: 'keys' in words ? words.keys : undefined };
      await askAboutKeys(store, clock, left);
      await act(store, user._id);
      const { text, keys } = await settleKeys(store, clock, left);
      return { text: `${username} is ${done}.${text}`, json: { id: user._id, username, keys } };
    },
  });
}

interface LeftKeys {
  readonly user: UserDocument;
  readonly manages: boolean;
  readonly fate: 'keep' | 'revoke' | undefined;
}

async function askAboutKeys(db: Db, clock: Clock, left: LeftKeys): Promise<void> {
  if (left.fate !== undefined) return;
  const found = await leftKeys(db, clock, left);
  if (found.length === 0) return;
  throw new Failure(
    `${left.user.username} made keys that work: ${namesOf(found)}. Give --keys revoke, or --keys keep.`,
  );
}

async function settleKeys(db: Db, clock: Clock, left: LeftKeys): Promise<{ text: string; keys: readonly string[] }> {
  const find = () => leftKeys(db, clock, left);
  const found = left.fate === 'revoke' ? await revokeEach(find, ({ _id }) => revokeKey(db, _id)) : await find();
  const what = left.fate === 'revoke' ? 'These keys are revoked' : 'These keys still work';
  return { text: found.length === 0 ? '' : ` ${what}: ${namesOf(found)}.`, keys: found.map(({ _id }) => _id) };
}

async function leftKeys(db: Db, clock: Clock, { user, manages }: LeftKeys): Promise<readonly KeyDocument[]> {
  if (manages || user.account === undefined) return [];
  return keysOfUser(db, { account: user.account, user: user._id }, clock.now());
}

function namesOf(keys: readonly KeyDocument[]): string {
  return keys.map(({ _id, name }) => `${_id} (${name})`).join(', ');
}

function linked(
  config: Pick<Config, 'publicUrl' | 'host' | 'port'>,
  { user, token }: { readonly user: UserDocument; readonly token: string },
): Answer {
  const link = linkUrl(config, token);
  const until = user.link?.expiresAt.toISOString();
  return {
    text: `${link}\n${user.username} sets a password there, once, until ${until}.`,
    json: {
      id: user._id,
      username: user.username,
      role: user.role,
      account: user.account ?? null,
      link,
      expires_at: until,
    },
  };
}

/** Who is meant by a command's words. */
interface Words {
  readonly username?: unknown;
  readonly account?: unknown;
  readonly operator?: unknown;
}

async function existingUser(db: Db, words: Words): Promise<UserDocument> {
  const found = await named(db, words);
  const [user, another] = found;
  if (user === undefined)
    throw new Failure(
      `Nobody signs in as ${words.username}: \`user list --account acc_…\` and \`user list --operator\` show who does.`,
    );
  if (another === undefined) return user;
  const ways = found.map((one) => (one.account === undefined ? '--operator' : `--account ${one.account}`));
  throw new Failure(`Several users sign in as ${words.username}. Say which one: ${ways.join(', or ')}.`);
}

/** The one user whom a command's words name; undefined when there is none, or several. */
export async function theUser(db: Db, words: Words): Promise<UserDocument | undefined> {
  const [user, another] = await named(db, words);
  return another === undefined ? user : undefined;
}

function named(db: Db, { username, account, operator }: Words): Promise<readonly UserDocument[]> {
  const where = operator === true ? OPERATORS : account === undefined ? undefined : String(account);
  return findUsersByName(db, String(username), where);
}

async function withSessions(db: Db, user: UserDocument) {
  return {
    id: user._id,
    username: user.username,
    name: user.name ?? null,
    role: user.role,
    status: user.status,
    second_factor: user.totp !== undefined,
    sessions: (await listSessions(db, user._id)).length,
    last_sign_in: user.lastSignInAt ?? null,
  };
}
