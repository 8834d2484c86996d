import assert from 'node:assert/strict';
import type { Db } from 'mongodb';
import { ALLOWED_ADDRESSES_MAX, canonicalSubnet } from '../../shared/people/keys/allowed-addresses.ts';
import { type Bounds, boundsOf, excess, TEST_KEY_BOUNDS } from '../../shared/people/keys/bounds.ts';
import { descendantsOf, makerKey, narrowDescendants, revokeEach } from '../../shared/people/keys/descendants.ts';
import {
  isOperatorScope,
  KEY_SCOPES,
  type KeyDocument,
  OPERATOR_KEY_DAYS_MAX,
  REQUESTS_PER_MINUTE,
} from '../../shared/people/keys/key.ts';
import { formatKey, newKeyText } from '../../shared/people/keys/key-secret.ts';
import {
  createKey,
  findKey,
  isOver,
  KEY_STATES,
  type KeyChange,
  listKeyPage,
  narrowKey,
  OVERLAP_MS,
  revokeKey,
  rotateKey,
  updateKey,
} from '../../shared/people/keys/store.ts';
import { keyViews } from '../../shared/people/keys/view.ts';
import { AllPlacesTaken } from '../../shared/platform/mongo/places.ts';
import { type Command, defineCommand, Failure } from './command.ts';
import { existing } from './owners.ts';
import {
  accountId,
  choice,
  flag,
  instant,
  integer,
  list,
  name,
  optional,
  required,
  withDefault,
  words,
} from './parameters.ts';
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
const OPERATOR_KEY =
  'A key of operators has scopes of operators alone and no account. It always has --expires-at, at most 400 days ahead, and --allow-ip, with subnets of /8 or smaller.';
const ALLOW_NOTES =
  'Scopes: `send`, `read`, `otp` (the most urgent lane), `manage` (settings). Registering a chat-app webhook needs `manage`, or\n' +
  '`send` and `read`, because messages from customers are posted there. For operators, with all accounts at /v2/admin/…: `admin:read` (looks),\n' +
  '`admin:support` (accounts, users, approvals), `admin:money` (credits), `admin:routing` (carriers, routes, providers, numbers).\n' +
  `${OPERATOR_KEY} From an address outside --allow-ip the key is\n` +
  'refused (403 ip_not_allowed). Behind a proxy, set HARKARA_TRUST_PROXY: otherwise the proxy counts as the caller.';
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
      test: flag('a test key: what it sends leaves to nobody and costs nothing, and it sees tests alone'),
    },
    notes: ALLOW_NOTES,
    async run({ account, name, scopes, expiresAt, perMinute: rate, allowIp = [], test }, { db, clock }) {
      if (expiresAt !== undefined && expiresAt <= clock.now()) {
        throw new Failure(`--expires-at ${expiresAt.toISOString()} is in the past. Give a later time.`);
      }
      const isOperators = scopes.some(isOperatorScope);
      if (isOperators && (account !== undefined || !scopes.every(isOperatorScope))) {
        throw new Failure('A key with a scope of operators (admin:…) has no account and no other scope: give neither.');
      }
      if (!isOperators && account === undefined) throw new Failure('<account> is missing: the account of the key.');
      if (isOperators) checkOperatorKey({ expiresAt, allowedIps: allowIp }, clock.now());
      if (test && isOperators) throw new Failure('A key of operators is no test key.');
      const perMinute = rate ?? (test ? TEST_KEY_BOUNDS.perMinute : undefined);
      if (test) checkTestKey({ scopes, perMinute });
      const store = await db();
      if (account !== undefined) await existing(store, account);
      const made = await createKey(store, clock, {
        ...(account === undefined ? {} : { account }),
        ...(test && { test }),
        name,
        scopes,
        ...(expiresAt === undefined ? {} : { expiresAt }),
        ...(perMinute === undefined ? {} : { perMinute }),
        ...(allowIp.length === 0 ? {} : { allowedIps: allowIp }),
      }).catch(noPlace);
      return {
        text: `${made.key}\nKeep it now: only its hash is stored. To revoke it: npm run ops -- key revoke ${made.id}`,
        json: {
          id: made.id,
          key: made.key,
          account: account ?? null,
          test,
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
    about: 'Shows the keys of an account, or of operators, newest first, and when each was used last.',
    args: { account: optional(accountId, 'the account; without it the keys of operators') },
    options: {
      state: optional(choice(KEY_STATES), 'only those in this state'),
      limit: withDefault(integer('N', 1, 1_000), '50', 'most keys to show'),
      after: optional(
        words('KEY', 'the id of a key', /^[0-9a-z]{26}$/),
        'continue after this key, the last of the page before',
      ),
    },
    async run({ account, state, limit, after }, { db, clock }) {
      const store = await db();
      if (account !== undefined) await existing(store, account);
      const found = await listKeyPage(store, account, { state, now: clock.now(), after }, limit + 1);
      const shown = await keyViews(store, clock.now(), found.slice(0, limit));
      const more = found.length > limit ? `\nThere are more: --after ${shown.at(-1)?.id}` : '';
      const rows = shown.map((key) => [
        key.id,
        key.status,
        `${key.scopes.join(',')}${key.test ? ' (test)' : ''}`,
        key.created_at.toISOString(),
        key.expires_at?.toISOString() ?? 'never',
        key.last_used?.toISOString() ?? 'never',
        key.last_address ?? '-',
        String(key.requests_24h),
        key.name,
      ]);
      const heading = ['KEY', 'STATUS', 'SCOPES', 'CREATED', 'EXPIRES', 'LAST USED', 'FROM', 'IN 24 H', 'NAME'];
      return { text: `${table(heading, rows, 'It has no keys yet.')}${more}`, json: shown };
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
      const found = await existingKey(store, key);
      const [shown] = await keyViews(store, clock.now(), [found]);
      assert(shown !== undefined, 'one key in, one key out');
      const made = (await descendantsOf(store, found, clock.now())).map(({ _id }) => _id);
      const created_by = found.createdBy ?? null;
      const { scopes, allowed_ips, created_at, expires_at, last_used, last_address, ...plain } = shown;
      const text = sheet({
        ...plain,
        scopes: scopes.join(','),
        allowed_ips: allowed_ips?.join(',') ?? 'any',
        created_at: created_at.toISOString(),
        expires_at: expires_at?.toISOString() ?? 'never',
        last_used: last_used?.toISOString() ?? 'never',
        last_address: last_address ?? '-',
        made_by: created_by === null ? 'ops' : `${created_by.kind} ${created_by.id}`,
        made: made.join(',') || '-',
      });
      return { text, json: { ...shown, created_by, descendants: made } };
    },
  }),
  defineCommand({
    noun: 'key',
    verb: 'update',
    about: 'Changes what a key may do. It takes effect within 5 seconds.',
    args: { key },
    options: {
      name: optional(name, NAME_ABOUT),
      scopes: optional(list('SCOPES', KEY_SCOPES), SCOPES_ABOUT),
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
      const seen = await existingKey(store, key);
      if (seen.status === 'revoked') throw new Failure(`${key} is revoked for good: create a new key.`);
      if (scopes?.some((scope) => isOperatorScope(scope) !== (seen.account === undefined))) {
        throw new Failure(
          `${key} is ${seen.account === undefined ? 'a key of operators: give scopes of operators (admin:…)' : 'a key of an account: give no scope of operators (admin:…)'}.`,
        );
      }
      if (seen.account === undefined) {
        checkOperatorKey({ expiresAt: seen.expiresAt, allowedIps: allowIp ?? seen.allowedIps }, clock.now());
      }
      if (seen.test) checkTestKey({ ...boundsOf(seen), ...change });
      await checkMaker(store, seen, change);
      const changed = await updateKey(store, seen, change);
      if (changed === undefined) throw new Failure(`${key} was changed at the same moment: look at it, then repeat.`);
      const narrowed: string[] = [];
      await narrowDescendants(store, changed, clock, async ({ _id }) => {
        if ((await narrowKey(store, _id, boundsOf(changed))) !== undefined) narrowed.push(_id);
      });
      const [shown] = await keyViews(store, clock.now(), [changed]);
      const also = narrowed.length === 0 ? '' : ` Keys that it made are narrowed with it: ${narrowed.join(', ')}.`;
      return { text: `Key ${key} is updated: ${givenOptions(given)}.${also}`, json: { ...shown, narrowed } };
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
      if (old.account === undefined) {
        checkOperatorKey({ expiresAt: expiresAt ?? old.expiresAt, allowedIps: old.allowedIps }, now);
      }
      const text = newKeyText(now.getTime());
      const made = await rotateKey(store, clock, old, { until, expiresAt }, text).catch(noPlace);
      if (made === undefined) throw new Failure(`${key} was changed just now: \`key list <account>\` shows it.`);
      await narrowDescendants(store, made, clock, ({ _id }) => narrowKey(store, _id, boundsOf(made)));
      const ends = old.expiresAt !== undefined && old.expiresAt < until ? old.expiresAt : until;
      const end = made.expiresAt === undefined ? '' : ` The new key works until ${made.expiresAt.toISOString()}.`;
      return {
        text: `${formatKey(text, made.test)}\nKeep it now: only its hash is stored. ${key} works until ${ends.toISOString()}.${end}`,
        json: { id: made._id, key: formatKey(text, made.test), replaces: key, old_expires_at: ends },
      };
    },
  }),
  defineCommand({
    noun: 'key',
    verb: 'revoke',
    about: 'Revokes a key for good. It is refused within 5 seconds.',
    args: { key },
    options: { descendants: flag('also revokes the keys that it made, and those that they made') },
    async run({ key, descendants }, { db, clock }) {
      const store = await db();
      const seen = await existingKey(store, key);
      await revokeKey(store, key);
      const find = () => descendantsOf(store, seen, clock.now());
      const made = descendants ? await revokeEach(find, ({ _id }) => revokeKey(store, _id)) : await find();
      const named = made.map(({ _id, name }) => `${_id} (${name})`).join(', ');
      const also = descendants
        ? ` So are the keys that it made: ${named}.`
        : ` The keys that it made still work: ${named}. With --descendants they are revoked too.`;
      return {
        text: `Key ${key} is revoked.${made.length === 0 ? '' : also}`,
        json: {
          id: key,
          status: 'revoked',
          descendants: made.map(({ _id, name }) => ({ id: _id, name, status: descendants ? 'revoked' : 'active' })),
        },
      };
    },
  }),
];

function noPlace(error: unknown): never {
  if (!(error instanceof AllPlacesTaken)) throw error;
  throw new Failure(`There are ${error.most} keys that work already: \`key revoke\` one that is not used.`, {
    cause: error,
  });
}

async function existingKey(db: Db, id: string): Promise<KeyDocument> {
  const found = await findKey(db, id);
  if (found === undefined) throw new Failure(`There is no key ${id}: \`key list <account>\` shows them.`);
  return found;
}

const DAY_MS = 24 * 3_600_000;

/** Larger subnets are no place of one's own: two of /1 are all addresses. */
const PREFIX_MIN = 8;

/** A key of operators reaches all accounts: a stolen one must end, and serve nobody elsewhere. */
function checkOperatorKey({ expiresAt, allowedIps = [] }: Pick<Bounds, 'expiresAt' | 'allowedIps'>, now: Date): void {
  const last = new Date(now.getTime() + OPERATOR_KEY_DAYS_MAX * DAY_MS);
  if (expiresAt === undefined) throw new Failure(`--expires-at is missing. ${OPERATOR_KEY}`);
  if (expiresAt > last) throw new Failure(`--expires-at may be at most ${last.toISOString()}. ${OPERATOR_KEY}`);
  if (allowedIps.length === 0) throw new Failure(`--allow-ip is missing. ${OPERATOR_KEY}`);
  if (allowedIps.some((subnet) => Number(subnet.split('/')[1] ?? PREFIX_MIN) < PREFIX_MIN)) {
    throw new Failure(`--allow-ip must have no subnet larger than /${PREFIX_MIN}. ${OPERATOR_KEY}`);
  }
}

/** Throws if a test key may not have these. */
function checkTestKey({ scopes, perMinute }: Pick<Bounds, 'scopes' | 'perMinute'>): void {
  if (excess({ scopes, perMinute }, TEST_KEY_BOUNDS).length === 0) return;
  throw new Failure(
    `A test key may have the scopes ${TEST_KEY_BOUNDS.scopes.join(', ')} and ${TEST_KEY_BOUNDS.perMinute} requests a minute at most.`,
  );
}

/** A key reaches no farther than the one that made it, whoever changes it. */
async function checkMaker(db: Db, key: KeyDocument, { allowedIps, ...change }: KeyChange): Promise<void> {
  const maker = await makerKey(db, key);
  if (maker === undefined) return;
  const bound = boundsOf(maker);
  const addresses = allowedIps === undefined ? {} : { allowedIps: allowedIps.length === 0 ? undefined : allowedIps };
  const beyond = excess({ ...bound, ...change, ...addresses }, bound);
  if (beyond.length === 0) return;
  const options = {
    scopes: '--scopes',
    expiresAt: '--expires-at',
    perMinute: '--per-minute',
    allowedIps: '--allow-ip',
  };
  throw new Failure(
    `${beyond.map((field) => options[field]).join(' and ')} would reach farther than ${maker._id}, which made the key. \`key show ${maker._id}\` tells how far that is: change that one first, or create another key.`,
  );
}
