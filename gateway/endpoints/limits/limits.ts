import type { Db } from 'mongodb';
import { z } from 'zod';
import { countryOf } from '../../../shared/carriers/routing/country.ts';
import { type HoldDocument, readHolds, releaseHold } from '../../../shared/messages/traffic/hold.ts';
import type { AccountDocument, Caps, Spending } from '../../../shared/money/accounts/account.ts';
import { findAccount, forgetKeysSpent, updateAccount } from '../../../shared/money/accounts/store.ts';
import { resetOf, spentIn } from '../../../shared/money/ledger/spending.ts';
import { isOperatorScope, type KeyDocument, lineOf } from '../../../shared/people/keys/key.ts';
import { findOwnKey, listLiveKeys, setKeyCaps } from '../../../shared/people/keys/store.ts';
import { isoDate, isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import { done, endpoint, type Gateway, refused, type Shown } from '../../api/endpoint.ts';
import { decimal, named, success, text, time, whole } from '../../api/shapes.ts';
import { changeAudited } from '../../http/audited.ts';
import type { Requester } from '../../http/context.ts';
import { choice, number, optional, required, type Values, withDefault } from '../../http/fields/field.ts';
import { request } from '../../http/fields/request.ts';
import type { Refused } from '../../http/idempotency/action.ts';
import { ACCOUNT_REFUSALS, accountOf, openAccountOf } from '../accounts/account.ts';
import {
  ACCOUNT_IN_PATH,
  countryList,
  DaytimeShape,
  daytimeField,
  daytimeRecord,
  reason,
} from '../operators/fields.ts';

/** What an account may spend and whom it may send to. Operators set it; caps of its keys are set by the account. */

const Cap = named('Cap', 'A limit and how much of it was used.', {
  cap: whole('The most credits. Null: no cap.', { minimum: 0, example: 5000 }).nullable(),
  spent: whole('Credits that were debited and not given back since.', { minimum: 0, example: 1280 }),
  resets_on: text('The UTC day from which on it counts anew.', { format: 'date', example: '2026-12-01' }),
});
const CapsShape = { day: Cap, month: Cap };

const KeyCapsShape = named('KeyCaps', 'How much a key may spend.', {
  key_id: text(undefined, { example: '01m7znjn7hdb5pft3awkb6pgvz' }),
  name: text(undefined, { example: 'shop server' }),
  ...CapsShape,
});

const rateOf = (description: string, example: number) =>
  decimal(`${description} A part of 1.`, { minimum: 0, maximum: 1, example });

const TrafficHold = named('TrafficHold', 'A prefix whose traffic looks like fraud.', {
  prefix: text('The country code and three digits.', { pattern: '^[1-9][0-9]{1,5}$', example: '994771' }),
  country: text('ISO 3166-1. Null: not known.', { example: 'AZ' }).nullable(),
  state: z.enum(['watched', 'held', 'released']).meta({
    description:
      '`held`: sends to such numbers are refused until a person releases it. `watched`: it only looks like fraud. `released`: it is trusted for a week.',
    example: 'held',
  }),
  since: time(undefined, '2026-11-22T14:02:11+00:00'),
  messages: whole('In two clock hours, when it began.', { minimum: 0, example: 412 }),
  portion: rateOf('Its part of all messages of the account then.', 0.61),
  delivered: rateOf('How many arrived.', 0.04),
  usual_messages: whole('The most in two hours of the two weeks before.', { minimum: 0, example: 3 }),
  usual_portion: rateOf('Its part of all messages in these weeks.', 0.001),
  usual_delivered: rateOf('How many arrive usually.', 0.93),
  converted: rateOf('How many codes of verifications were given back. Null: nobody knows.', 0.02).nullable(),
  usual_converted: rateOf('How many are usually.', 0.81).nullable(),
  released: z
    .strictObject({
      at: time(undefined, '2026-11-22T14:30:00+00:00'),
      by: text('`ops`: your service provider.', { example: 'user usr_01m7znjn7hdb5pft3awkb6pgvz' }),
      reason: text(undefined, { example: 'Our launch in Baku' }),
    })
    .nullable(),
});

const Limits = named('AccountLimits', {
  ...CapsShape,
  countries: z
    .array(text())
    .meta({ description: 'The only countries that it may send to (ISO 3166-1). Null: all.', example: ['IN', 'AE'] })
    .nullable(),
  daytime: DaytimeShape.nullable(),
  recipient_per_hour: whole('How many messages one recipient may get in a clock hour. Null: any number.', {
    minimum: 1,
    example: 5,
  }).nullable(),
  messages_per_conversation: whole(
    'Chat-app: how many messages one conversation may have, the one that opened it included. Null: any number.',
    { minimum: 1, example: 30 },
  ).nullable(),
  brake: z.enum(['off', 'watch', 'hold']).meta({
    description:
      'What becomes of traffic that looks like fraud: of a prefix whose messages or share rise while fewer arrive, or fewer codes of verifications are given back. `watch`: it is shown. `hold`: sends to it are refused too, until a person releases it.',
    example: 'hold',
  }),
  keys: z.array(KeyCapsShape).meta({ description: 'The keys that work and have caps of their own.' }),
  holds: z.array(TrafficHold).meta({ description: 'What the brake has found, the oldest first.' }),
});

export const accountLimits = endpoint({
  id: 'accountLimits',
  call: 'account.limits',
  method: 'get',
  path: '/v2/account/limits',
  tag: 'Account',
  summary: 'Limits of the account',
  description:
    'Extension. What the account and its keys may spend in a day and a month, what they have spent, and whom it may send to. A send beyond a limit is refused with 403 before it is charged; the member `limit` names it. Days are those of UTC. A message that is sent later counts when it is booked.',
  scopes: ['read', 'manage'],
  answer: Limits,
  handle: async ({ db, clock }, { caller }) => limitsRecord(db, await accountAt(db, caller.account._id), clock.now()),
});

export const operatorLimits = endpoint({
  id: 'operatorLimits',
  method: 'get',
  path: '/v2/admin/accounts/{account_id}/limits',
  tag: 'Operators',
  summary: 'Limits of an account',
  description: 'Extension. As the account sees them.',
  scopes: ['admin:read'],
  params: ACCOUNT_IN_PATH,
  answer: Limits,
  problems: ['account_not_found'],
  async handle({ db, clock }, { params }) {
    const account = await accountOf(db, params.account_id);
    return account === undefined ? refused('account_not_found') : limitsRecord(db, account, clock.now());
  },
});

const CREDITS_MAX = 1_000_000_000;
const most = (description: string, minimum: number, maximum = CREDITS_MAX) =>
  optional(number({ description, minimum, maximum, type: 'integer' }));
const CAPS = {
  spend_per_day: most('The most credits in a day (UTC). Left out: no cap.', 0),
  spend_per_month: most('The most credits in a calendar month (UTC). Left out: no cap.', 0),
};
const PER_HOUR_MAX = 1_000;
const PER_CONVERSATION_MAX = 10_000;

export const setLimits = endpoint({
  id: 'setLimits',
  method: 'put',
  path: '/v2/admin/accounts/{account_id}/limits',
  tag: 'Operators',
  summary: 'Set the limits of an account',
  description:
    'Extension. All of them: what is left out is not limited. The caps hold from the next debit on, the rest within seconds. What is booked or waits already is not touched.',
  scopes: ['admin:support'],
  confirmed: true,
  params: ACCOUNT_IN_PATH,
  body: request({
    ...CAPS,
    countries: optional(countryList('The only countries that it may send to. Left out: all.')),
    daytime: optional(daytimeField('its SMS')),
    recipient_per_hour: most(
      'How many messages one recipient may get in a clock hour. Left out: any number.',
      1,
      PER_HOUR_MAX,
    ),
    messages_per_conversation: most(
      'Chat-app: how many messages one conversation may have, the one that opens it included. It is paid once, and the provider takes money for each of them. Of conversations that run already, what is sent from then on counts. Left out: any number.',
      1,
      PER_CONVERSATION_MAX,
    ),
    brake: withDefault(
      choice(
        ['off', 'watch', 'hold'],
        'What becomes of traffic that looks like fraud. `watch`: it is shown. `hold`: sends to that prefix are refused too.',
      ),
      'off',
    ),
  }),
  answer: success('SetLimitsResult', { limits: Limits }),
  problems: ACCOUNT_REFUSALS,
  examples: {
    body: {
      shop: {
        spend_per_day: 5000,
        countries: ['IN'],
        daytime: { from: '09:00', to: '21:00' },
        recipient_per_hour: 5,
        brake: 'hold',
      },
    },
  },
  async handle(deps, { requester, params, body }) {
    const { db, clock } = deps;
    const account = await openAccountOf(db, params.account_id);
    if ('kind' in account) return account;
    const { _id: id } = account;
    const {
      countries,
      daytime,
      recipient_per_hour: recipientPerHour,
      messages_per_conversation: conversationMessages,
      brake,
    } = body;
    const limits: AccountLimits = {
      ...defined({ caps: capsOf(body), daytime, recipientPerHour, conversationMessages }),
      ...(countries === undefined ? {} : { countries: [...new Set(countries)].sort() }),
      ...(brake === 'off' ? {} : { brake }),
    };
    await changeAudited(deps, requester, {
      action: 'account.limits',
      subject: { kind: 'account', id },
      account: id,
      read: async () => limitsOf(account),
      make: () => updateAccount(db, id, { ...NO_LIMITS, ...limits }),
      madeOf: () => limits,
    });
    return done({ limits: await limitsRecord(db, await accountAt(db, id), clock.now()) });
  },
});

export const setCapsOfKey = endpoint({
  id: 'setKeyCaps',
  call: 'keys.setCaps',
  method: 'put',
  path: '/v2/account/keys/{key_id}/caps',
  tag: 'Account',
  summary: 'Set what a key may spend',
  description:
    'Extension. What is left out is not capped. It holds within seconds, for the keys that replace it too. What the keys spend that it makes counts for it. It counts from when the first cap is set. A key that has a cap, or whose maker has one, may set none.',
  scopes: ['manage'],
  confirmed: true,
  params: {
    key_id: text('Id of the key, from the list.', {
      pattern: '^[0-9a-z]{26}$',
      example: '01m7znjn7hdb5pft3awkb6pgvz',
    }),
  },
  body: request(CAPS),
  answer: success('SetKeyCapsResult', { caps: KeyCapsShape }),
  problems: ['key_not_found', 'key_not_active', 'key_beyond_caller'],
  examples: { body: { till: { spend_per_day: 200 } } },
  async handle(deps, { caller, params, body }) {
    const { db, clock } = deps;
    const account = caller.account._id;
    const key = await findOwnKey(db, account, params.key_id);
    if (key === undefined) return refused('key_not_found');
    if (key.status === 'revoked') return refused('key_not_active');
    if (caller.caps.length > 0) {
      const detail = 'Your key may spend only so much itself. Set caps on the dashboard, or with a key that has none.';
      return refused('key_beyond_caller', { detail });
    }
    const caps = capsOf(body);
    const changed = await changeAudited(deps, caller, {
      action: 'key.caps',
      subject: { kind: 'key', id: key._id },
      read: async () => ({ caps: key.caps ?? null }),
      make: () => setKeyCaps(db, key, caps),
      madeOf: (made) => made && { caps: made.caps ?? null },
    });
    const { keysSpent = {} } = await accountAt(db, account);
    await forgetOver(db, account, Object.keys(keysSpent), clock.now());
    return done({ caps: keyRecord(changed ?? key, keysSpent, clock.now()) });
  },
});

/**
 * Removes what dead keys spent, unless live ones descend from them: every debit writes the account's document, which
 * must not grow without end. `lines` was read first, so a key made meanwhile is not in it.
 */
async function forgetOver(db: Db, account: AccountId, lines: readonly string[], now: Date): Promise<void> {
  const live = await listLiveKeys(db, account, now);
  const known = new Set(live.flatMap((key) => [lineOf(key), ...(key.makers ?? [])]));
  const over = lines.filter((line) => !known.has(line));
  if (over.length > 0) await forgetKeysSpent(db, account, over);
}

const PREFIX_IN_PATH = {
  prefix: text('The prefix, from the list.', { pattern: '^[1-9][0-9]{1,5}$', example: '994771' }),
};
const RELEASE = {
  body: request({ reason: required(reason) }),
  answer: success('ReleaseResult', { hold: TrafficHold }),
  problems: ['hold_not_found'],
  examples: { body: { launch: { reason: 'Our launch in Baku' } } },
} as const;

export const releaseOwnHold = endpoint({
  id: 'releaseTrafficHold',
  call: 'account.releaseTrafficHold',
  method: 'post',
  path: '/v2/account/traffic-holds/{prefix}/release',
  tag: 'Account',
  summary: 'Release traffic that is held',
  description:
    'Extension. A person says that it is right: sends to numbers with this prefix are accepted again within seconds, and it is trusted for a week.',
  scopes: ['manage'],
  signedIn: 'whole',
  confirmed: true,
  params: PREFIX_IN_PATH,
  ...RELEASE,
  handle: (deps, { caller, params, body }) =>
    release(deps, caller, caller.account._id, { prefix: params.prefix, reason: body.reason }),
});

export const releaseAnyHold = endpoint({
  id: 'releaseTrafficHoldOfAccount',
  method: 'post',
  path: '/v2/admin/accounts/{account_id}/traffic-holds/{prefix}/release',
  tag: 'Operators',
  summary: 'Release traffic of an account',
  description: 'Extension. As the account can do itself.',
  scopes: ['admin:support'],
  confirmed: true,
  params: { ...ACCOUNT_IN_PATH, ...PREFIX_IN_PATH },
  ...RELEASE,
  problems: [...ACCOUNT_REFUSALS, 'hold_not_found'],
  async handle(deps, { requester, params, body }) {
    const account = await openAccountOf(deps.db, params.account_id);
    if ('kind' in account) return account;
    return release(deps, requester, account._id, { prefix: params.prefix, reason: body.reason });
  },
});

async function release(
  deps: Gateway,
  requester: Requester,
  account: AccountDocument['_id'],
  { prefix, reason }: { readonly prefix: string; readonly reason: string },
): Promise<Refused | Shown<(typeof RELEASE)['answer']>> {
  const { db, clock } = deps;
  const before = (await readHolds(db, [account])).find((one) => one.prefix === prefix);
  if (before === undefined) return refused('hold_not_found');
  const { kind, id } = requester.who;
  const by = requester.scopes.some(isOperatorScope) ? 'ops' : `${kind} ${id}`;
  const hold = await changeAudited(deps, requester, {
    action: 'traffic.release',
    subject: { kind: 'prefix', id: prefix },
    account,
    read: async () => ({ state: before.state }),
    make: () => releaseHold(db, account, prefix, { at: clock.now(), by, reason }),
    madeOf: (made) => made && { state: made.state, reason: made.released?.reason },
  });
  return hold === undefined ? refused('hold_not_found') : done({ hold: holdRecord(hold) });
}

function holdRecord({ prefix, state, since, seen, released }: HoldDocument): Shown<typeof TrafficHold> {
  return {
    ...{ prefix, country: countryOf(prefix) ?? null, state, since: isoTimestamp(since) },
    ...{ messages: seen.messages, portion: seen.portion, delivered: seen.delivered },
    ...{ usual_messages: seen.usualMessages, usual_portion: seen.usualPortion, usual_delivered: seen.usualDelivered },
    ...{ converted: seen.converted ?? null, usual_converted: seen.usualConverted ?? null },
    released: released === undefined ? null : { ...released, at: isoTimestamp(released.at) },
  };
}

function capsOf({ spend_per_day: day, spend_per_month: month }: Values<typeof CAPS>): Caps | undefined {
  return day === undefined && month === undefined ? undefined : defined({ day, month });
}

const NO_LIMITS = {
  ...{ caps: undefined, countries: undefined, daytime: undefined },
  ...{ recipientPerHour: undefined, conversationMessages: undefined, brake: undefined },
};
type AccountLimits = Pick<AccountDocument, keyof typeof NO_LIMITS>;

function limitsOf(account: AccountDocument): AccountLimits {
  const { caps, countries, daytime, recipientPerHour, conversationMessages, brake } = account;
  return defined({ caps, countries, daytime, recipientPerHour, conversationMessages, brake });
}

async function accountAt(db: Db, id: AccountDocument['_id']): Promise<AccountDocument> {
  const account = await findAccount(db, id);
  if (account === undefined) throw new Error('accounts are never removed');
  return account;
}

async function limitsRecord(db: Db, account: AccountDocument, now: Date): Promise<Shown<typeof Limits>> {
  const { _id: id, caps, spent, keysSpent = {}, countries, daytime } = account;
  const { recipientPerHour, conversationMessages, brake } = account;
  const [keys, holds] = await Promise.all([listLiveKeys(db, id, now), readHolds(db, [id])]);
  return {
    ...capsRecord(caps, spent, now),
    countries: countries ?? null,
    daytime: daytimeRecord(daytime),
    recipient_per_hour: recipientPerHour ?? null,
    messages_per_conversation: conversationMessages ?? null,
    brake: brake ?? 'off',
    keys: keys.filter((key) => key.caps !== undefined).map((key) => keyRecord(key, keysSpent, now)),
    holds: holds.map(holdRecord),
  };
}

function keyRecord(
  key: KeyDocument,
  keysSpent: Readonly<Record<string, Spending>>,
  now: Date,
): Shown<typeof KeyCapsShape> {
  return { key_id: key._id, name: key.name, ...capsRecord(key.caps, keysSpent[lineOf(key)], now) };
}

function capsRecord(caps: Caps = {}, spent: Spending | undefined, now: Date) {
  const today = isoDate(now);
  const of = (period: 'day' | 'month'): Shown<typeof Cap> => ({
    cap: caps[period] ?? null,
    spent: spentIn(period, spent, today),
    resets_on: resetOf(period, today),
  });
  return { day: of('day'), month: of('month') };
}
