import type { AnswerOf } from '../../../../api/endpoint.ts';
import type { accountStatement } from '../../../../endpoints/statements/statements.ts';

/** `GET /v2/account/statements/{month}`. */
export type Statement = AnswerOf<typeof accountStatement>;

const words = new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' });

/** "November 2026". */
export function monthName(month: string): string {
  const date = new Date(`${month}-01T00:00:00Z`);
  return Number.isNaN(date.getTime()) ? month : words.format(date);
}

/** The newest twelve months, the running one first. */
export function lastMonths(now: Date): string[] {
  return Array.from({ length: 12 }, (_, i) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - i, 1)).toISOString().slice(0, 7),
  );
}
