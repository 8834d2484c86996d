import type { Db } from 'mongodb';
import {
  type ConversationDocument,
  conversationKey,
  SESSION_MS,
} from '../../../shared/money/conversations/conversation.ts';
import { conversationCollection } from '../../../shared/money/conversations/store.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';

/** The index is named: no plan walks the customers of other accounts. */
const INDEX = 'inbox';

/** A customer's place in the list: the time of the last message, then the number. */
export interface InboxPlace {
  readonly atMs: number;
  readonly customer: string;
}

/** Up to `limit` customers who wrote, the one who wrote last first, behind `after`. */
export function listInbox(
  db: Db,
  account: AccountId,
  after: InboxPlace | undefined,
  limit: number,
): Promise<ConversationDocument[]> {
  const at = new Date(after?.atMs ?? 0);
  const rest =
    after === undefined
      ? { lastInboundAt: { $exists: true } }
      : {
          lastInboundAt: { $lte: at },
          $or: [{ lastInboundAt: { $lt: at } }, { _id: { $lt: conversationKey(account, after.customer) } }],
        };
  return conversationCollection(db)
    .find({ account, ...rest })
    .sort({ lastInboundAt: -1, _id: -1 })
    .hint(INDEX)
    .limit(limit)
    .batchSize(limit + 1)
    .toArray();
}

/** How many customers may be written to freely now, up to `most`. */
export function countOpenSessions(db: Db, account: AccountId, now: Date, most: number): Promise<number> {
  const since = new Date(now.getTime() - SESSION_MS);
  return conversationCollection(db).countDocuments(
    { account, lastInboundAt: { $gt: since } },
    { hint: INDEX, limit: most },
  );
}
