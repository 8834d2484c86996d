import { z } from 'zod';
import { ALLOWED_ADDRESSES_MAX, canonicalSubnet } from '../../../shared/people/keys/allowed-addresses.ts';
import {
  ACCOUNT_KEY_SCOPES,
  BOUND_FIELDS,
  type Bounds,
  boundsOf,
  formatKey,
  isOperatorScope,
  type KeyDocument,
  type KeyText,
  keyPrefix,
  lineOf,
  newKeyText,
  parseKey,
  REQUESTS_PER_MINUTE,
  TEST_KEY_BOUNDS,
} from '../../../shared/people/keys/key.ts';
import { keyViews } from '../../../shared/people/keys/key-use.ts';
import {
  findOwnKey,
  insertKey,
  isOver,
  KEY_STATES,
  listKeyPage,
  MakerChanged,
  narrowKey,
  OVERLAP_MS,
  type Rotation,
  retireReplaced,
  revokeKey,
  rotateKey as rotate,
  updateKey as update,
} from '../../../shared/people/keys/store.ts';
import { AllPlacesTaken } from '../../../shared/platform/mongo/places.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import { done, endpoint, invalid, refused, type Shown } from '../../api/endpoint.ts';
import { flag, named, pageShape, success, text, whole } from '../../api/shapes.ts';
import { changeAudited } from '../../http/audited.ts';
import type { Caller } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import {
  boolean,
  choice,
  Fault,
  type Kind,
  list,
  number,
  optional,
  required,
  string,
  withDefault,
} from '../../http/fields/field.ts';
import { ONE_LINE } from '../../http/fields/message-fields.ts';
import { cursorOf, limit, pageOf, readsPer } from '../../http/fields/query.ts';
import { type Given, request } from '../../http/fields/request.ts';
import { laterTime } from '../../http/fields/times.ts';
import { type Accepted, type Problem, type Refused, refusedLate } from '../../http/idempotency/action.ts';
import {
  beyondCaller,
  checkBounds,
  checkRate,
  isProblem,
  lackingScopes,
  type Reach,
  reachOf,
  tooFarDown,
} from './authority.ts';
import {
  changeKey,
  descendantsOf,
  KEY_FATES,
  MadeKey,
  madeRecord,
  makerKey,
  narrowMade,
  revokeAudited,
} from './made-keys.ts';

/** An account's API keys. What a key may be granted: authority.ts. */

type Deps = Pick<GatewayDeps, 'db' | 'clock' | 'config' | 'box'>;

const KeyId = MadeKey.shape.key_id.meta({ example: '01m7znjn7hdb5pft3awkb6pgvz' });
const IN_PATH = {
  key_id: KeyId.meta({ description: 'Id of the key, from the list.', example: '01m7znjn7hdb5pft3awkb6pgvz' }),
};
const dateTime = (description?: string, example?: string) =>
  text(description, { format: 'date-time', ...defined({ example }) });

const Key = named('Key', 'An API key without its secret.', {
  key_id: KeyId,
  prefix: text('What the key begins with.', { example: 'hk_live_01m7znjn7hdb5pft3awkb6pgvz' }),
  test: flag('A test key: what it sends is a test, and it sees tests alone.'),
  state: MadeKey.shape.state,
  scopes: z.array(z.enum(ACCOUNT_KEY_SCOPES)).meta({
    description:
      '`send`: send messages. `read`: read messages, lists, the balance. `otp`: also the most urgent priority. `manage`: change settings of the account.',
    example: ['send', 'read'],
  }),
  name: text('For people, to tell keys apart.', { example: 'shop server' }),
  per_minute: whole('Requests a minute that it may make.', { example: 1000 }),
  allowed_ips: z
    .array(text())
    .meta({
      description: 'The only addresses and subnets that it may be used from. Null: all.',
      example: ['203.0.113.0/24'],
    })
    .nullable(),
  last_address: text('Where it was used from last.', { example: '203.0.113.7' }).nullable(),
  requests_24h: whole('Requests in the current hour and the 23 before it.', { example: 1280 }),
  created_at: dateTime(undefined, '2026-11-22T10:00:00+00:00'),
  created_by: z
    .strictObject({
      kind: z.enum(['key', 'user']).meta({ example: 'user' }),
      id: text(undefined, { example: 'usr_01m7znjn7hdb5pft3awkb6pgvz' }),
      name: text('Name of the user.', { example: 'Asha' }).nullable(),
    })
    .meta({ description: 'The key or user that made it. Null: your service provider.' })
    .nullable(),
  expires_at: dateTime('When it stops working. Null: never.').nullable(),
  last_used: dateTime('To the minute; gateways report it once a minute.', '2026-11-22T18:04:00+00:00').nullable(),
  rotated_from: text('The key that it replaces.').nullable(),
  rotated_to: text('The key that replaces it.').nullable(),
});

const KeyDetail = named('KeyDetail', {
  ...Key.shape,
  descendants: z.array(MadeKey).meta({
    description: 'The keys that it made and that work, and those that these made. After a change: as they are now.',
  }),
});

const CreatedKey = success('CreatedKey', {
  key: text('The whole key, for `Authorization: Bearer`. In this answer only: store it now.', {
    pattern: '^hk_(live|test)_',
    example: 'hk_live_01m7znjn7hdb5pft3awkb6pgvz_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef',
  }),
  ...Key.shape,
  last_address: text('Where it was used from last.').nullable(),
  requests_24h: whole('Requests in the current hour and the 23 before it.'),
  last_used: dateTime('To the minute; gateways report it once a minute.').nullable(),
});

export const keys = endpoint({
  id: 'keys',
  call: 'keys.list',
  method: 'get',
  path: '/v2/account/keys',
  tag: 'Account',
  summary: 'API keys',
  description:
    'Extension. Keys of the account, newest first, with when, from where and how often each was used. A page counts as one request for each 100 of `limit`.',
  scopes: ['read', 'manage'],
  query: {
    state: optional(choice(KEY_STATES, 'Only keys of this state.')),
    limit,
    cursor: cursorOf('keys', isKeyId),
  },
  reads: readsPer(100),
  answer: pageShape('KeyPage', Key, 'Keys, newest first.'),
  async handle(deps, { caller, query: { state, limit, cursor } }) {
    const wanted = { state, now: deps.clock.now(), after: cursor };
    const found = await listKeyPage(deps.db, caller.account._id, wanted, limit + 1);
    const page = found.slice(0, limit);
    return pageOf('keys', await keyRecords(deps, page), found.length > limit ? page.at(-1)?._id : undefined);
  },
});

function isKeyId(text: string): text is string {
  return /^[0-9a-z]{26}$/.test(text);
}

export const showKey = endpoint({
  id: 'showKey',
  call: 'keys.get',
  method: 'get',
  path: '/v2/account/keys/{key_id}',
  tag: 'Account',
  summary: 'One API key',
  description: 'Extension. With when, from where and how often it was used, and the keys that it made.',
  scopes: ['read', 'manage'],
  params: IN_PATH,
  answer: KeyDetail,
  problems: ['key_not_found'],
  async handle(deps, { caller, params }) {
    const key = await findOwnKey(deps.db, caller.account._id, params.key_id);
    if (key === undefined) return refused('key_not_found');
    return keyDetail(deps, key, await descendantsOf(deps.db, key, deps.clock.now()));
  },
});

const NAME_MAX = 100;

const name: Kind<string> = string(
  { description: 'A name for people, to tell keys apart.', minLength: 1, maxLength: NAME_MAX, pattern: ONE_LINE },
  (text) => {
    if (text.trim() === '') return new Fault('too_short', 'It must have at least one character that is not a space.');
    if (text.length > NAME_MAX) return new Fault('too_long', `It may have at most ${NAME_MAX} characters.`);
    // Control characters could control a terminal that shows the text.
    if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text)) return new Fault('invalid_text', 'It must not have control characters.');
    return text.trim();
  },
);

const scopes = list(choice(ACCOUNT_KEY_SCOPES), {
  description: 'What the key may do. Only scopes that the caller has itself.',
  minItems: 1,
});

/** The account's maximum may be lower: see `checkRate` (authority.ts). */
const RATE = {
  description:
    'Requests a minute that the key may make. When a key makes it, these count for that one too: both, and all that it makes, share its rate.',
  minimum: 1,
  maximum: 1_000_000_000,
  type: 'integer',
};

const perMinute = number(RATE);

const allowedIps = list(
  string(
    { description: 'An address or a subnet, such as 203.0.113.7, 198.51.100.0/24 or 2001:db8::/48.', maxLength: 50 },
    (text) =>
      canonicalSubnet(text) ??
      new Fault('invalid_value', 'It must be an address or a subnet, such as 203.0.113.7 or 198.51.100.0/24.'),
  ),
  {
    description: 'The only addresses that the key may be used from. An empty list allows all.',
    minItems: 0,
    maxItems: ALLOWED_ADDRESSES_MAX,
  },
);

const NEW_KEY = {
  name: required(name),
  scopes: required(scopes),
  expires_at: optional(
    laterTime('When it stops working, not after the key that makes it. Without it: when that one does, else never.'),
  ),
  per_minute: optional(perMinute),
  allowed_ips: optional(allowedIps),
  test: withDefault(
    boolean(
      'A test key: what it sends goes to no carrier or provider and costs nothing, and it sees tests alone. It has at most the scopes `send`, `read` and `otp`, and all test keys of an account together make 100 requests a minute.',
    ),
    false,
  ),
};

/** A new key counts as this many requests, which allows 20 a minute. */
const NEW_KEY_COST = 50;

export const createKey = endpoint({
  id: 'createKey',
  call: 'keys.create',
  method: 'post',
  path: '/v2/account/keys',
  tag: 'Account',
  summary: 'Create an API key',
  description:
    'Extension. The answer has the whole key, this once. A key reaches no farther than who makes it: you can give only scopes that you have yourself, and a key that makes another one also gives no later end, no higher rate and no other addresses than its own. What you leave out is as far as yours: the answer shows it. What goes beyond is refused, with the field and the bound. An account may have 50 keys that work. Counts as 50 requests.',
  scopes: ['manage'],
  confirmed: true,
  costs: NEW_KEY_COST,
  body: request(NEW_KEY),
  ownProblems: true,
  answer: CreatedKey,
  problems: ['too_many_keys', 'key_beyond_caller', 'key_changed'],
  examples: { body: { server: { name: 'shop server', scopes: ['manage'] } } },
  newId: (deps, account) => newSealedText(deps, account),
  action: (deps) => ({
    async act({ caller, read, body }, { id, payBy }) {
      const { db, clock } = deps;
      const account = caller.account._id;
      const reach = await reachOf(deps, caller);
      if (isProblem(reach)) return refusal(reach);
      const far = tooFarDown(reach);
      if (far !== undefined) return refusal(far);
      const wanted = boundsWanted(read.given, reach.bounds);
      checkBounds({ ...wanted, scopes: [] }, reach.bounds, 'the key that asks', read.problems);
      if (body.test) checkBounds(wanted, TEST_KEY_BOUNDS, 'a test key may', read.problems);
      await checkRate(deps, caller, { wanted: read.given.per_minute }, read.problems);
      if (read.problems.count > 0) return invalid(read.problems);
      const lacking = wanted.scopes.filter((scope) => !reach.bounds.scopes.includes(scope));
      if (lacking.length > 0) return refusal(lackingScopes(lacking));
      const late = refusedLate(clock, payBy);
      if (late !== undefined) return late;
      const text = openText(deps, account, id);
      const made = await changeAudited(deps, caller, {
        action: 'key.create',
        subject: { kind: 'key', id: text.id },
        make: () =>
          insertKey(
            db,
            clock,
            { account, ...(body.test && { test: true }), name: body.name, ...wanted, maker: reach.maker },
            text,
          ),
        madeOf: (key) => key,
        isRefusal: isNotMade,
      }).catch(notMade);
      return 'kind' in made ? made : createdAnswer(deps, made, text);
    },
    async recover(account, id) {
      const text = openText(deps, account, id);
      const made = await findOwnKey(deps.db, account, text.id);
      return made && createdAnswer(deps, made, text);
    },
    refuseReplay: (caller, id) => refuseText(deps, caller, id),
  }),
});

function refusal(problem: Problem): Refused {
  return { kind: 'refused', problem };
}

/** The requested bounds. What is left out becomes the maker's; the rate at most the usual one. */
function boundsWanted(
  { scopes = [], expires_at, per_minute, allowed_ips, test }: Given<typeof NEW_KEY>,
  maker: Bounds,
): Bounds {
  const usual = (test && TEST_KEY_BOUNDS.perMinute) || REQUESTS_PER_MINUTE;
  const most = Math.min(maker.perMinute ?? usual, usual);
  const addresses = allowed_ips === undefined ? maker.allowedIps : [...new Set(allowed_ips)];
  return {
    scopes: [...new Set(scopes)],
    expiresAt: expires_at ?? maker.expiresAt,
    perMinute: per_minute ?? (most < REQUESTS_PER_MINUTE ? most : undefined),
    allowedIps: addresses?.length === 0 ? undefined : addresses,
  };
}

/** A repeated request gets the key's text again, so its caller must have all that the key has, as its maker had. */
async function refuseText(deps: Deps, caller: Caller, id: SealedText): Promise<Problem | undefined> {
  const account = caller.account._id;
  const made = await findOwnKey(deps.db, account, openText(deps, account, id).id);
  if (made === undefined) return ['key_not_found', {}];
  const reach = await reachOf(deps, caller);
  return isProblem(reach) ? reach : beyondCaller(boundsOf(made), reach.bounds);
}

/** Encrypted in the store, because it has the key's text. */
async function createdAnswer(deps: Deps, made: KeyDocument, text: KeyText): Promise<Accepted> {
  const key = formatKey(text, made.test);
  const body: Shown<typeof CreatedKey> = done({ key, ...(await keyRecord(deps, made)) });
  return { kind: 'accepted', sealed: true, body };
}

function isNotMade(error: unknown): boolean {
  return error instanceof AllPlacesTaken || error instanceof MakerChanged;
}

function notMade(error: unknown): Refused {
  if (error instanceof AllPlacesTaken) return refused('too_many_keys');
  if (error instanceof MakerChanged) return refused('key_changed');
  throw error;
}

/**
 * Gateways see the change within 4 s. The key exceeds the bounds of neither the caller nor its maker; the keys that it
 * made are narrowed with it.
 */
export const updateKey = endpoint({
  id: 'updateKey',
  call: 'keys.update',
  method: 'patch',
  path: '/v2/account/keys/{key_id}',
  tag: 'Account',
  summary: 'Change an API key',
  description:
    'Extension. What is left out stays. It takes effect within some seconds. Your own key must reach as far as the key (scopes, end, rate, addresses), before and after the change, and so must the key that made it. The keys that it made are narrowed with it: `descendants` lists them; one of which nothing is left is revoked.',
  scopes: ['manage'],
  confirmed: true,
  params: IN_PATH,
  body: request({
    name: optional(name),
    scopes: optional(scopes),
    per_minute: optional(perMinute),
    allowed_ips: optional(allowedIps),
  }),
  ownProblems: true,
  answer: KeyDetail,
  problems: ['key_not_found', 'key_not_active', 'key_beyond_caller', 'key_changed'],
  examples: { body: { addresses: { allowed_ips: ['203.0.113.0/24'] } } },
  async handle(deps, { caller, params, read }) {
    const { db } = deps;
    const key = await findOwnKey(db, caller.account._id, params.key_id);
    if (key === undefined) return refused('key_not_found');
    const reach = await reachOf(deps, caller);
    if (isProblem(reach)) return refusal(reach);
    const { name, scopes, per_minute, allowed_ips } = read.given;
    const change = {
      ...defined({ name }),
      ...(scopes === undefined ? {} : { scopes: [...new Set(scopes)] }),
      ...defined({ perMinute: per_minute }),
      ...(allowed_ips === undefined ? {} : { allowedIps: [...new Set(allowed_ips)] }),
    };
    const wanted = { ...boundsOf(key), ...change, ...(allowed_ips?.length === 0 && { allowedIps: undefined }) };
    const lacking = wanted.scopes.filter((scope) => !reach.bounds.scopes.includes(scope));
    const beyond =
      beyondCaller(boundsOf(key), reach.bounds) ?? (lacking.length > 0 ? lackingScopes(lacking) : undefined);
    const maker = await makerKey(db, key);
    if (beyond === undefined) {
      const given = BOUND_FIELDS.filter((field) => field in change);
      checkBounds(wanted, reach.bounds, 'the key that asks', read.problems, given);
      if (maker !== undefined)
        checkBounds(wanted, boundsOf(maker), `${maker._id}, which made it`, read.problems, given);
      if (key.test) checkBounds(wanted, TEST_KEY_BOUNDS, 'a test key may', read.problems, given);
      await checkRate(deps, caller, { wanted: per_minute, current: key.perMinute }, read.problems);
    }
    if (read.problems.count > 0) return invalid(read.problems);
    if (key.status === 'revoked') return refused('key_not_active');
    if (beyond !== undefined) return refusal(beyond);
    const apart = JSON.stringify([change.scopes?.toSorted(), change.allowedIps?.length === 0]);
    const changed = await changeKey(deps, caller, key, 'key.update', () => update(db, key, change), apart);
    if (changed === undefined) return refused('key_changed');
    // The maker may have been narrowed meanwhile.
    const now = (maker && (await narrowKey(db, key._id, boundsOf((await makerKey(db, key)) ?? maker)))) ?? changed;
    return keyDetail(deps, now, await narrowMade(deps, caller, now));
  },
});

export const revoke = endpoint({
  id: 'revokeKey',
  call: 'keys.revoke',
  method: 'delete',
  path: '/v2/account/keys/{key_id}',
  tag: 'Account',
  summary: 'Revoke an API key',
  description:
    'Extension. For good; it is refused within some seconds. Your own key must reach as far as the key (scopes, end, rate, addresses). `descendants` lists the keys that it made and that still work, and those that these made; with `descendants=revoke` they are revoked too.',
  scopes: ['manage'],
  params: IN_PATH,
  query: {
    descendants: withDefault(
      choice(KEY_FATES, 'What becomes of the keys that it made, and of those that these made.'),
      'keep',
    ),
  },
  answer: KeyDetail,
  problems: ['key_beyond_caller', 'key_not_found'],
  async handle(deps, { caller, params, query }) {
    const { db, clock } = deps;
    const key = await findOwnKey(db, caller.account._id, params.key_id);
    if (key === undefined) return refused('key_not_found');
    const reach = await reachOf(deps, caller);
    const beyond = isProblem(reach) ? reach : beyondCaller(boundsOf(key), reach.bounds);
    if (beyond !== undefined) return refusal(beyond);
    const revoked = await changeKey(deps, caller, key, 'key.revoke', () => revokeKey(db, key._id));
    const find = () => descendantsOf(db, key, clock.now());
    const made = query.descendants === 'revoke' ? await revokeAudited(deps, caller, find) : await find();
    return keyDetail(deps, revoked ?? key, made);
  },
});

const OVERLAP_DAYS_MAX = 7;

/**
 * The new key is stored first. If the gateway dies before the old one gets its end, both work; a repeated request with
 * the same Idempotency-Key completes it.
 */
export const rotateKey = endpoint({
  id: 'rotateKey',
  call: 'keys.rotate',
  method: 'post',
  path: '/v2/account/keys/{key_id}/rotate',
  tag: 'Account',
  summary: 'Replace an API key',
  description:
    'Extension. Makes a new key with the same settings and shows it, this once. The old one works until `old_expires_at`: 24 hours unless you say otherwise, 7 days at most. The new one ends when the old one would have, or at `expires_at`, and not after the key that asks; it has a place of its own among the 50. Your own key must reach as far as the old one (scopes, end, rate, addresses). Counts as 50 requests.',
  scopes: ['manage'],
  confirmed: true,
  costs: NEW_KEY_COST,
  params: IN_PATH,
  body: request({
    old_expires_at: optional(
      laterTime('When the old key stops working, at most 7 days ahead. Default: in 24 hours.', OVERLAP_DAYS_MAX),
    ),
    expires_at: optional(
      laterTime('When the new key stops working, not after the key that asks. Default: when the old one would have.'),
    ),
  }),
  ownProblems: true,
  answer: CreatedKey,
  problems: ['key_beyond_caller', 'key_changed', 'key_not_found', 'key_not_active', 'too_many_keys'],
  examples: { body: { day: {} } },
  newId: (deps, account) => newSealedText(deps, account),
  action: (deps) => ({
    async act({ caller, params, read, body }, { id, payBy }) {
      const { db, clock } = deps;
      const old = await findOwnKey(db, caller.account._id, params.key_id);
      if (old === undefined) return refused('key_not_found');
      const reach = await reachOf(deps, caller);
      if (isProblem(reach)) return refusal(reach);
      const now = clock.now();
      const { expires_at: end } = read.given;
      if (end !== undefined) {
        const { bounds } = reach;
        checkBounds({ ...bounds, expiresAt: end }, bounds, 'the key that asks', read.problems);
      }
      if (read.problems.count > 0) return invalid(read.problems);
      const unfit = unfitToRotate(reach, old, now);
      if (unfit !== undefined) return refusal(unfit);
      const late = refusedLate(clock, payBy);
      if (late !== undefined) return late;
      const { old_expires_at: until = new Date(now.getTime() + OVERLAP_MS), expires_at: expiresAt } = body;
      const made = await replace(deps, caller, old, id, { until, expiresAt, maker: reach.maker });
      if (made === undefined) {
        const found = await findOwnKey(db, caller.account._id, old._id);
        return refused(found === undefined || isOver(found, now) ? 'key_not_active' : 'key_changed');
      }
      if ('kind' in made) return made;
      // It may end earlier than the old one would have.
      await narrowMade(deps, caller, made);
      return createdAnswer(deps, made, openText(deps, caller.account._id, id));
    },
    async recover(account, id) {
      const text = openText(deps, account, id);
      const made = await findOwnKey(deps.db, account, text.id);
      if (made === undefined || !(await retireReplaced(deps.db, made))) return undefined;
      return createdAnswer(deps, made, text);
    },
    refuseReplay: (caller, id) => refuseText(deps, caller, id),
  }),
});

function unfitToRotate(reach: Reach, old: KeyDocument, now: Date): Problem | undefined {
  if (!isOver(old, now)) return beyondCaller(boundsOf(old), reach.bounds) ?? tooFarDown(reach, lineOf(old));
  if (old.rotatedTo === undefined) return ['key_not_active', {}];
  return ['key_not_active', { detail: `The key ${old.rotatedTo} replaces this one already. Rotate that one.` }];
}

function replace(
  deps: Deps,
  caller: Caller,
  old: KeyDocument,
  sealed: SealedText,
  rotation: Rotation,
): Promise<KeyDocument | undefined | Refused> {
  const { db, clock } = deps;
  return changeAudited(deps, caller, {
    action: 'key.rotate',
    subject: { kind: 'key', id: old._id },
    read: async () => old,
    make: () => rotate(db, clock, old, rotation, openText(deps, caller.account._id, sealed)),
    madeOf: (made) => made && { ...old, rotatedTo: made._id, expiresAt: earlier(old.expiresAt, rotation.until) },
    isRefusal: isNotMade,
  }).catch(notMade);
}

function earlier(a: Date | undefined, b: Date): Date {
  return a !== undefined && a < b ? a : b;
}

/** `prefix`: the beginning of the key, which people compare with their settings. */
async function keyRecords(
  { db, clock }: Pick<GatewayDeps, 'db' | 'clock'>,
  found: readonly KeyDocument[],
): Promise<readonly Shown<typeof Key>[]> {
  const views = await keyViews(db, clock.now(), found);
  return found.flatMap((key, index) => {
    const view = views[index];
    if (view === undefined) return [];
    const { id, status, scopes, created_at, expires_at, last_used, ...plain } = view;
    return {
      key_id: id,
      prefix: keyPrefix(id, key.test),
      state: status,
      scopes: scopes.filter((scope) => !isOperatorScope(scope)),
      ...plain,
      created_at: isoTimestamp(created_at),
      created_by: key.createdBy === undefined ? null : { name: null, ...key.createdBy },
      expires_at: expires_at && isoTimestamp(expires_at),
      last_used: last_used && isoTimestamp(last_used),
      rotated_from: key.rotatedFrom?.key ?? null,
      rotated_to: key.rotatedTo ?? null,
    };
  });
}

async function keyRecord(deps: Pick<GatewayDeps, 'db' | 'clock'>, key: KeyDocument): Promise<Shown<typeof Key>> {
  const [record] = await keyRecords(deps, [key]);
  if (record === undefined) throw new Error(`key ${key._id} has no view`);
  return record;
}

async function keyDetail(
  deps: Pick<GatewayDeps, 'db' | 'clock'>,
  key: KeyDocument,
  descendants: readonly KeyDocument[],
): Promise<Shown<typeof KeyDetail>> {
  const now = deps.clock.now();
  return { ...(await keyRecord(deps, key)), descendants: descendants.map((one) => madeRecord(one, now)) };
}

/**
 * The sealed text of a new key serves as the result's id: stored with the claim of an Idempotency-Key for a day, it
 * answers a repeated request if the gateway died after making the key.
 */
type SealedText = string;

export function newSealedText({ box, clock }: Pick<GatewayDeps, 'box' | 'clock'>, account: AccountId): SealedText {
  return box.seal(formatKey(newKeyText(clock.now().getTime())), ['idempotency', account, 'result']);
}

/** Throws for a wrong text, or one sealed with another secret or for another account. */
export function openText({ box }: Pick<GatewayDeps, 'box'>, account: AccountId, sealed: SealedText): KeyText {
  const parsed = parseKey(box.open(sealed, ['idempotency', account, 'result']));
  if (parsed === undefined) throw new Error('a sealed text is no key');
  return parsed;
}
