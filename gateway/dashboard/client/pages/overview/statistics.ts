import type { AnswerOf } from '../../../../api/endpoint.ts';
import type { accountStatistics } from '../../../../endpoints/statistics/statistics.ts';
import { amount } from '../../parts/number.ts';

export const PERIODS = [
  { href: '/dashboard', label: '24 hours' },
  { href: '/dashboard?period=7d', label: '7 days' },
  { href: '/dashboard?period=30d', label: '30 days' },
] as const;

export interface Counts {
  readonly total: number;
  readonly queued: number;
  readonly sent: number;
  readonly delivered: number;
  readonly read: number;
  readonly failed: number;
  readonly expired: number;
  readonly rejected: number;
  readonly received: number;
  readonly credits_used: number;
  readonly conversations: number;
}

/** `GET /v2/account/statistics`. */
export type Statistics = AnswerOf<typeof accountStatistics>;

export type OperatorRow = Statistics['operators'][number];

export type ErrorRow = Statistics['errors'][number];

export const arrived = ({ delivered, read }: Counts): number => delivered + read;
export const failed = ({ failed: lost, expired, rejected }: Counts): number => lost + expired + rejected;

export function percent(part: number): string {
  return `${amount(Math.round(part * 1_000) / 10)} %`;
}

/** "2.4 s", "3 min", "1.5 h". */
export function duration(seconds: number | null): string {
  if (seconds === null) return '–';
  if (seconds < 90) return `${amount(seconds)} s`;
  if (seconds < 5_400) return `${amount(Math.round(seconds / 60))} min`;
  return `${amount(Math.round(seconds / 360) / 10)} h`;
}

export type State = 'queued' | 'sent' | 'delivered' | 'read' | 'failed' | 'expired' | 'rejected';

/** The list that a number counts, since the period began. */
export function listOf(state: State, from: string): string {
  return `/dashboard/messages?${new URLSearchParams({ state, created_from: new Date(from).toISOString() })}`;
}
