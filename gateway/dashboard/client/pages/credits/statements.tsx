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

/** The newest months, each as a page to print. */
export function StatementsCard({ base }: { readonly base: string }) {
  return (
    <Card title="Statements of months" lead="Opening and closing balance and what lies between, to print.">
      <ul class="months">
        {lastMonths(new Date(exactNow())).map((month) => (
          <li key={month}>
            <a href={`${base}/${month}`}>{monthName(month)}</a>
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** The newest twelve months, the running one first. */
function lastMonths(now: Date): string[] {
  return Array.from({ length: 12 }, (_, i) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - i, 1)).toISOString().slice(0, 7),
  );
}
