import type { Db } from 'mongodb';
import { ROLE_PERMISSIONS } from '../../gateway/access/scopes.ts';
import { askAboutKeys, KEY_FATES, settleKeys } from '../../gateway/endpoints/keys/made-keys.ts';
import { operatorHere } from '../../gateway/local.ts';
import { inviteUser, removeUser, setRole, UsernameTaken } from '../../shared/people/users/store.ts';
import { ACCOUNT_ROLES, isOperatorRole, linkUrl, OPERATOR_ROLES } from '../../shared/people/users/user.ts';
import { AllPlacesTaken } from '../../shared/platform/mongo/places.ts';
import { operator } from './audited.ts';
import { type Answer, type Command, type Context, defineCommand, Failure } from './command.ts';
import { existingUser, NAMED_USER } from './owners.ts';
import { choice, name, optional, required, withDefault } from './parameters.ts';

/** What no endpoint does for users: the first operator, and another role or the end of anybody. The others are acts (acts.ts). */

const { username, ...AMONG } = NAMED_USER;
const KEYS = optional(
  choice(KEY_FATES),
  'what becomes of the keys that the user made, and of those that these made; needed when there are any',
);
export const LINK_NOTES =
  'The link is mailed too, if the user has an address and a mail server is set up. Whoever has it can set the password, once. It is not shown again.';

export const USER_COMMANDS: readonly Command[] = [
  defineCommand({
    noun: 'user',
    verb: 'invite-operator',
    about: 'Makes an operator, and the link with which the operator sets a password within 7 days.',
    args: { username },
    options: {
      role: withDefault(choice(OPERATOR_ROLES), 'operator', 'what the operator may do'),
      name: optional(name, 'how the operator is called'),
    },
    notes: `operator_viewer only looks, operator_support also decides about accounts, users and approvals, operator does everything. ${LINK_NOTES}`,
    async run({ username, role, name }, { db, clock, config, box }) {
      const invited = { username, role, ...(name !== undefined && { name }) };
      try {
        const { user, token } = await inviteUser(await db(), clock.now(), invited, undefined, await box());
        const [link, until] = [linkUrl(config, token), user.link?.expiresAt.toISOString()];
        return {
          text: linkText(link, username, until),
          json: { id: user._id, username, role, link, expires_at: until },
        };
      } catch (error) {
        if (error instanceof UsernameTaken)
          throw new Failure(
            `An operator signs in as ${username} already: \`user reset ${username} --operator\` makes a new link.`,
          );
        if (error instanceof AllPlacesTaken)
          throw new Failure(
            `There are ${error.most} operators already, and no more may be. \`user remove\` makes room.`,
          );
        throw error;
      }
    },
  }),
  defineCommand({
    noun: 'user',
    verb: 'role',
    about: 'Gives a user another role. It counts with the next request.',
    args: { username, role: required(choice([...ACCOUNT_ROLES, ...OPERATOR_ROLES]), 'what the user may do') },
    options: { ...AMONG, keys: KEYS },
    async run({ role, keys, ...words }, context) {
      const user = await existingUser(await context.db(), words);
      const roles = user.account === undefined ? OPERATOR_ROLES : ACCOUNT_ROLES;
      if (isOperatorRole(role) !== (user.account === undefined))
        throw new Failure(
          `${user.username} is ${user.account === undefined ? 'an operator' : 'of an account'}: the role is one of ${roles.join(', ')}.`,
        );
      const left = { user, keeps: ROLE_PERMISSIONS[role], fate: keys };
      return settling(context, left, `${user.username} is ${role} now.`, (db) => setRole(db, user._id, role));
    },
  }),
  defineCommand({
    noun: 'user',
    verb: 'remove',
    about: 'Removes a user for good, also the last owner of an account. The audit keeps the name.',
    args: { username },
    options: { ...AMONG, keys: KEYS },
    async run({ keys, ...words }, context) {
      const user = await existingUser(await context.db(), words);
      const left = { user, keeps: [], fate: keys };
      return settling(context, left, `${user.username} is removed.`, (db) => removeUser(db, user._id));
    },
  }),
];

/** Makes a change after which keys that the user made may be left over, as the endpoints do. */
async function settling(
  context: Context,
  left: Parameters<typeof askAboutKeys>[1],
  done: string,
  make: (db: Db) => Promise<unknown>,
): Promise<Answer> {
  const gateway = await context.gateway();
  const question = await askAboutKeys(gateway, left);
  if (question !== undefined) throw new Failure(`${question[1].detail}`);
  await make(gateway.db);
  const { id, address } = operator();
  const settled = await settleKeys(gateway, operatorHere(id, address), left);
  return { text: `${done}${keysText(settled)}`, json: { id: left.user._id, username: left.user.username, ...settled } };
}

/** What became of the keys that a user made. */
export function keysText({ keys = [] }: { readonly keys?: readonly { readonly [name: string]: string }[] }): string {
  const named = keys.map(({ key_id, name, state }) => `${key_id} (${name}, ${state})`);
  return named.length === 0 ? '' : ` Keys of that user: ${named.join(', ')}.`;
}

export function linkText(link: string, username: string, until: string | undefined): string {
  return `${link}\n${username} sets a password there, once, until ${until}.`;
}
