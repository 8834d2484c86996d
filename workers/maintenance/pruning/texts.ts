import type { Db } from 'mongodb';
import type { BatchDocument } from '../../../shared/messages/batch.ts';
import { batchCollection } from '../../../shared/messages/batch-store.ts';
import type { AnyMessage } from '../../../shared/messages/document/any-message.ts';
import { CONTENT_TEXTS } from '../../../shared/messages/document/chat-message.ts';
import type { MessageDocument } from '../../../shared/messages/document/message.ts';
import { lowestId, type MessageId } from '../../../shared/platform/runtime/ids.ts';
import { endedBefore } from './messages.ts';
import { idsOf, type PruneWalk } from './walk.ts';

type Found = Pick<MessageDocument, '_id'>;

/** Everything of a message that says what it said. Of a received one the type stays, of a template its name. */
const TEXTS = ['text', 'inbound.body', 'inbound.more', ...CONTENT_TEXTS, 'fallback.sms.text'];
const UNSET = Object.fromEntries(TEXTS.map((name) => [name, '' as const]));
const ANY = TEXTS.map((name) => ({ [name]: { $exists: true } }));

/**
 * Removes the texts of messages that ended before `before` and stay longer (`HARKARA_TEXT_DAYS`). The version of a message stays: nothing is
 * decided by its text once it has ended. `from`: where this walk begins; what is older was walked before.
 */
export function textWalk(db: Db, before: Date, from: MessageId | undefined): PruneWalk<Found> {
  const messages = db.collection<AnyMessage>('messages');
  const below = lowestId('msg', before);
  return {
    group: { embedded: 50, mongodb: 1_000 },
    look: (after, limit) =>
      messages
        .find<Found>(
          { _id: { ...(after === undefined ? from && { $gte: from } : { $gt: after }), $lt: below } },
          { projection: { _id: 1 } },
        )
        .sort({ _id: 1 })
        .limit(limit)
        .toArray(),
    remove: async (found) => {
      const { modifiedCount } = await messages.updateMany(
        { $and: [endedBefore(before), { $or: ANY }], _id: idsOf(found) },
        { $unset: UNSET },
      );
      return modifiedCount;
    },
  };
}

/** The same of batches: the text of all their messages. Nobody reads it once every entry is a message. */
export function batchTextWalk(db: Db, before: Date): PruneWalk<Pick<BatchDocument, '_id'>> {
  const batches = batchCollection(db);
  const below = lowestId('bat', before);
  return {
    group: { embedded: 50, mongodb: 1_000 },
    look: (after, limit) =>
      batches
        .find({ _id: { ...(after === undefined ? {} : { $gt: after }), $lt: below } }, { projection: { _id: 1 } })
        .sort({ _id: 1 })
        .limit(limit)
        .toArray(),
    remove: async (found) => {
      const { modifiedCount } = await batches.updateMany(
        {
          ...{ _id: idsOf(found), state: { $in: ['split', 'stopped'] }, open: { $exists: false } },
          $or: [{ 'content.text': { $exists: true } }, { 'content.params': { $exists: true } }],
        },
        { $unset: { 'content.text': '', 'content.params': '' } },
      );
      return modifiedCount;
    },
  };
}
