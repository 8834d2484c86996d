import type { Db } from 'mongodb';
import type { ConversationDocument } from '../../../shared/money/conversations/conversation.ts';
import { conversationCollection } from '../../../shared/money/conversations/store.ts';
import { lowestId } from '../../../shared/platform/runtime/ids.ts';
import { idsOf, type PruneWalk } from './walk.ts';

type Found = Pick<ConversationDocument, '_id'>;

/**
 * Removes what is stored of customers without an exchange since `before`. If such a customer writes again, it is like
 * the first time, as after any closed session. `before` must be earlier than the creation of every message that may
 * still wait in a conversation. Customers' ids do not sort by time, so this walks all of them.
 */
export function conversationWalk(db: Db, before: Date): PruneWalk<Found> {
  const conversations = conversationCollection(db);
  const since = lowestId('cnv', before);
  return {
    group: { embedded: 100, mongodb: 2_000 },
    look: (after, limit) =>
      conversations
        .find<Found>(after === undefined ? {} : { _id: { $gt: after } }, { projection: { _id: 1 } })
        .sort({ _id: 1 })
        .limit(limit)
        .toArray(),
    remove: async (found) => {
      const { deletedCount } = await conversations.deleteMany(
        {
          _id: idsOf(found),
          // It stands like an opt-out.
          'marketing.stopped': { $ne: true },
          // At least one of these times must exist. A document without any was just created for an opening (opening-store.ts).
          $or: [
            { lastInboundAt: { $lt: before } },
            { 'current.until': { $lt: before } },
            { refunded: { $lt: since } },
            { linkedAt: { $lt: before } },
          ],
          $nor: [
            { lastInboundAt: { $gte: before } },
            { 'current.until': { $gte: before } },
            { refunded: { $gte: since } },
            { linkedAt: { $gte: before } },
          ],
        },
        { hint: { _id: 1 } },
      );
      return deletedCount;
    },
  };
}
