import assert from 'node:assert/strict';
import { z } from 'zod';
import { ACCOUNT_CONDITIONS, daysLeft } from '../../../shared/conditions/accounts.ts';
import { concerning, findAll } from '../../../shared/conditions/condition.ts';
import { gatherAccounts, lasting, readCreditsPerDay } from '../../../shared/conditions/gather-accounts.ts';
import { readConditions } from '../../../shared/conditions/store.ts';
import { readNewestCount } from '../../../shared/messages/statistics-store.ts';
import { findAccount } from '../../../shared/money/accounts/store.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { endpoint } from '../../api/endpoint.ts';
import { decimal, flag, text, time, whole } from '../../api/shapes.ts';
import { countOpenSessions } from '../inbox/inbox-store.ts';
import { balanceRecord } from '../sms/account.ts';
import { Condition, conditionRecord } from '../traffic/conditions.ts';

/** More open sessions than these are not counted one by one. */
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
    // Found now, so that it does not say "no credits" a minute after they came; since when, the watch knows.
    // A test account has nothing that could be wrong.
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
