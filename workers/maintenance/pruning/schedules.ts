import type { Db } from 'mongodb';
import { lowestId } from '../../../shared/runtime/ids.ts';
import type { ScheduleDocument } from '../../../shared/schedules/schedule.ts';
import { idsOf, type PruneWalk } from './walk.ts';

type Found = Pick<ScheduleDocument, '_id'>;

/** Removes schedules that were sent or refunded and whose time was before `before`. What is still due for something stays. */
export function scheduleWalk(db: Db, before: Date): PruneWalk<Found> {
  const schedules = db.collection<ScheduleDocument>('schedules');
  const below = lowestId('sch', before);
  return {
    group: 100,
    look: (after, limit) =>
      schedules
        .find<Found>(
          { _id: { ...(after === undefined ? {} : { $gt: after }), $lt: below } },
          { projection: { _id: 1 }, hint: { _id: 1 } },
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
          // Nobody was there at its time.
          $nor: [{ releasedAt: { $gte: before } }],
        },
        { hint: { _id: 1 } },
      );
      return deletedCount;
    },
  };
}
