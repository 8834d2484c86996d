import { exactNow } from '../../parts/now.ts';
import { Card } from '../../parts/page.tsx';
import { lastMonths, monthName } from './statement.ts';

/** The last twelve months, each as a page to print. */
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
