import type { Db } from 'mongodb';
import { type InboxItemDocument, itemId, type StatusItem } from '../../shared/chat-inbox/inbox-item.ts';
import { openItems } from '../../shared/chat-inbox/store.ts';
import { isNext } from '../../shared/messages/status.ts';
import type { ToldMessage } from './match-statuses.ts';

/**
 * A `delivered` that comes before the answer to its send is stored fits no message yet, and is put off (inbox.ts). A `read` that
 * comes a moment later may fit, and a message that was read does not become delivered: nobody would be told that it was. So such a
 * `read` takes along the `delivered` that still waits. The store is asked only for messages that were read before they were
 * delivered.
 */
export async function withEarlyDeliveries(db: Db, told: readonly ToldMessage[]): Promise<readonly ToldMessage[]> {
  const wanted = told.flatMap((one) => missingOf(one).map((id) => ({ id, one })));
  if (wanted.length === 0) return told;
  const open = await openItems(
    db,
    wanted.map(({ id }) => id),
  );
  const byId = new Map(open.map((item) => [item._id, item]));
  const found = new Map<ToldMessage, InboxItemDocument[]>();
  for (const { id, one } of wanted) {
    const item = byId.get(id);
    if (item !== undefined) found.set(one, [...(found.get(one) ?? []), item]);
  }
  return told.map((one) => {
    const items = found.get(one) ?? [];
    const statuses = items.flatMap(({ what }) => (what.kind === 'status' ? [what] : []));
    return { ...one, items: [...one.items, ...items], statuses: [...one.statuses, ...statuses] };
  });
}

/** The items that may wait: of each `read` whose `delivered` is neither here nor in the message. */
function missingOf({ message, statuses }: ToldMessage): readonly string[] {
  if (!isNext(message.state, 'delivered')) return [];
  const has = (status: StatusItem['status'], upstreamId: string): boolean =>
    statuses.some((one) => one.status === status && one.upstreamId === upstreamId);
  return statuses.flatMap(({ status, upstreamId }) =>
    status === 'read' && !has('delivered', upstreamId) ? [itemId(message.account, 'delivered', upstreamId)] : [],
  );
}
