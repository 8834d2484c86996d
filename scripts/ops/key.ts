import { type KeyDocument, type KeyScope, REQUESTS_PER_MINUTE } from '../../shared/keys/key.ts';
import { createKey, findKey, listKeys, revokeKey } from '../../shared/keys/store.ts';
import { existing } from './account.ts';
import { type Command, defineCommand, Failure } from './command.ts';
import { accountId, instant, integer, list, name, optional, required, withDefault, words } from './parameters.ts';
import { table } from './show.ts';

const SCOPES = ['send', 'read', 'otp'] as const satisfies readonly KeyScope[];
const account = required(accountId, 'the account');

export const KEY_COMMANDS: readonly Command[] = [
  defineCommand({
    noun: 'key',
    verb: 'create',
    about: 'Creates an API key and shows it, this once.',
    args: { account },
    options: {
      name: required(name, 'what tells it from the other keys'),
      scopes: withDefault(list('SCOPES', SCOPES), 'send,read', 'what it may do'),
      expiresAt: optional(instant, 'when it stops working; never, unless given'),
      perMinute: optional(
        integer('N', 1, 1_000_000_000),
        `requests a minute it may make; ${REQUESTS_PER_MINUTE}, unless given`,
      ),
    },
    async run({ account, name, scopes, expiresAt, perMinute }, { db, clock }) {
      if (expiresAt !== undefined && expiresAt <= clock.now()) {
        throw new Failure(`--expires-at ${expiresAt.toISOString()} is over already: name a later time.`);
      }
      const store = await db();
      await existing(store, account);
      const made = await createKey(store, clock, {
        account,
        name,
        scopes,
        ...(expiresAt === undefined ? {} : { expiresAt }),
        ...(perMinute === undefined ? {} : { perMinute }),
      });
      return {
        text: `${made.key}\nKeep it now: only its hash is stored. To take it back: npm run ops -- key revoke ${made.id}`,
        json: {
          id: made.id,
          key: made.key,
          account,
          name,
          scopes,
          expires_at: expiresAt ?? null,
          per_minute: perMinute ?? REQUESTS_PER_MINUTE,
        },
      };
    },
  }),
  defineCommand({
    noun: 'key',
    verb: 'list',
    about: 'Shows the keys of an account, oldest first.',
    args: { account },
    options: {},
    async run({ account }, { db, clock }) {
      const store = await db();
      await existing(store, account);
      const all = await listKeys(store, account);
      const state = (key: KeyDocument) =>
        key.status === 'active' && key.expiresAt !== undefined && key.expiresAt <= clock.now() ? 'expired' : key.status;
      const rows = all.map((key) => [
        key._id,
        state(key),
        key.scopes.join(','),
        key.createdAt.toISOString(),
        key.expiresAt?.toISOString() ?? 'never',
        key.name,
      ]);
      return {
        text: table(['KEY', 'STATUS', 'SCOPES', 'CREATED', 'EXPIRES', 'NAME'], rows, 'It has no keys yet.'),
        json: all.map((key) => ({
          id: key._id,
          status: state(key),
          scopes: key.scopes,
          name: key.name,
          created_at: key.createdAt,
          expires_at: key.expiresAt ?? null,
          per_minute: key.perMinute ?? REQUESTS_PER_MINUTE,
        })),
      };
    },
  }),
  defineCommand({
    noun: 'key',
    verb: 'revoke',
    about: 'Revokes a key for good; it is refused within 5 seconds.',
    args: {
      key: required(words('KEY', 'the id of a key, as `key list` shows it', /^[0-9a-z]{1,40}$/), 'its id, not the key'),
    },
    options: {},
    async run({ key }, { db }) {
      const store = await db();
      if ((await findKey(store, key)) === undefined) {
        throw new Failure(`There is no key ${key}: \`key list <account>\` shows them.`);
      }
      await revokeKey(store, key);
      return { text: `Key ${key} is revoked.`, json: { id: key, status: 'revoked' } };
    },
  }),
];
