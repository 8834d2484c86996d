import type { AnswerOf } from '../../../../api/endpoint.ts';
import type { accountReports, adminReports } from '../../../../endpoints/reports/reports.ts';

type Own = AnswerOf<typeof accountReports>;
type Admin = AnswerOf<typeof adminReports>;

export type Counts = Own['total'] & Partial<Admin['total']>;

export type ReportRow = Own['data'][number] & Partial<Admin['data'][number]>;

/** `GET /v2/account/reports`, and what `GET /v2/admin/reports` tells beside. */
export type Report = Omit<Own, 'total' | 'data'> & { readonly total: Counts; readonly data: readonly ReportRow[] };

export type Dimension = readonly [name: keyof ReportRow, label: string];
export type Dimensions = readonly Dimension[];

export const DIMENSIONS: Dimensions = [
  ['sender', 'Sender'],
  ['template_id', 'Template'],
  ['route', 'Route'],
  ['carrier', 'Carrier'],
  ['country', 'Country'],
  ['category', 'Chat-app category'],
  ['operator', 'Network'],
  ['channel', 'Channel'],
];

/** Of one account or of all. */
export function adminDimensions(isOneAccount: boolean): Dimensions {
  const shared = DIMENSIONS.filter(([name]) => isOneAccount || (name !== 'sender' && name !== 'template_id'));
  return [['account_id', 'Account'], ['routed_by', 'Carrier route'], ...shared];
}

export function amounts(list: Admin['total']['sales'] = []): string {
  return list.map(({ currency, amount }) => (currency === 'none' ? amount : `${amount} ${currency}`)).join(', ');
}

export function percent(rate: number | null): string {
  return rate === null ? '–' : `${(rate * 100).toFixed(1)} %`;
}

/** All days of a period. */
export function daysOf({ from, to }: Pick<Report, 'from' | 'to'>): string[] {
  const days: string[] = [];
  for (let at = Date.parse(from); at <= Date.parse(to); at += 86_400_000)
    days.push(new Date(at).toISOString().slice(0, 10));
  return days;
}
