import assert from 'node:assert/strict';
import type { Db } from 'mongodb';
import { ALLOWED_ADDRESSES_MAX, canonicalSubnet } from '../../shared/keys/allowed-addresses.ts';
import { ACCOUNT_KEY_SCOPES, KEY_SCOPES, type KeyDocument, REQUESTS_PER_MINUTE } from '../../shared/keys/key.ts';
import { formatKey, newKeyText } from '../../shared/keys/key-secret.ts';
import {
  createKey,
  findKey,
  isOver,
  listKeys,
  OVERLAP_MS,
  revokeKey,
  rotateKey,
  updateKey,
} from '../../shared/keys/store.ts';
import { keyViews } from '../../shared/keys/view.ts';
import { existing } from './account.ts';
import { type Command, defineCommand, Failure } from './command.ts';
import { accountId, instant, integer, list, name, optional, required, withDefault, words } from './parameters.ts';
import { givenOptions } from './read-words.ts';
import { sheet, table } from './show.ts';

const key = required(
  words('KEY', 'the id of a key, as `key list` shows it', /^[0-9a-z]{1,40}$/),
  'its id, not the key',
);
const perMinute = integer('N', 1, 1_000_000_000);
const NAME_ABOUT = 'a name for people, to tell keys apart';
const SCOPES_ABOUT = 'what it may do';
const ALLOW_ABOUT = 'the only addresses and subnets it may be used from, or any';
const ALLOW_NOTES =
  'Scopes: `send`, `read`, `otp` (the most urgent lane), `manage` (settings). Registering a chat-app webhook needs `manage`, or\n' +
  '`send` and `read`, because messages from customers are posted there. `admin` opens /v2/admin/… with all accounts: only for operators.\n' +
  'Such a key belongs to no account and has no other scope: `key create --scopes admin --name console`. From an address outside --allow-ip the key is refused\n' +
  '(403 ip_not_allowed). Behind a proxy, set TRUST_PROXY: otherwise the proxy counts as the caller.';
const addresses = {
  value: 'ADDRESSES',
  form: `"any", or at most ${ALLOWED_ADDRESSES_MAX} like 203.0.113.7,198.51.100.0/24,2001:db8::/48`,
  /** An empty list allows any address. */
  parse: (text: string): readonly string[] | undefined => {
    if (text === 'any') return [];
    const found = text.split(',').map(canonicalSubnet);
    const known = found.filter((subnet) => subnet !== undefined);
    return known.length === found.length && known.length <= ALLOWED_ADDRESSES_MAX ? [...new Set(known)] : undefined;
  },
};

export const KEY_COMMANDS: readonly Command[] = [
  defineCommand({
    noun: 'key',
    verb: 'create',
    about: 'Creates an API key and shows it, only this once.',
    args: { account: optional(accountId, 'the account; none for a key of operators') },
    options: {
      name: required(name, NAME_ABOUT),
      scopes: withDefault(list('SCOPES', KEY_SCOPES), 'send,read', SCOPES_ABOUT),
      expiresAt: optional(instant, 'when it stops working; default: never'),
      perMinute: optional(perMinute, `requests a minute it may make; ${REQUESTS_PER_MINUTE}, unless given`),
      allowIp: optional(addresses, ALLOW_ABOUT),
    },
    notes: ALLOW_NOTES,
    async run({ account, name, scopes, expiresAt, perMinute, allowIp = [] }, { db, clock }) {
      if (expiresAt !== undefined && expiresAt <= clock.now()) {
        throw new Failure(`--expires-at ${expiresAt.toISOString()} is in the past. Give a later time.`);
      }
      const isOperators = scopes.includes('admin');
      if (isOperators && (account !== undefined || scopes.length > 1)) {
        throw new Failure('A key with the scope admin has no account and no other scope: give neither.');
      }
      if (!isOperators && account === undefined) throw new Failure('<account> is missing: the account of the key.');
      const store = await db();
      if (account !== undefined) await existing(store, account);
      const made = await createKey(store, clock, {
        ...(account === undefined ? {} : { account }),
        name,
        scopes,
        ...(expiresAt === undefined ? {} : { expiresAt }),
        ...(perMinute === undefined ? {} : { perMinute }),
        ...(allowIp.length === 0 ? {} : { allowedIps: allowIp }),
      });
      return {
        text: `${made.key}\nKeep it now: only its hash is stored. To revoke it: npm run ops -- key revoke ${made.id}`,
        json: {
          id: made.id,
          key: made.key,
          account: account ?? null,
          name,
          scopes,
          expires_at: expiresAt ?? null,
          per_minute: perMinute ?? REQUESTS_PER_MINUTE,
          allowed_ips: allowIp.length === 0 ? null : allowIp,
        },
      };
    },
  }),
  defineCommand({
    noun: 'key',
    verb: 'list',
    about: 'Shows the keys of an account, or of operators, oldest first, and when each was used last.',
    args: { account: optional(accountId, 'the account; without it the keys of operators') },
    options: {},
    async run({ account }, { db, clock }) {
      const store = await db();
      if (account !== undefined) await existing(store, account);
      const all = await listKeys(store, account);
      const shown = await keyViews(store, clock.now(), all);
      const rows = shown.map((key) => [
        key.id,
        key.status,
        key.scopes.join(','),
        key.created_at.toISOString(),
        key.expires_at?.toISOString() ?? 'never',
        key.last_used?.toISOString() ?? 'never',
        key.last_address ?? '-',
        String(key.requests_24h),
        key.name,
      ]);
      const heading = ['KEY', 'STATUS', 'SCOPES', 'CREATED', 'EXPIRES', 'LAST USED', 'FROM', 'IN 24 H', 'NAME'];
      return { text: table(heading, rows, 'It has no keys yet.'), json: shown };
    },
  }),
  defineCommand({
    noun: 'key',
    verb: 'show',
    about: 'Shows a key, and when, from where and how often it was used.',
    args: { key },
    options: {},
    notes: 'Gateways report uses once a minute. Requests are those of the current hour and the 23 before it.',
    async run({ key }, { db, clock }) {
      const store = await db();
      const [shown] = await keyViews(store, clock.now(), [await existingKey(store, key)]);
      assert(shown !== undefined, 'one key in, one key out');
      const { scopes, allowed_ips, created_at, expires_at, last_used, last_address, ...plain } = shown;
      const text = sheet({
        ...plain,
        scopes: scopes.join(','),
        allowed_ips: allowed_ips?.join(',') ?? 'any',
        created_at: created_at.toISOString(),
        expires_at: expires_at?.toISOString() ?? 'never',
        last_used: last_used?.toISOString() ?? 'never',
        last_address: last_address ?? '-',
      });
      return { text, json: shown };
    },
  }),
  defineCommand({
    noun: 'key',
    verb: 'update',
    about: 'Changes what a key may do. It takes effect within 5 seconds.',
    args: { key },
    options: {
      name: optional(name, NAME_ABOUT),
      scopes: optional(list('SCOPES', ACCOUNT_KEY_SCOPES), SCOPES_ABOUT),
      perMinute: optional(perMinute, 'requests a minute it may make'),
      allowIp: optional(addresses, ALLOW_ABOUT),
    },
    notes: ALLOW_NOTES,
    async run({ key, ...given }, { db, clock }) {
      const { name, scopes, perMinute, allowIp } = given;
      const change = {
        ...(name === undefined ? {} : { name }),
        ...(scopes === undefined ? {} : { scopes }),
        ...(perMinute === undefined ? {} : { perMinute }),
        ...(allowIp === undefined ? {} : { allowedIps: allowIp }),
      };
      if (Object.keys(change).length === 0) throw new Failure('Nothing to change: see `key update --help`.');
      const store = await db();
      const { account, status } = await existingKey(store, key);
      if (status === 'revoked') throw new Failure(`${key} is revoked for good: create a new key.`);
      if (account === undefined && scopes !== undefined) {
        throw new Failure(`${key} is a key of operators, whose only scope is admin: leave out --scopes.`);
      }
      await updateKey(store, key, change);
      const [shown] = await keyViews(store, clock.now(), [await existingKey(store, key)]);
      return { text: `Key ${key} is updated: ${givenOptions(given)}.`, json: shown };
    },
  }),
  defineCommand({
    noun: 'key',
    verb: 'rotate',
    about: 'Makes a key that replaces this one, and shows it, only this once. The old one works for a while longer.',
    args: { key },
    options: {
      oldExpiresAt: optional(instant, 'when the old key stops working; default: in 24 hours'),
      expiresAt: optional(instant, 'when the new key stops working; default: when the old one would have'),
    },
    notes: 'The new key has the same name, scopes, addresses and rate.',
    async run({ key, oldExpiresAt, expiresAt }, { db, clock }) {
      const now = clock.now();
      const until = oldExpiresAt ?? new Date(now.getTime() + OVERLAP_MS);
      if (until <= now) throw new Failure(`--old-expires-at ${until.toISOString()} is in the past. Give a later time.`);
      if (expiresAt !== undefined && expiresAt <= now) {
        throw new Failure(`--expires-at ${expiresAt.toISOString()} is in the past. Give a later time.`);
      }
      const store = await db();
      const old = await existingKey(store, key);
      if (isOver(old, now)) throw new Failure(`${key} is revoked, expired or replaced: create a new key.`);
      const text = newKeyText(now.getTime());
      const made = await rotateKey(store, clock, old, { until, expiresAt }, text);
      if (made === undefined)
        throw new Failure(`${key} was revoked or replaced just now: \`key list <account>\` shows it.`);
      const ends = old.expiresAt !== undefined && old.expiresAt < until ? old.expiresAt : until;
      const end = made.expiresAt === undefined ? '' : ` The new key works until ${made.expiresAt.toISOString()}.`;
      return {
        text: `${formatKey(text)}\nKeep it now: only its hash is stored. ${key} works until ${ends.toISOString()}.${end}`,
        json: { id: made._id, key: formatKey(text), replaces: key, old_expires_at: ends },
      };
    },
  }),
  defineCommand({
    noun: 'key',
    verb: 'revoke',
    about: 'Revokes a key for good. It is refused within 5 seconds.',
    args: { key },
    options: {},
    async run({ key }, { db }) {
      const store = await db();
      await existingKey(store, key);
      await revokeKey(store, key);
      return { text: `Key ${key} is revoked.`, json: { id: key, status: 'revoked' } };
    },
  }),
];

async function existingKey(db: Db, id: string): Promise<KeyDocument> {
  const found = await findKey(db, id);
  if (found === undefined) throw new Failure(`There is no key ${id}: \`key list <account>\` shows them.`);
  return found;
}
