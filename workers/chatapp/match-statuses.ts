import type { Db } from 'mongodb';
import { chatMessageKey } from '../../shared/carriers/providers/provider.ts';
import type { InboxItemDocument, StatusItem } from '../../shared/messages/chat-inbox.ts';
import type { ChatMessageDocument } from '../../shared/messages/document/chat-message.ts';
import { isMessageId, type MessageId } from '../../shared/platform/runtime/ids.ts';

/** A message with the statuses that concern it, and the items that brought them. */
export interface MatchedMessage {
  readonly message: ChatMessageDocument;
  readonly statuses: StatusItem[];
  readonly items: InboxItemDocument[];
}

interface Status {
  readonly item: InboxItemDocument;
  readonly status: StatusItem;
  readonly key: string;
}

/** Finds the messages that the statuses among these items concern, and the items that fit no message (yet). */
export async function matchStatuses(
  db: Db,
  items: readonly InboxItemDocument[],
): Promise<{ readonly matched: readonly MatchedMessage[]; readonly unmatched: readonly InboxItemDocument[] }> {
  const statuses = items.flatMap((item): readonly Status[] => {
    if (item.what.kind !== 'status') return [];
    return [{ item, status: item.what, key: chatMessageKey(item.account, item.what.upstreamId) }];
  });
  if (statuses.length === 0) return { matched: [], unmatched: [] };
  const byKey = await findByKey(db, statuses);
  const byOurs = await findByOurs(
    db,
    statuses.filter(({ key }) => !byKey.has(key)),
  );
  // Grouped by message, not by key: two changes of one message in one settle would conflict.
  const matched = new Map<MessageId, MatchedMessage>();
  const unmatched: InboxItemDocument[] = [];
  for (const { item, status, key } of statuses) {
    const message = byKey.get(key) ?? byOurs.get(status.ours ?? '');
    if (message === undefined || message.account !== item.account) {
      unmatched.push(item);
      continue;
    }
    const group = matched.get(message._id) ?? { message, statuses: [], items: [] };
    group.statuses.push(status);
    group.items.push(item);
    matched.set(message._id, group);
  }
  return { matched: [...matched.values()], unmatched };
}

async function findByKey(db: Db, statuses: readonly Status[]): Promise<ReadonlyMap<string, ChatMessageDocument>> {
  const keys = statuses.map(({ key }) => key);
  const found = await db
    .collection<ChatMessageDocument>('messages')
    .find({ 'parts.key': { $in: keys } })
    .toArray();
  return new Map(
    found.flatMap((message) => (message.parts ?? []).flatMap(({ key }) => (key === undefined ? [] : [[key, message]]))),
  );
}

/**
 * Finds messages by our id, which the status repeats. Needed when the answer with the provider's id was not stored,
 * or never came.
 */
async function findByOurs(db: Db, statuses: readonly Status[]): Promise<ReadonlyMap<string, ChatMessageDocument>> {
  const ids = statuses.flatMap(({ status: { ours } }) => (ours !== undefined && isMessageId(ours) ? [ours] : []));
  if (ids.length === 0) return new Map();
  const found = await db
    .collection<ChatMessageDocument>('messages')
    .find({ _id: { $in: ids }, channel: 'chatapp', direction: 'out' })
    .toArray();
  return new Map(found.map((message) => [message._id, message]));
}
