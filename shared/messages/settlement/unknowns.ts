import type { Collection, Db, Filter } from 'mongodb';
import type { CarrierDocument } from '../../carriers/carrier.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import { type AccountId, idTime } from '../../platform/runtime/ids.ts';
import { channelOf } from '../channels/channels.ts';
import type { AnyMessage } from '../document/any-message.ts';
import { type Change, entryAt, fitted } from '../document/change.ts';
import type { BusinessNumber } from '../document/chat-message.ts';
import {
  currentCopy,
  isHeldOpen,
  isTaken,
  isUnanswered,
  MAX_COPIES,
  NOT_REFUNDED,
  UNCONFIRMED,
  unknownParts,
} from '../document/copies.ts';
import { CLAIM_HOLDER, type MessageState } from '../document/message.ts';
import { sentWith } from './decide-outcome.ts';
import { type MessageLog, policyRecord } from './message-log.ts';
import type { Settler } from './settle.ts';

/**
 * Submits that were never answered. They may have arrived, and sending them again could reach the customer twice. So
 * nothing is done until an answer or a receipt settles them, or the policy of the carrier or provider decides after the
 * waiting time.
 */

/** More wait for the next run. */
const MAX_GROUP = 200;

/**
 * Marks messages that an earlier process under the holder's lease left `submitting` as unknown: they may just have been
 * written. The new epoch in the claim fences off that process, in case it still lives. `own`: also messages that this
 * process left in this epoch, because the store was away and nothing could be put back. Returns how many.
 */
export async function takeOverUnknowns(db: Db, holder: string, epoch: number, own = false): Promise<number> {
  const { modifiedCount } = await db
    .collection<AnyMessage>('messages')
    .updateMany(
      { [CLAIM_HOLDER]: holder, state: 'submitting', 'claim.epoch': own ? { $lte: epoch } : { $lt: epoch } },
      { $set: { outcome: 'unknown', 'claim.epoch': epoch }, $inc: { v: 1 } },
    );
  return modifiedCount;
}

/** Counted up to `most`. */
export interface WaitingAtCarrier {
  readonly count: number;
  readonly oldest?: Date | undefined;
}

/** Submits that were never answered and wait for an answer, a receipt or the policy. */
export function countUnknowns(db: Db, holder: string, most: number): Promise<WaitingAtCarrier> {
  return countOf(db, { [CLAIM_HOLDER]: holder, state: 'submitting', outcome: 'unknown' }, most);
}

/** Messages that a carrier refused for now and that wait for their next try. */
export function countRetrying(db: Db, holder: string, most: number): Promise<WaitingAtCarrier> {
  return countOf(db, { [CLAIM_HOLDER]: holder, state: 'waiting' }, most);
}

async function countOf(db: Db, which: Filter<AnyMessage>, most: number): Promise<WaitingAtCarrier> {
  const messages = db.collection<AnyMessage>('messages');
  const [oldest] = await messages
    .find(which, { projection: { _id: 1 } })
    .sort({ _id: 1 })
    .limit(1)
    .toArray();
  if (oldest === undefined) return { count: 0 };
  return { count: await messages.countDocuments(which, { limit: most }), oldest: idTime(oldest._id) };
}

export interface UnknownsOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly settler: Pick<Settler, 'settle'>;
  /** The holder of the claims, and its policy for those that waited long enough. */
  readonly holder: Pick<CarrierDocument, '_id' | 'unknownPolicy' | 'unknownWaitMs'>;
  /** Only those of this account that left from this number. */
  readonly sender?: { readonly account: AccountId; readonly from: BusinessNumber };
  /** Only those whose validity is over: they are not sent again, whatever the policy. */
  readonly overOnly?: boolean;
  readonly messageLog?: MessageLog;
}

/** Also ends messages kept open for an earlier copy. Returns the states that they moved to. */
export async function decideUnknowns({
  db,
  clock,
  settler,
  holder,
  sender,
  overOnly = false,
  messageLog,
}: UnknownsOptions): Promise<readonly MessageState[]> {
  const messages: Collection<AnyMessage> = db.collection('messages');
  const now = clock.now();
  const waited = await messages
    .find({
      [CLAIM_HOLDER]: holder._id,
      state: 'submitting',
      outcome: 'unknown',
      ...sender,
      ...(overOnly && { validUntil: { $lte: now } }),
      'claim.at': { $lte: new Date(now.getTime() - holder.unknownWaitMs) },
    })
    .limit(MAX_GROUP)
    .toArray();
  if (waited.length === 0) return [];
  const settled = await settler.settle(
    waited.map((message) => ({
      message,
      decide: (stored: AnyMessage) =>
        // A claim of another epoch, or a later claim, has not waited yet.
        stored.claim?.id === message.claim?.id && stored.claim?.epoch === message.claim?.epoch
          ? decideByPolicy(stored, holder.unknownPolicy, now)
          : undefined,
    })),
  );
  const decided = waited.flatMap((message, i) => {
    const became = settled[i]?.state;
    return became === undefined ? [] : [{ message, became }];
  });
  messageLog?.add(decided.map(({ message, became }) => policyRecord(message, holder, became, now)));
  return decided.map(({ became }) => became);
}

/** For a submit that was not answered within the waiting time; undefined when nothing is left to decide. */
export function decideByPolicy(
  message: AnyMessage,
  policy: CarrierDocument['unknownPolicy'],
  now: Date,
): Change | undefined {
  if (isHeldOpen(message)) {
    return unconfirmed(message, `Sent again, it was refused (${message.errorCode}: ${message.errorReason}).`, now);
  }
  if (!isUnanswered(message)) return undefined;
  const count = channelOf(message).partsOf(message);
  const { parts = [], earlier: before = [] } = message;
  // Accepted parts must not be sent again; what is known of the others stays.
  const accepted =
    parts.some((part) => part.state !== 'unknown' && part.state !== 'refused') ||
    before.some((copy) => isTaken(copy.parts));
  if (policy === 'assume_sent' || accepted) return sentWith(message, message.parts ?? unknownParts(count), now);
  const earlier = [...before, currentCopy(message, count)];
  if (earlier.length >= MAX_COPIES)
    return unconfirmed(message, `Sent ${MAX_COPIES} times, it was never answered.`, now);
  return { state: 'queued', set: { earlier }, unset: ['outcome', 'parts'] };
}

/** Nothing more is awaited. `failed`, not `rejected`: it may have been delivered, and a receipt may still say so. */
function unconfirmed(message: AnyMessage, what: string, now: Date): Change {
  return fitted(message, {
    state: 'failed',
    set: { errorCode: UNCONFIRMED, errorReason: `${what} ${NOT_REFUNDED}` },
    unset: ['due', 'outcome'],
    entries: [entryAt('failed', now, message.history)],
  });
}
