import type { Collection, Db } from 'mongodb';
import type { ChatMessageDocument } from '../../messages/document/chat-message.ts';
import { isDuplicateKey } from '../../platform/mongo/errors.ts';
import { findCommitted } from '../../platform/mongo/find-one.ts';
import { insertNew } from '../../platform/mongo/insert-new.ts';
import { NOW_MS } from '../../platform/mongo/store-time.ts';
import { untilAnswered } from '../../platform/mongo/until-answered.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import type { AccountId, ConversationId, MessageId } from '../../platform/runtime/ids.ts';
import { errorFields, type Log } from '../../platform/runtime/log.ts';
import type { OpenConversation } from '../accounts/account.ts';
import { declareOver } from '../payment/debit.ts';
import { readPaid } from '../payment/pending.ts';
import { type Answer, type Answered, OUTCOME_UNKNOWN, type PlannedInclusion, queuedChatMessage } from './decide.ts';

export interface ChatDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Stores messages that go in paid conversations. Nobody is charged, so the insert decides. Messages with `payBy` are
 * stored one by one, because a failure of one says nothing about the others. Answers for every message; never rejects.
 */
async function include(
  deps: ChatDeps,
  account: AccountId,
  includedMessages: readonly PlannedInclusion[],
): Promise<readonly Answered[]> {
  const { db } = deps;
  const keyed = includedMessages.filter(({ arrival }) => arrival.payBy !== undefined);
  const plain = includedMessages.filter(({ arrival }) => arrival.payBy === undefined);
  const boarded = await Promise.all([
    board(deps, account, plain, async () => {
      const messages = plain.map(({ arrival, conversation }) => queuedChatMessage(account, arrival, conversation));
      await insertNew(db, 'messages', messages);
      return true;
    }),
    ...keyed.map((one) => board(deps, account, [one], () => insertInTime(db, account, one))),
  ]);
  return boarded.flat();
}

/** Handles all messages together. `store` returns whether it was in time. */
async function board(
  { clock, log }: ChatDeps,
  account: AccountId,
  includedMessages: readonly PlannedInclusion[],
  store: () => Promise<boolean>,
): Promise<readonly Answered[]> {
  if (includedMessages.length === 0) return [];
  try {
    const asked = await untilAnswered({ clock, log, what: { account } }, store);
    return includedMessages.map(({ arrival, conversation }) => [arrival, answerIn(conversation, asked)]);
  } catch (error) {
    return includedMessages.map(({ arrival }) => [arrival, { kind: 'failed', error }]);
  }
}

function answerIn({ id }: OpenConversation, asked: { readonly answer: boolean } | 'unknown'): Answer {
  if (asked === 'unknown') return OUTCOME_UNKNOWN;
  return asked.answer ? { kind: 'accepted', conversation: id, credits: 0 } : { kind: 'too_late' };
}

async function insertInTime(db: Db, account: AccountId, { arrival, conversation }: PlannedInclusion): Promise<boolean> {
  return arrival.payBy === undefined || insertBy(db, queuedChatMessage(account, arrival, conversation), arrival.payBy);
}

/**
 * How many messages an account that limits them has sent in a conversation, without the opening one. Raised before the
 * message is stored, by an update that stops at the limit: exact over all gateways. After a crash perhaps one too many,
 * never one too few.
 */
interface PlacesDocument {
  readonly _id: ConversationId;
  readonly account: AccountId;
  readonly n: number;
  readonly expiresAt: Date;
}

function placesCollection(db: Db): Collection<PlacesDocument> {
  return db.collection('conversation_places');
}

/**
 * For an account that limits the messages of a conversation to `most`, the first included: each takes a place before it
 * is stored, and gives it back when it is not. Without `most`: `include`.
 */
export async function includeWithin(
  deps: ChatDeps,
  account: AccountId,
  inclusions: readonly PlannedInclusion[],
  most: number | undefined,
): Promise<readonly Answered[]> {
  if (most === undefined) return include(deps, account, inclusions);
  const { placed, refused } = await takePlaces(deps.db, account, inclusions, most);
  const answered = await include(deps, account, placed);
  const notStored = new Set(
    answered.flatMap(([arrival, { kind }]) => (kind === 'accepted' || kind === 'outcome_unknown' ? [] : [arrival])),
  );
  // A place that cannot be given back stays counted.
  await givePlacesBack(
    deps.db,
    placed.filter(({ arrival }) => notStored.has(arrival)),
  ).catch((error: unknown) => deps.log.warn('places_not_given_back', { account, ...errorFields(error) }));
  return [...refused, ...answered];
}

async function takePlaces(db: Db, account: AccountId, inclusions: readonly PlannedInclusion[], most: number) {
  const byConversation = new Map<ConversationId, PlannedInclusion[]>();
  for (const one of inclusions) {
    const { id } = one.conversation;
    byConversation.set(id, [...(byConversation.get(id) ?? []), one]);
  }
  const without = await Promise.all(
    [...byConversation.values()].map(async (wanting) => {
      const [first] = wanting;
      const room = first === undefined ? 0 : await takeIn(db, account, first.conversation, wanting.length, most - 1);
      return wanting.slice(room);
    }),
  );
  const left = new Set(without.flat());
  return {
    placed: inclusions.filter((one) => !left.has(one)),
    refused: [...left].map(({ arrival }): Answered => [arrival, { kind: 'conversation_limit_reached', most }]),
  };
}

/** Takes up to `wanted` of the conversation's `room`. Returns how many there were. */
async function takeIn(
  db: Db,
  account: AccountId,
  { id, until }: OpenConversation,
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

async function givePlacesBack(db: Db, inclusions: readonly PlannedInclusion[]): Promise<void> {
  const updates = inclusions.map(({ conversation }) => ({
    updateOne: { filter: { _id: conversation.id }, update: { $inc: { n: -1 } } },
  }));
  if (updates.length > 0) await placesCollection(db).bulkWrite(updates, { ordered: false });
}

/** For a dry run: whether one more message may go in this conversation now. Takes nothing. */
export async function hasPlace(db: Db, conversation: ConversationId, most: number): Promise<boolean> {
  const taken = await placesCollection(db).findOne({ _id: conversation }, { projection: { n: 1 } });
  return (taken?.n ?? 0) < most - 1;
}

/**
 * Version of a placeholder: a document with only the id of a message that came too late. It belongs to no account, is
 * shown to nobody, and is removed with the messages of its age. Versions of messages begin at 0.
 */
export const TOO_LATE_V = -1;

/** A final state, so that it is removed with old messages. */
const TOO_LATE = { v: TOO_LATE_V, state: 'rejected' } as const satisfies Partial<ChatMessageDocument>;

/**
 * Stores a free message before `payBy` of the store's time, or never, however long it is delayed. Too late, it stores a
 * placeholder, so that an earlier attempt still on its way finds the id taken, also on a server whose clock is behind.
 * False when it was too late. May be repeated when the answer was lost.
 */
export async function insertBy(db: Db, message: ChatMessageDocument, payBy: Date): Promise<boolean> {
  const messages = db.collection<ChatMessageDocument>('messages');
  const { _id, ...rest } = message;
  const inTime = { $lt: [NOW_MS, payBy.getTime()] };
  const fields = Object.entries(rest).map(([name, value]) => [
    name,
    { $cond: [inTime, { $literal: value }, '$$REMOVE'] },
  ]);
  const stored = {
    ...Object.fromEntries(fields),
    v: { $cond: [inTime, message.v, TOO_LATE.v] },
    state: { $cond: [inTime, message.state, TOO_LATE.state] },
  };
  let found: Pick<ChatMessageDocument, 'v'> | null;
  try {
    found = await messages.findOneAndUpdate({ _id, v: { $exists: false } }, [{ $set: stored }], {
      upsert: true,
      returnDocument: 'after',
      projection: { v: 1 },
    });
    // Some servers say nothing to one of two that insert it together.
    found ??= await findCommitted(messages, { _id }, { v: 1 });
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    found = await findCommitted(messages, { _id }, { v: 1 });
  }
  return found !== null && found.v !== TOO_LATE_V;
}

/** From then on nobody stores the message. Not for one that is paid for and not stored yet. May be repeated. */
export async function neverStore(db: Db, id: MessageId): Promise<void> {
  await insertNew(db, 'messages', [{ _id: id, ...TOO_LATE }]);
}

/**
 * Makes sure that an attempt that had to pay before `payBy` never succeeds from now on; false while it may. Then what
 * `findAcceptedChat` says is final, and the message's id is used up. For an opener it is enough to declare its time
 * over; a free message gets a placeholder (`neverStore`). A paid opener that is not stored yet must get none:
 * maintenance may store it later, and would find its id taken.
 */
export async function endChatAttempt(db: Db, account: AccountId, id: MessageId, payBy: Date): Promise<boolean> {
  if (!(await declareOver(db, account, payBy))) return false;
  if ((await findAcceptedChat(db, account, id)) === undefined) await neverStore(db, id);
  return true;
}

export type AcceptedChat = Pick<ChatMessageDocument, '_id' | 'to' | 'conversation' | 'content' | 'opened'>;

/** Finds a stored message, or one that is still in the account's pending changes. */
export async function findAcceptedChat(db: Db, account: AccountId, id: MessageId): Promise<AcceptedChat | undefined> {
  for (const { chatMessages } of (await readPaid(db, account, findCommitted)).values()) {
    const pending = chatMessages.find((message) => message._id === id);
    if (pending !== undefined) return pending;
  }
  const messages = db.collection<ChatMessageDocument>('messages');
  const shown = { to: 1, conversation: 1, content: 1, opened: 1 };
  return (await findCommitted(messages, { _id: id, account, v: { $gt: TOO_LATE_V } }, shown)) ?? undefined;
}
