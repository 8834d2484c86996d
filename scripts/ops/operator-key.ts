import { ALLOWED_ADDRESSES_MAX, canonicalSubnet } from '../../shared/people/keys/allowed-addresses.ts';
import { OPERATOR_KEY_DAYS_MAX, OPERATOR_SCOPES } from '../../shared/people/keys/key.ts';
import { keyViews } from '../../shared/people/keys/key-use.ts';
import { createKey, findKey, listKeyPage, revokeKey } from '../../shared/people/keys/store.ts';
import { AllPlacesTaken } from '../../shared/platform/mongo/places.ts';
import { listText } from './answer-text.ts';
import { type Command, defineCommand, Failure } from './command.ts';
import { instant, list, name, required, words } from './parameters.ts';

/** Keys of operators are made on the machine alone: a key reaches no farther than its maker, and these reach all accounts. */

const DAY_MS = 24 * 3_600_000;
/** Larger subnets are no place of one's own: two of /1 are all addresses. */
const PREFIX_MIN = 8;

/** A stolen key must serve nobody elsewhere. */
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
