import type { Db } from 'mongodb';
import { itemId, type StatusItem } from '../../shared/messages/chat-inbox-item.ts';
import { openItems } from '../../shared/messages/chat-inbox-store.ts';
import { isNext } from '../../shared/messages/document/status.ts';
import type { MatchedMessage } from './match-statuses.ts';

/**
 * Adds to a `read` the `delivered` that still waits in the inbox. A `delivered` fits no message, and waits (inbox.ts), as long as
 * the answer to its send is not stored. A `read` that comes a moment later may find the message. Since a message that was read
 * never becomes delivered, nobody would be told of the delivery. Asks the store only about messages that have a `read` and no
 * `delivered`.
 */
export async function addEarlyDeliveries(db: Db, matched: readonly MatchedMessage[]): Promise<void> {
  const missing = new Map(matched.flatMap((one) => missingOf(one).map((id) => [id, one])));
  if (missing.size === 0) return;
  for (const item of await openItems(db, [...missing.keys()])) {
    const one = missing.get(item._id);
    if (one === undefined || item.what.kind !== 'status') continue;
    one.statuses.push(item.what);
    one.items.push(item);
  }
}

/** The items that may wait: of each `read` whose `delivered` is neither here nor in the message. */
function missingOf({ message, statuses }: MatchedMessage): readonly string[] {
  if (!isNext(message.state, 'delivered')) return [];
  const of = (wanted: StatusItem['status']): readonly string[] =>
    statuses.flatMap(({ status, upstreamId }) => (status === wanted ? [upstreamId] : []));
  const delivered = of('delivered');
  return of('read').flatMap((id) => (delivered.includes(id) ? [] : [itemId(message.account, 'delivered', id)]));
}
