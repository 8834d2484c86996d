import assert from 'node:assert/strict';
import { countedFrom, HOUR_MS, type HourDocument } from '../../../shared/messages/statistics-hour.ts';
import { readHours, readNewestCount } from '../../../shared/messages/statistics-store.ts';
import { readBalance } from '../../../shared/money/accounts/store.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import type { ReadingDeps } from '../../access/costly-reads.ts';
import { callerOf, type Handler, type Reply } from '../../http/context.ts';
import { countOpenSessions } from '../inbox/inbox-store.ts';
import { balanceRecord } from '../sms/balance.ts';
import { perDay } from './period.ts';

const DAY_MS = 24 * HOUR_MS;
/** The rate at which credits go is that of the last week: a day may be a Sunday. */
const RATE_DAYS = 7;
/** More open sessions than these are not counted one by one. */
const SESSIONS_MAX = 1_000;
const COST = 2;

/** GET /v2/account/overview (extension): the balance, how long it lasts, and what is open on the chat-app channel. */
export function createOverview({ db, clock, answerRead }: ReadingDeps): Handler {
  return async (_req, res: Reply) => {
    const account = callerOf(res).account._id;
    await answerRead(res, COST, async () => {
      const now = clock.now();
      const [balance, hours, countedAt, sessions] = await Promise.all([
        readBalance(db, account),
        readHours(db, account, new Date(now.getTime() - RATE_DAYS * DAY_MS)),
        readNewestCount(db),
        countOpenSessions(db, account, now, SESSIONS_MAX + 1),
      ]);
      assert(balance !== undefined, 'accounts are never removed');
      const rate = creditsPerDay(hours, now);
      return {
        ...balanceRecord(balance),
        credits_per_day: rate,
        /** Null when nothing was used. */
        lasts_days: rate === 0 ? null : Math.floor(balance.balance / rate),
        expires_in_days: daysUntil(balance.expiryDate, now),
        counted_at: countedAt === undefined ? null : isoTimestamp(countedAt),
        open_sessions: Math.min(sessions, SESSIONS_MAX),
        more_sessions: sessions > SESSIONS_MAX,
      };
    });
  };
}

function creditsPerDay(hours: readonly HourDocument[], now: Date): number {
  const [first] = hours;
  const used = hours.reduce((sum, { credits }) => sum + credits, 0);
  return perDay(used, first && countedFrom(first), now);
}

/** Whole days, today not counted; negative when the credits have expired. */
function daysUntil(date: string, now: Date): number {
  return Math.floor((new Date(`${date}T00:00:00Z`).getTime() - now.getTime()) / DAY_MS) + 1;
}
