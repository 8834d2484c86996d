import type { Db } from 'mongodb';
import type { ConversationDocument } from '../../../shared/conversations/conversation.ts';
import { conversationCollection } from '../../../shared/conversations/store.ts';
import { lowestId } from '../../../shared/runtime/ids.ts';
import { idsOf, type PruneWalk } from './walk.ts';

type Found = Pick<ConversationDocument, '_id'>;

/**
 * Removes what is known of customers with whom nothing was exchanged since `before`: who writes next begins anew, as after any
 * closed session. `before` must lie behind every message that may still wait in a conversation. Their ids do not sort by
 * time: this walks all of them.
 */
export function conversationWalk(db: Db, before: Date): PruneWalk<Found> {
  const conversations = conversationCollection(db);
  const since = lowestId('cnv', before);
  return {
    group: 100,
    look: (after, limit) =>
      conversations
        .find<Found>(after === undefined ? {} : { _id: { $gt: after } }, { projection: { _id: 1 }, hint: { _id: 1 } })
        .sort({ _id: 1 })
        .limit(limit)
        .toArray(),
    remove: async (found) => {
      const { deletedCount } = await conversations.deleteMany(
        {
          _id: idsOf(found),
          // One of them is there: a document without any was just made for an opening (opening-store.ts).
          $or: [{ lastInboundAt: { $lt: before } }, { 'current.until': { $lt: before } }, { voided: { $lt: since } }],
          $nor: [
            { lastInboundAt: { $gte: before } },
            { 'current.until': { $gte: before } },
            { voided: { $gte: since } },
          ],
        },
        { hint: { _id: 1 } },
      );
      return deletedCount;
    },
  };
}
