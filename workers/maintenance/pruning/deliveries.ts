import type { Db } from 'mongodb';
import { lowestId } from '../../../shared/runtime/ids.ts';
import type { DeliveryDocument } from '../../../shared/webhooks/delivery.ts';
import { deliveriesOf } from '../../../shared/webhooks/delivery-store.ts';
import { idsOf, type PruneWalk } from './walk.ts';

type Found = Pick<DeliveryDocument, '_id'>;

/**
 * Removes deliveries that were made before `before` and are not to be posted (any more). One that is due or waits for its next
 * try stays, however old. A delivery that is gone would be made again by whoever announced its event again: no intent is older
 * (`oldestOwed`, settlement/redo-intents.ts).
 */
export function deliveryWalk(db: Db, before: Date): PruneWalk<Found> {
  const deliveries = deliveriesOf(db);
  const below = lowestId('evt', before);
  return {
    group: 100,
    look: (after, limit) =>
      deliveries
        .find<Found>(
          // An id begins with the event's.
          { _id: { ...(after === undefined ? {} : { $gt: after }), $lt: below as DeliveryDocument['_id'] } },
          { projection: { _id: 1 }, hint: { _id: 1 } },
        )
        .sort({ _id: 1 })
        .limit(limit)
        .toArray(),
    remove: async (found) => {
      const { deletedCount } = await deliveries.deleteMany(
        {
          _id: idsOf(found),
          state: { $in: ['done', 'exhausted', 'discarded'] },
          // An event may be years behind its message's id.
          createdAt: { $lt: before },
          $nor: [{ replayedAt: { $gte: before } }],
        },
        { hint: { _id: 1 } },
      );
      return deletedCount;
    },
  };
}
