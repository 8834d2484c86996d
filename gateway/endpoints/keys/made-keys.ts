import type { Db } from 'mongodb';
import { z } from 'zod';
import { boundsOf, excess, type KeyDocument, type KeyScope, lineOf } from '../../../shared/people/keys/key.ts';
import { isExpired } from '../../../shared/people/keys/key-use.ts';
import {
  findKeys,
  KEY_STATES,
  listLiveKeys,
  narrowKey,
  newestOfLine,
  revokeKey,
} from '../../../shared/people/keys/store.ts';
import type { UserDocument } from '../../../shared/people/users/user.ts';
import type { Clock } from '../../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import type { Shown } from '../../api/endpoint.ts';
import { named, text } from '../../api/shapes.ts';
import { changeAudited } from '../../http/audited.ts';
import type { Requester } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { choice, optional } from '../../http/fields/field.ts';
import type { Problem } from '../../http/idempotency/action.ts';

/** Keys made by a key or a user, and what becomes of them. */

export const KEY_FATES = ['keep', 'revoke'] as const;
type KeyFate = (typeof KEY_FATES)[number];

export const MadeKey = named('MadeKey', 'A key that another key, or a user, made.', {
  key_id: text('Public part of the key; no secret.', {
    pattern: '^[0-9a-z]{26}$',
    example: '01m7zsz3m0hdb5pft3awkb6pgw',
  }),
  name: text('For people, to tell keys apart.', { example: 'till 3' }),
  state: z.enum(KEY_STATES).meta({ description: '`expired`: its time is over. `revoked`: for good.' }),
});

export function madeRecord(key: KeyDocument, now: Date): Shown<typeof MadeKey> {
  return { key_id: key._id, name: key.name, state: isExpired(key, now) ? 'expired' : key.status };
}
type Deps = Pick<GatewayDeps, 'db' | 'clock' | 'config'>;

/** For requests that take rights from a user: what becomes of keys that the user could no longer make. */
export const keysOfTheUser = optional(
  choice(
    KEY_FATES,
    'What becomes of the keys that the user made, and of those that these made. Needed when there are any.',
  ),
);

/** Keys that outlive their maker's right to make them, and what to do with them. */
interface LeftKeys {
  readonly user: UserDocument;
  /** What the user may grant afterwards: nothing, if disabled or gone. */
  readonly keeps: readonly string[];
  readonly fate: KeyFate | undefined;
}

/** Asks what to do with the keys if the request does not say. Called before the user is changed. */
export async function askAboutKeys(deps: Deps, left: LeftKeys): Promise<Problem | undefined> {
  if (left.fate !== undefined) return undefined;
  const found = await leftKeys(deps, left);
  if (found.length === 0) return undefined;
  const named = found.map(({ _id, name }) => `${_id} (${name})`).join(', ');
  const detail = `${left.user.username} made keys that work: ${named}. Say with \`keys\` what becomes of them: \`revoke\`, or \`keep\`.`;
  return ['user_has_keys', { detail }];
}

/** Called after the user's change: revokes the keys if asked to. Returns what the answer says of them. */
export async function settleKeys(deps: Deps, requester: Requester, left: LeftKeys): Promise<object> {
  const find = () => leftKeys(deps, left);
  const found = left.fate === 'revoke' ? await revokeAudited(deps, requester, find) : await find();
  const now = deps.clock.now();
  return found.length === 0 ? {} : { keys: found.map((key) => madeRecord(key, now)) };
}

async function leftKeys({ db, clock }: Deps, { user, keeps }: LeftKeys): Promise<readonly KeyDocument[]> {
  const { _id, account } = user;
  if (account === undefined) return [];
  const made = await keysOfUser(db, { account, user: _id }, clock.now());
  const may = (scope: KeyScope) => keeps.includes(scope);
  return made.filter(({ scopes }) => !(keeps.includes('manage') && scopes.every(may)));
}

export function changeKey(
  deps: Deps,
  requester: Requester,
  key: KeyDocument,
  action: string,
  change: () => Promise<KeyDocument | undefined>,
  apart = '',
): Promise<KeyDocument | undefined> {
  return changeAudited(deps, requester, {
    action,
    apart,
    subject: { kind: 'key', id: key._id },
    ...(key.account && { account: key.account }),
    read: async () => key,
    make: change,
    madeOf: (made) => made,
  });
}

/** Narrows the keys that this one made, directly or not, to its bounds. Returns the live ones, as they are now. */
export async function narrowMade(deps: Deps, requester: Requester, key: KeyDocument): Promise<readonly KeyDocument[]> {
  const { db, clock } = deps;
  const made = await narrowDescendants(db, key, clock, (one) =>
    changeKey(deps, requester, one, 'key.narrow', () => narrowKey(db, one._id, boundsOf(key))),
  );
  return asTheyAre(deps, made);
}

/** Revokes what `find` finds until it finds nothing. Returns the keys. */
export async function revokeAudited(
  deps: Deps,
  requester: Requester,
  find: () => Promise<readonly KeyDocument[]>,
): Promise<readonly KeyDocument[]> {
  const revoke = (key: KeyDocument) => changeKey(deps, requester, key, 'key.revoke', () => revokeKey(deps.db, key._id));
  return asTheyAre(deps, await revokeEach(find, revoke));
}

async function asTheyAre({ db }: Deps, keys: readonly KeyDocument[]): Promise<readonly KeyDocument[]> {
  const ids = keys.map(({ _id }) => _id);
  const now = new Map((await findKeys(db, ids)).map((key) => [key._id, key]));
  return keys.map((key) => now.get(key._id) ?? key);
}

/** Live keys made, directly or not, by this key or by one that it replaced. Oldest first. */
export async function descendantsOf(db: Db, key: KeyDocument, now: Date): Promise<readonly KeyDocument[]> {
  const live = await listLiveKeys(db, key.account, now);
  return live.filter((one) => (one.makers ?? []).includes(lineOf(key)) && !isOrWasReplaced(one, key));
}

/** Whether it is the key or one that it replaced, judged by the ids: later keys have greater ones. */
function isOrWasReplaced(one: KeyDocument, key: KeyDocument): boolean {
  return lineOf(one) === lineOf(key) && one._id <= key._id;
}

/** Live keys that a user made, directly or not. Oldest first. */
async function keysOfUser(
  db: Db,
  { account, user }: { readonly account: AccountId; readonly user: string },
  now: Date,
): Promise<readonly KeyDocument[]> {
  const live = await listLiveKeys(db, account, now);
  return live.filter(({ makers = [] }) => makers.includes(user));
}

/** Repeats until `find` finds nothing, because a key may make another meanwhile. Returns the keys before. */
async function revokeEach(
  find: () => Promise<readonly KeyDocument[]>,
  revoke: (key: KeyDocument) => Promise<unknown>,
): Promise<readonly KeyDocument[]> {
  const done: KeyDocument[] = [];
  for (let found = await find(); found.length > 0; found = await find()) {
    for (const key of found) await revoke(key);
    done.push(...found);
  }
  return done;
}

/**
 * Narrows the keys that this one made, directly or not, until all are within its bounds: one not yet narrowed may make
 * another. Returns the keys as they were.
 */
export async function narrowDescendants(
  db: Db,
  key: KeyDocument,
  clock: Clock,
  narrow: (made: KeyDocument) => Promise<unknown>,
): Promise<readonly KeyDocument[]> {
  const found = () => descendantsOf(db, key, clock.now());
  const made = new Map((await found()).map((one) => [one._id, one]));
  const isOutside = (one: KeyDocument) => excess(boundsOf(one), boundsOf(key)).length > 0;
  for (let outside = [...made.values()].filter(isOutside); outside.length > 0; ) {
    for (const one of outside) await narrow(one);
    outside = (await found()).filter(isOutside);
    for (const one of outside) made.set(one._id, one);
  }
  return [...made.values()];
}

/** The key that made this one (or that one's newest replacement); a key that replaced itself keeps its maker. */
export async function makerKey(db: Db, key: KeyDocument): Promise<KeyDocument | undefined> {
  const maker = key.makers?.find((id) => id !== lineOf(key));
  return maker === undefined ? undefined : newestOfLine(db, key.account, maker);
}
