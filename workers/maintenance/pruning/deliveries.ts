import type { Db } from 'mongodb';
import type { DeliveryDocument } from '../../../shared/events/webhooks/delivery.ts';
import { deliveriesOf } from '../../../shared/events/webhooks/delivery-store.ts';
import { lowestId } from '../../../shared/platform/runtime/ids.ts';
import { idsOf, type PruneWalk } from './walk.ts';

type Found = Pick<DeliveryDocument, '_id'>;

/**
 * Removes deliveries that were created before `before` and will not be posted any more. A delivery that is due or
 * waits for its retry stays, however old it is. Announcing an event again would create its delivery again, but no
 * intent is old enough for that (`oldestUnannounced`, settlement/redo-intents.ts).
 */
export function deliveryWalk(db: Db, before: Date): PruneWalk<Found> {
  const deliveries = deliveriesOf(db);
  const below = lowestId('evt', before);
  return {
    group: { embedded: 100, mongodb: 2_000 },
    look: (after, limit) =>
      deliveries
        .find<Found>(
          // A delivery's id begins with its event's id.
          { _id: { ...(after === undefined ? {} : { $gt: after }), $lt: below as DeliveryDocument['_id'] } },
          { projection: { _id: 1 } },
        )
        .sort({ _id: 1 })
        .limit(limit)
        .toArray(),
    remove: async (found) => {
      const { deletedCount } = await deliveries.deleteMany(
        {
          _id: idsOf(found),
          state: { $in: ['done', 'exhausted', 'discarded'] },
          // An event can be years younger than its message's id.
          createdAt: { $lt: before },
          $nor: [{ replayedAt: { $gte: before } }],
        },
        { hint: { _id: 1 } },
      );
      return deletedCount;
    },
  };
}
