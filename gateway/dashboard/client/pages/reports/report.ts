/** A report, as `GET /v2/account/reports` and `/v2/admin/reports` answer it. */

interface Amount {
  readonly currency: string;
  readonly amount: string;
}

export interface Counts {
  readonly messages: number;
  readonly segments: number;
  readonly queued: number;
  readonly sent: number;
  readonly delivered: number;
  readonly failed: number;
  readonly expired: number;
  readonly rejected: number;
  /** From 0 to 1; null while no end is known. */
  readonly delivery_rate: number | null;
  readonly credits: number;
  readonly refunded: number;
  readonly errors: readonly { readonly error_code: string; readonly messages: number; readonly cause?: string }[];
  /** These three for operators only. */
  readonly sales?: readonly Amount[];
  readonly costs?: readonly Amount[];
  readonly margin?: readonly Amount[];
}

export interface ReportRow extends Counts {
  readonly day?: string;
  readonly other?: true;
  /** What it is grouped by. */
  readonly [name: string]: unknown;
}

export interface Report {
  readonly from: string;
  readonly to: string;
  readonly counted_at: string | null;
  readonly unsorted: number;
  readonly total: Counts;
  readonly data: readonly ReportRow[];
  readonly next_cursor: string | null;
}

export type Dimensions = readonly (readonly [name: string, label: string])[];

export const DIMENSIONS: Dimensions = [
  ['sender', 'Sender'],
  ['template_id', 'Template'],
  ['route', 'Route'],
  ['carrier', 'Carrier'],
  ['country', 'Country'],
  ['operator', 'Network'],
  ['channel', 'Channel'],
];

/** Of one account or of all. */
export function adminDimensions(isOneAccount: boolean): Dimensions {
  const shared = DIMENSIONS.filter(([name]) => isOneAccount || (name !== 'sender' && name !== 'template_id'));
  return [['account_id', 'Account'], ['routed_by', 'Carrier route'], ...shared];
}

export function amounts(list: readonly Amount[] = []): string {
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
