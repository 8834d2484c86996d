import type { Collection, Db } from 'mongodb';
import { isDuplicateKey } from '../../platform/mongo/errors.ts';
import type { AccountId, ConversationId } from '../../platform/runtime/ids.ts';
import type { Answered } from './arrival.ts';
import type { PlannedInclusion } from './plan.ts';

/**
 * How many messages an account that limits it has sent in a conversation, without the one that opened it. Counted before the message
 * is stored, by an update that goes no further than the limit: so it is exact over all gateways. A process that dies in between leaves
 * one too many, never one too few.
 */
interface PlacesDocument {
  readonly _id: ConversationId;
  readonly account: AccountId;
  readonly n: number;
  /** The conversation's end. */
  readonly expiresAt: Date;
}

function placesCollection(db: Db): Collection<PlacesDocument> {
  return db.collection('conversation_places');
}

export interface Placed {
  readonly placed: readonly PlannedInclusion[];
  readonly refused: readonly Answered[];
}

/** Takes a place in its conversation for each message, of `most` with the opener. Those that were accepted before need none. */
export async function takePlaces(
  db: Db,
  account: AccountId,
  inclusions: readonly PlannedInclusion[],
  most: number | undefined,
): Promise<Placed> {
  if (most === undefined) return { placed: inclusions, refused: [] };
  const byConversation = new Map<ConversationId, PlannedInclusion[]>();
  for (const one of inclusions) {
    if (one.arrival.again) continue;
    const { id } = one.conversation;
    byConversation.set(id, [...(byConversation.get(id) ?? []), one]);
  }
  const refused = await Promise.all(
    [...byConversation.values()].map(async (wanting) => {
      const [first] = wanting;
      const room = first === undefined ? 0 : await takeIn(db, account, first.conversation, wanting.length, most - 1);
      return wanting.slice(room);
    }),
  );
  const without = new Set(refused.flat());
  return {
    placed: inclusions.filter((one) => !without.has(one)),
    refused: [...without].map(({ arrival }) => [arrival, { kind: 'conversation_limit_reached', most }] as const),
  };
}

/** Takes up to `wanted` of the `room` that a conversation has in all. Returns how many there were. */
async function takeIn(
  db: Db,
  account: AccountId,
  { id, until }: PlannedInclusion['conversation'],
  wanted: number,
  room: number,
): Promise<number> {
  const had = { $ifNull: ['$n', 0] };
  // A limit that was lowered takes nothing back.
  const n = { $max: [had, { $min: [room, { $add: [had, wanted] }] }] };
  const take = () =>
    placesCollection(db).findOneAndUpdate({ _id: id }, [{ $set: { account, n, expiresAt: until } }], {
      upsert: true,
      returnDocument: 'before',
    });
  const before = await take().catch((error: unknown) => {
    // Another gateway has inserted it at the same moment.
    if (!isDuplicateKey(error)) throw error;
    return take();
  });
  return Math.min(wanted, Math.max(0, room - (before?.n ?? 0)));
}

/** Gives back the places of messages that were not stored after all. */
export async function givePlacesBack(db: Db, inclusions: readonly PlannedInclusion[]): Promise<void> {
  const updates = inclusions
    .filter(({ arrival }) => !arrival.again)
    .map(({ conversation }) => ({
      updateOne: { filter: { _id: conversation.id }, update: { $inc: { n: -1 } } },
    }));
  if (updates.length > 0) await placesCollection(db).bulkWrite(updates, { ordered: false });
}

/** For a dry run: whether one more message may go in this conversation now. Takes nothing. */
export async function hasPlace(db: Db, conversation: ConversationId, most: number): Promise<boolean> {
  const taken = await placesCollection(db).findOne({ _id: conversation }, { projection: { n: 1 } });
  return (taken?.n ?? 0) < most - 1;
}
