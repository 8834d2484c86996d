import type { Db } from 'mongodb';
import { ROLE_PERMISSIONS } from '../../gateway/access/scopes.ts';
import { askAboutKeys, KEY_FATES, settleKeys } from '../../gateway/endpoints/keys/made-keys.ts';
import { operatorHere } from '../../gateway/local.ts';
import { ALLOWED_ADDRESSES_MAX, canonicalSubnet } from '../../shared/people/keys/allowed-addresses.ts';
import { OPERATOR_KEY_DAYS_MAX, OPERATOR_SCOPES } from '../../shared/people/keys/key.ts';
import { keyViews } from '../../shared/people/keys/key-use.ts';
import { createKey, findKey, listKeyPage, revokeKey } from '../../shared/people/keys/store.ts';
import { inviteUser, removeUser, setRole, UsernameTaken } from '../../shared/people/users/store.ts';
import { ACCOUNT_ROLES, isOperatorRole, linkUrl, OPERATOR_ROLES } from '../../shared/people/users/user.ts';
import { AllPlacesTaken } from '../../shared/platform/mongo/places.ts';
import { listText } from './answer-text.ts';
import { operator } from './audited.ts';
import {
  type Answer,
  type Command,
  type Context,
  choice,
  defineCommand,
  Failure,
  instant,
  list,
  name,
  optional,
  required,
  withDefault,
  words,
} from './command.ts';
import { existingUser, NAMED_USER } from './owners.ts';

/** Commands for users without an endpoint: the first operator, role changes, removals. acts.ts has the others. */

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

/** Makes a change and settles the keys that the user made, as the endpoints do. */
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

export function keysText({ keys = [] }: { readonly keys?: readonly { readonly [name: string]: string }[] }): string {
  const named = keys.map(({ key_id, name, state }) => `${key_id} (${name}, ${state})`);
  return named.length === 0 ? '' : ` Keys of that user: ${named.join(', ')}.`;
}

export function linkText(link: string, username: string, until: string | undefined): string {
  return `${link}\n${username} sets a password there, once, until ${until}.`;
}

/** Operators' keys are created on this machine only: they cover all accounts, more than any maker of API keys has. */

const DAY_MS = 24 * 3_600_000;
/** Larger subnets are effectively open: two of /1 are all addresses. */
const PREFIX_MIN = 8;

/** A stolen key must be useless elsewhere. */
const addresses = {
  value: 'ADDRESSES',
  form: `at most ${ALLOWED_ADDRESSES_MAX} like 203.0.113.7,198.51.100.0/24,2001:db8::/48, no subnet larger than /${PREFIX_MIN}`,
  parse(text: string): readonly string[] | undefined {
    const found = text.split(',').map(canonicalSubnet);
    const isFit = (one: string | undefined): one is string =>
      one !== undefined && Number(one.split('/')[1] ?? PREFIX_MIN) >= PREFIX_MIN;
    return found.every(isFit) && found.length <= ALLOWED_ADDRESSES_MAX ? [...new Set(found)] : undefined;
  },
};

export const OPERATOR_KEY_COMMANDS: readonly Command[] = [
  defineCommand({
    noun: 'operator-key',
    verb: 'create',
    about: 'Creates a key of operators, for /v2/admin/…, and shows it, only this once.',
    args: {},
    options: {
      name: required(name, 'a name for people, to tell keys apart'),
      scopes: required(list('SCOPES', OPERATOR_SCOPES), 'what it may do'),
      expiresAt: required(instant, `when it stops working, at most ${OPERATOR_KEY_DAYS_MAX} days ahead`),
      allowIp: required(addresses, 'the only addresses and subnets that it may be used from'),
    },
    notes:
      '`admin:read` looks, `admin:look` also at an account as it sees itself, `admin:support` decides about accounts, users and approvals,\n' +
      '`admin:money` about credits, `admin:routing` about carriers, routes, providers and numbers. From another address the key is refused\n' +
      '(403 ip_not_allowed). Behind a proxy, set HARKARA_TRUST_PROXY: otherwise the proxy counts as the caller.',
    async run({ name, scopes, expiresAt, allowIp }, { db, clock }) {
      const now = clock.now();
      const last = new Date(now.getTime() + OPERATOR_KEY_DAYS_MAX * DAY_MS);
      if (expiresAt <= now)
        throw new Failure(`--expires-at ${expiresAt.toISOString()} is in the past. Give a later time.`);
      if (expiresAt > last) throw new Failure(`--expires-at may be at most ${last.toISOString()}.`);
      const settings = { name, scopes, expiresAt, allowedIps: allowIp };
      const { id, key } = await createKey(await db(), clock, settings).catch((error: unknown) => {
        if (!(error instanceof AllPlacesTaken)) throw error;
        throw new Failure(
          `There are ${error.most} keys that work already: \`operator-key revoke\` one that is not used.`,
        );
      });
      return {
        text: `${key}\nKeep it now: only its hash is stored. To revoke it: npm run ops -- operator-key revoke ${id}`,
        json: { id, key, name, scopes, expires_at: expiresAt, allowed_ips: allowIp },
      };
    },
  }),
  defineCommand({
    noun: 'operator-key',
    verb: 'list',
    about: 'Shows the keys of operators, newest first, and when each was used last.',
    args: {},
    options: {},
    async run(_values, { db, clock }) {
      const store = await db();
      const found = await listKeyPage(store, undefined, { now: clock.now() }, LISTED_MAX);
      const all = await keyViews(store, clock.now(), found);
      const columns = [
        'id',
        'status',
        'scopes',
        'expires_at',
        'allowed_ips',
        'last_used',
        'last_address',
        'requests_24h',
        'name',
      ];
      return { text: listText(JSON.parse(JSON.stringify(all)), columns), json: all };
    },
  }),
  defineCommand({
    noun: 'operator-key',
    verb: 'revoke',
    about: 'Revokes a key of operators for good. It is refused within 5 seconds.',
    args: {
      key: required(words('KEY', 'the id of a key, as `operator-key list` shows it', /^[0-9a-z]{1,40}$/), 'its id'),
    },
    options: {},
    async run({ key }, { db }) {
      const store = await db();
      const found = await findKey(store, key);
      if (found === undefined || found.account !== undefined)
        throw new Failure(`There is no key ${key} of operators: \`operator-key list\` shows them.`);
      await revokeKey(store, key);
      return { text: `Key ${key} is revoked.`, json: { id: key, status: 'revoked' } };
    },
  }),
];

const LISTED_MAX = 1_000;
