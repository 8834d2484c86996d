import type { Db } from 'mongodb';
import type { QueueDocument } from '../../../shared/messages/queue/queue-document.ts';
import { queueOf, removeEnded } from '../../../shared/messages/queue/queue-store.ts';
import { lowestId } from '../../../shared/platform/runtime/ids.ts';
import { idsOf, type PruneWalk } from './walk.ts';

/** How long lines are kept after the validity of their messages: a claim of one may still be in the hands of a carrier's worker. */
const OVER_MS = 3_600_000;

type Found = Pick<QueueDocument, '_id'>;

/**
 * Removes lines of which no carrier wants to know any more: their messages have expired. Usually a carrier's worker has taken the
 * last line before, and removed the document.
 */
export function queueWalk(db: Db, now: Date): PruneWalk<Found> {
  const before = new Date(now.getTime() - OVER_MS);
  const below = lowestId('que', before);
  return {
    group: { embedded: 50, mongodb: 1_000 },
    look: (after, limit) =>
      queueOf(db)
        .find({ _id: { ...(after === undefined ? {} : { $gt: after }), $lt: below } }, { projection: { _id: 1 } })
        .sort({ _id: 1 })
        .limit(limit)
        .toArray(),
    remove: (found) => removeEnded(db, { _id: idsOf(found), until: { $lt: before }, writeAt: { $exists: false } }, now),
  };
}
