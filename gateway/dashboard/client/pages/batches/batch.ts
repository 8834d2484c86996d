import type { AnswerOf, EntryOf } from '../../../../api/endpoint.ts';
import type { batch, batches } from '../../../../endpoints/batches/batches.ts';
import type { Tone } from '../../parts/badge.tsx';
import type { Status } from '../messages/message.ts';

type Counts = Readonly<Record<Exclude<Status, 'read' | 'received'>, number>>;

/** An entry of `GET /v2/batches`. Without `counts` when the page did not count it. */
export type Batch = EntryOf<typeof batches> & Partial<Pick<AnswerOf<typeof batch>, 'credits_refunded'>>;

export const BATCH_TONES: Readonly<Record<NonNullable<Batch['state']>, Tone>> = {
  processing: 'info',
  finished: 'good',
  stopping: 'warn',
  stopped: 'warn',
};

export function failedOf({ failed, expired, rejected }: Counts): number {
  return failed + expired + rejected;
}
