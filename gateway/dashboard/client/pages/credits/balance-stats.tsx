import type { AnswerOf } from '../../../../api/endpoint.ts';
import type { accountOverview } from '../../../../endpoints/statistics/overview.ts';
import { useLive } from '../../api/live.ts';
import { Stat } from '../../parts/facts.tsx';
import { amount, counted, number } from '../../parts/number.ts';

/** `GET /v2/account/overview`. */
export type Overview = AnswerOf<typeof accountOverview>;

/** What is left, live, how long it lasts at the rate of the last week, and until when it may be used. */
export function BalanceStats({ overview }: { readonly overview: Overview }) {
  const { credits_per_day: rate, expiry_date, expires_in_days: days } = overview;
  const balance = useLive<{ readonly balance: number }>('balance')?.balance ?? overview.balance;
  return (
    <>
      <Stat label="Balance" value={number(balance)} note={lastsNote(balance, rate, days)} href="/dashboard/credits" />
      <Stat label="Used a day" value={amount(rate)} note="in the last 7 days" />
      <Stat
        label="Expires"
        value={expiry_date}
        note={days < 0 ? 'expired' : days === 0 ? 'today' : `in ${plural(days)}`}
      />
    </>
  );
}

/** Credits that have expired are not sent with, however many are left. */
function lastsNote(balance: number, rate: number, expiresInDays: number): string {
  if (rate === 0) return 'credits';
  const lasts = Math.floor(balance / rate);
  if (lasts < 1) return 'lasts less than a day at this rate';
  if (lasts > expiresInDays) return 'lasts until it expires at this rate';
  return `lasts about ${plural(lasts)} at this rate`;
}

function plural(days: number): string {
  return counted(days, 'day');
}
