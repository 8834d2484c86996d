import type { Db } from 'mongodb';
import { itemId, type StatusItem } from '../../shared/chat-inbox/inbox-item.ts';
import { openItems } from '../../shared/chat-inbox/store.ts';
import { isNext } from '../../shared/messages/status.ts';
import type { ToldMessage } from './match-statuses.ts';

/**
 * A `delivered` that comes before the answer to its send is stored fits no message yet, and is put off (inbox.ts). A `read` that
 * comes a moment later may fit, and a message that was read does not become delivered: nobody would be told that it was. So the
 * `delivered` that still waits is added to what the `read` tells. The store is asked only for messages that were read before they
 * were delivered.
 */
export async function addEarlyDeliveries(db: Db, told: readonly ToldMessage[]): Promise<void> {
  const missing = new Map(told.flatMap((one) => missingOf(one).map((id) => [id, one])));
  if (missing.size === 0) return;
  for (const item of await openItems(db, [...missing.keys()])) {
    const one = missing.get(item._id);
    if (one === undefined || item.what.kind !== 'status') continue;
    one.statuses.push(item.what);
    one.items.push(item);
  }
}

/** The items that may wait: of each `read` whose `delivered` is neither here nor in the message. */
function missingOf({ message, statuses }: ToldMessage): readonly string[] {
  if (!isNext(message.state, 'delivered')) return [];
  const of = (wanted: StatusItem['status']): readonly string[] =>
    statuses.flatMap(({ status, upstreamId }) => (status === wanted ? [upstreamId] : []));
  const delivered = of('delivered');
  return of('read').flatMap((id) => (delivered.includes(id) ? [] : [itemId(message.account, 'delivered', id)]));
}
