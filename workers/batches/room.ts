import type { Db } from 'mongodb';
import type { BatchDocument } from '../../shared/messages/batch.ts';
import type { QueueDocument } from '../../shared/messages/queue/queue-document.ts';
import { queueOf } from '../../shared/messages/queue/queue-store.ts';

/**
 * A batch is split further while less than this many lines of batches wait on its path and are not written out: 0.2 s at 2,700 a
 * second. So lines of a bulk send are sent before they are written out, which saves their insert and an update of each.
 */
const LINES_MAX = 600;

type Waiting = Pick<QueueDocument, 'batch' | 'path' | 'n' | 'next'>;

/**
 * Whether a batch has room in the queue beside those that were asked for before it; one that has is counted. Lines that have waited
 * for long take no room: they are written out, or about to be. So behind a slow carrier batches are split all the same. A batch is on
 * its own path, and, when routes say otherwise, where its lines are that wait.
 */
export async function roomInQueue(db: Db, now: Date): Promise<(batch: BatchDocument) => boolean> {
  const waiting: readonly Waiting[] = await queueOf(db)
    .find({ writeAt: { $gt: now }, open: true, batch: { $exists: true }, written: { $exists: false } })
    .project<Waiting>({ batch: 1, path: 1, n: 1, next: 1, _id: 0 })
    .toArray();
  const lines = new Map<string, number>();
  const add = (path: string, count: number) => lines.set(path, (lines.get(path) ?? 0) + count);
  for (const { path, n, next } of waiting) add(path, n - next);
  return ({ _id, path, reserved, total, perChunk }) => {
    const own = waiting.filter(({ batch }) => batch === _id).map((document) => document.path);
    const paths = new Set([path, ...own]);
    for (const one of paths) if ((lines.get(one) ?? 0) >= LINES_MAX) return false;
    for (const one of paths) add(one, Math.min(perChunk, total - reserved));
    return true;
  };
}
