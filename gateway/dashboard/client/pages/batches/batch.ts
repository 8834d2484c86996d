import type { Tone } from '../../parts/badge.tsx';
import type { Status } from '../messages/message.ts';

type Counts = Readonly<Record<Exclude<Status, 'read' | 'received'>, number>>;

/** An entry of `GET /v2/batches`. Without `counts` when the page did not count it. */
export interface Batch {
  readonly batch_id: string;
  readonly state?: 'processing' | 'finished' | 'stopping' | 'stopped';
  readonly created_at: string;
  readonly sender: string;
  readonly route: string;
  readonly reference?: string;
  readonly total: number;
  readonly duplicates?: number;
  readonly skipped?: number;
  readonly progress?: number;
  readonly counts?: Counts;
  readonly stopped?: number;
  readonly credits_used: number;
  readonly credits_refunded?: number;
}

export const BATCH_TONES: Readonly<Record<NonNullable<Batch['state']>, Tone>> = {
  processing: 'info',
  finished: 'good',
  stopping: 'warn',
  stopped: 'warn',
};

export function failedOf({ failed, expired, rejected }: Counts): number {
  return failed + expired + rejected;
}
