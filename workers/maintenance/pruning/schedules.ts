import type { Db } from 'mongodb';
import type { ScheduleDocument } from '../../../shared/messages/schedule.ts';
import { lowestId } from '../../../shared/platform/runtime/ids.ts';
import { idsOf, type PruneWalk } from './walk.ts';

type Found = Pick<ScheduleDocument, '_id'>;

/**
 * Removes schedules that were sent or refunded and whose time was before `before`. Schedules that still have a `due`
 * stay.
 */
export function scheduleWalk(db: Db, before: Date): PruneWalk<Found> {
  const schedules = db.collection<ScheduleDocument>('schedules');
  const below = lowestId('sch', before);
  return {
    group: { embedded: 100, mongodb: 2_000 },
    look: (after, limit) =>
      schedules
        .find<Found>(
          { _id: { ...(after === undefined ? {} : { $gt: after }), $lt: below } },
          { projection: { _id: 1 } },
        )
        .sort({ _id: 1 })
        .limit(limit)
        .toArray(),
    remove: async (found) => {
      const { deletedCount } = await schedules.deleteMany(
        {
          _id: idsOf(found),
          state: { $in: ['sent', 'cancelled'] },
          due: { $exists: false },
          at: { $lt: before },
          // Keeps schedules that were released late, because no worker ran at their time.
          $nor: [{ releasedAt: { $gte: before } }],
        },
        { hint: { _id: 1 } },
      );
      return deletedCount;
    },
  };
}
