import assert from 'node:assert/strict';
import type { Db } from 'mongodb';
import { z } from 'zod';
import {
  ACCOUNT_CONDITIONS,
  daysLeft,
  gatherAccounts,
  lasting,
  readCreditsPerDay,
} from '../../../shared/conditions/accounts.ts';
import { concerning, findAll, readConditions } from '../../../shared/conditions/condition.ts';
import { readNewestCount } from '../../../shared/messages/statistics.ts';
import { findAccount, updateAccount } from '../../../shared/money/accounts/store.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import { endpoint, type Shown } from '../../api/endpoint.ts';
import { decimal, flag, named, text, time, whole } from '../../api/shapes.ts';
import { changeAudited } from '../../http/audited.ts';
import { number, required } from '../../http/fields/field.ts';
import { request } from '../../http/fields/request.ts';
import { countOpenSessions } from '../inbox/inbox.ts';
import { balanceRecord } from '../sms/account.ts';
import { Condition, conditionRecord } from '../traffic/conditions.ts';

/** More open sessions are not counted one by one. */
const SESSIONS_MAX = 1_000;
const COST = 2;

export const accountOverview = endpoint({
  id: 'accountOverview',
  call: 'account.overview',
  method: 'get',
  path: '/v2/account/overview',
  tag: 'Account',
  summary: 'Balance, how long it lasts, and what is wrong',
  description:
    'Extension. The balance, the rate at which it was used in the last seven days, and what is open on the chat-app channel. Counts as two requests.',
  scopes: ['read'],
  test: 'apart',
  reads: COST,
  answer: z
    .object({
      balance: whole(undefined, { example: 4821 }),
      currency: text(undefined, { example: 'INR' }),
      expiry_date: text(undefined, { format: 'date', example: '2027-06-30' }),
      created_at: time('When the account was made.', '2026-11-22T10:00:00+00:00'),
      credits_per_day: decimal('In the last seven days.', { example: 530.4 }),
      lasts_days: whole('For how many days the balance lasts at this rate; null when nothing was used.', {
        example: 9,
      }).nullable(),
      expires_in_days: whole('Days until the expiry date; negative when the credits have expired.', { example: 220 }),
      counted_at: text(undefined, { format: 'date-time', example: '2026-11-22T14:05:00+00:00' }).nullable(),
      open_sessions: whole('Customers on the chat-app channel who may be written to freely now, 1,000 at most.', {
        example: 3,
      }),
      more_sessions: flag(),
      conditions: z.array(Condition).meta({
        description: 'What is wrong with the account now, the most urgent first. Empty when nothing is wrong.',
      }),
    })
    .meta({ id: 'Overview' }),
  async handle({ db, clock }, { caller }) {
    const account = caller.account._id;
    const now = clock.now();
    const [document, rate, countedAt, sessions, stored] = await Promise.all([
      findAccount(db, account),
      readCreditsPerDay(db, account, now),
      readNewestCount(db),
      countOpenSessions(db, account, now, SESSIONS_MAX + 1),
      readConditions(db, account),
    ]);
    assert(document !== undefined, 'accounts are never removed');
    const seen = await gatherAccounts(db, [document], now, () => rate);
    // Found now, so that "no credits" ends with a top-up; the watch knows since when. Test accounts: no conditions.
    const found = (document.test ? [] : seen).flatMap((one) => findAll(ACCOUNT_CONDITIONS, one, now, account));
    const known = new Map(stored.map((one) => [one._id, one.since]));
    const present = found.map((one) => ({ ...one, since: known.get(one._id) ?? one.since }));
    return {
      ...balanceRecord(document),
      created_at: isoTimestamp(document.createdAt),
      credits_per_day: rate,
      lasts_days: lasting(document.balance, rate) ?? null,
      expires_in_days: daysLeft({ account: document, now }),
      counted_at: countedAt === undefined ? null : isoTimestamp(countedAt),
      open_sessions: Math.min(sessions, SESSIONS_MAX),
      more_sessions: sessions > SESSIONS_MAX,
      conditions: concerning('account', present).map(conditionRecord),
    };
  },
});

/** The balance at which the account is warned. */

const LowBalance = named('LowBalance', {
  threshold: whole(
    'Credits. `balance.low` is told when the balance is not above it. Null: when it lasts for less than two days at the rate of the last week.',
    { example: 500 },
  ).nullable(),
});

export const lowBalance = endpoint({
  id: 'lowBalance',
  call: 'account.lowBalance',
  method: 'get',
  path: '/v2/account/low-balance',
  tag: 'Account',
  summary: 'When the balance counts as low',
  description: 'Extension.',
  scopes: ['read', 'manage'],
  answer: LowBalance,
  handle: ({ db }, { caller }) => thresholdOf(db, caller.account._id),
});

const THRESHOLD_MAX = 1_000_000_000;

export const changeLowBalance = endpoint({
  id: 'changeLowBalance',
  call: 'account.changeLowBalance',
  method: 'put',
  path: '/v2/account/low-balance',
  tag: 'Account',
  summary: 'Change when the balance counts as low',
  description: 'Extension. The balance is looked at once a minute, and told as low when that has held for a minute.',
  scopes: ['manage'],
  body: request({
    threshold: required(
      number({
        description: 'Credits; 0: without a threshold.',
        minimum: 0,
        maximum: THRESHOLD_MAX,
        type: 'integer',
      }),
    ),
  }),
  answer: LowBalance,
  examples: { body: { example: { threshold: 500 } } },
  async handle(deps, { caller, body }) {
    const { db } = deps;
    const id = caller.account._id;
    await changeAudited(deps, caller, {
      action: 'account.low-balance',
      subject: { kind: 'account', id },
      read: () => thresholdOf(db, id),
      make: () => updateAccount(db, id, { lowBalance: body.threshold === 0 ? undefined : body.threshold }),
      madeOf: () => ({ threshold: body.threshold === 0 ? null : body.threshold }),
    });
    return thresholdOf(db, id);
  },
});

async function thresholdOf(db: Db, id: AccountId): Promise<Shown<typeof LowBalance>> {
  return { threshold: (await findAccount(db, id))?.lowBalance ?? null };
}
