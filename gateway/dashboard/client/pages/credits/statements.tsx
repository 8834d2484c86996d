import type { AnswerOf } from '../../../../api/endpoint.ts';
import type { accountStatement } from '../../../../endpoints/statements/statements.ts';
import { exactNow } from '../../parts/now.ts';
import { Card } from '../../parts/page.tsx';

/** `GET /v2/account/statements/{month}`. */
export type Statement = AnswerOf<typeof accountStatement>;

const words = new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' });

/** "November 2026". */
export function monthName(month: string): string {
  const date = new Date(`${month}-01T00:00:00Z`);
  return Number.isNaN(date.getTime()) ? month : words.format(date);
}

interface StatementsProps {
  readonly base: string;
  /** When the account was made. */
  readonly since: string;
  /** Nothing moves after it; undefined while the account is open. */
  readonly until?: string | undefined;
}

/** The newest months of the account, each as a page to print. */
export function StatementsCard({ base, since, until }: StatementsProps) {
  return (
    <Card title="Statements of months" lead="Opening and closing balance and what lies between, to print.">
      <ul class="months">
        {lastMonths(since, new Date(until ?? exactNow())).map((month) => (
          <li key={month}>
            <a href={`${base}/${month}`}>{monthName(month)}</a>
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** Twelve months at most, the last one first. */
function lastMonths(since: string, last: Date): string[] {
  const months = Array.from({ length: 12 }, (_, i) =>
    new Date(Date.UTC(last.getUTCFullYear(), last.getUTCMonth() - i, 1)).toISOString().slice(0, 7),
  );
  return months.filter((month) => month >= since.slice(0, 7));
}
