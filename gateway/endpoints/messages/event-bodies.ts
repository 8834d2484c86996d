import type { Db } from 'mongodb';
import { eventBody } from '../../../shared/events/catalogue.ts';
import type { AnyMessage } from '../../../shared/messages/document/any-message.ts';
import type { AccountId, EventId, MessageId } from '../../../shared/platform/runtime/ids.ts';
import type { ListedEvent } from './event-list.ts';

export interface EventBody {
  readonly id: EventId;
  /** The same payload that webhooks post. */
  readonly body: string;
}

export interface EventBodies {
  readonly bodies: readonly EventBody[];
  /** How many of the events are in this answer, counted from the first. The rest belongs to the next page. */
  readonly taken: number;
}

/**
 * Characters of all bodies together. A customer's message may have 64 KB; 500 of them blocked a gateway for seconds.
 */
const WEIGHT_MAX = 1_048_576;
/**
 * Messages of the first read. Each later read takes as many as should weigh about `GROUP_WEIGHT`, estimated from the
 * read before.
 */
const FIRST_GROUP = 16;
const GROUP_MAX = 256;
const GROUP_WEIGHT = 131_072;

/**
 * Reads the bodies of these events in their order, until a page is full; at least one. Leaves out messages that have
 * been removed since.
 */
export async function readEventBodies(
  db: Db,
  account: AccountId,
  events: readonly ListedEvent[],
): Promise<EventBodies> {
  const bodies: EventBody[] = [];
  let taken = 0;
  let weight = 0;
  for (let size = FIRST_GROUP; taken < events.length; ) {
    const group = events.slice(taken, taken + size);
    const messages = await readMessages(db, account, group);
    let groupWeight = 0;
    for (const { id, message: messageId, entry } of group) {
      const message = messages.get(messageId);
      const body = message === undefined ? '' : eventBody({ message, entry });
      if (bodies.length > 0 && weight + body.length > WEIGHT_MAX) return { bodies, taken };
      if (body !== '') bodies.push({ id, body });
      taken += 1;
      weight += body.length;
      groupWeight += body.length;
    }
    size = Math.max(1, Math.min(GROUP_MAX, Math.floor((group.length * GROUP_WEIGHT) / Math.max(groupWeight, 1))));
  }
  return { bodies, taken };
}

async function readMessages(
  db: Db,
  account: AccountId,
  events: readonly ListedEvent[],
): Promise<ReadonlyMap<MessageId, AnyMessage>> {
  const ids = [...new Set(events.map(({ message }) => message))];
  const found = await db
    .collection<AnyMessage>('messages')
    .find({ _id: { $in: ids }, account }, { batchSize: ids.length + 1 })
    .toArray();
  return new Map(found.map((message) => [message._id, message]));
}
