import type { Collection, Db } from 'mongodb';
import type { CarrierDocument } from '../carriers/carrier.ts';
import type { Clock } from '../runtime/clock.ts';
import type { AccountId } from '../runtime/ids.ts';
import type { AnyMessage } from './any-message.ts';
import type { Change } from './change.ts';
import type { MessageLog } from './log-store.ts';
import type { Part } from './message.ts';
import { policyRecord } from './message-log.ts';
import { sentWith } from './receipt-outcome.ts';
import type { Settler } from './settle.ts';

/**
 * Submits whose answer never came. They may have arrived: sending them again could reach the customer twice, so nothing is
 * done until an answer or a receipt settles them, or the carrier's waiting time is over and its policy decides.
 */

/** Decided in one go; more wait for the next. */
const MAX_GROUP = 200;

/**
 * What an earlier holder of the carrier's lease left `submitting` is unknown from now on: it may have been written just before that
 * holder ended. The new epoch in the claim makes the earlier holder, should it still live, settle nothing. `own`: also what this
 * holder left in this epoch, when it ended while the store was away and could give nothing back. Returns how many.
 */
export async function takeOverUnknowns(db: Db, carrier: string, epoch: number, own = false): Promise<number> {
  const { modifiedCount } = await db
    .collection<AnyMessage>('messages')
    .updateMany(
      { 'claim.carrier': carrier, state: 'submitting', 'claim.epoch': own ? { $lte: epoch } : { $lt: epoch } },
      { $set: { outcome: 'unknown', 'claim.epoch': epoch }, $inc: { v: 1 } },
    );
  return modifiedCount;
}

export interface UnknownsOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly settler: Pick<Settler, 'settle'>;
  /** Whose claims they are, and what is done about those that waited long enough. */
  readonly carrier: Pick<CarrierDocument, '_id' | 'unknownPolicy' | 'unknownWaitMs'>;
  /** Only those of this account. */
  readonly account?: AccountId;
  /** Absent: nothing is kept for timelines. */
  readonly messageLog?: MessageLog;
}

/** Applies the carrier's policy to unknowns that waited long enough. Returns how many were decided. */
export async function decideUnknowns({
  db,
  clock,
  settler,
  carrier,
  account,
  messageLog,
}: UnknownsOptions): Promise<number> {
  const messages: Collection<AnyMessage> = db.collection('messages');
  const now = clock.now();
  const waited = await messages
    .find({
      'claim.carrier': carrier._id,
      state: 'submitting',
      outcome: 'unknown',
      ...(account === undefined ? {} : { account }),
      'claim.at': { $lte: new Date(now.getTime() - carrier.unknownWaitMs) },
    })
    .limit(MAX_GROUP)
    .toArray();
  if (waited.length === 0) return 0;
  const settled = await settler.settle(
    waited.map((message) => ({
      message,
      decide: (stored: AnyMessage) =>
        // A claim of another epoch, or a later one, has not waited yet.
        stored.claim?.id === message.claim?.id && stored.claim?.epoch === message.claim?.epoch
          ? byPolicy(stored, carrier.unknownPolicy, now)
          : undefined,
    })),
  );
  const decided = waited.filter((_, i) => settled[i] !== undefined);
  messageLog?.add(decided.map((message) => policyRecord(message, carrier, now)));
  return decided.length;
}

function byPolicy(message: AnyMessage, policy: CarrierDocument['unknownPolicy'], now: Date): Change | undefined {
  if (message.state !== 'submitting' || message.outcome !== 'unknown') return undefined;
  // Parts that were accepted must not go out again; what is known of the others stays as it is.
  const accepted = (message.parts ?? []).some((part) => part.state !== 'unknown' && part.state !== 'refused');
  if (policy === 'resend' && !accepted) return { state: 'queued', unset: ['outcome', 'parts'] };
  const segments = message.channel === 'sms' ? message.segments : 1;
  const parts: readonly Part[] =
    message.parts ?? Array.from({ length: segments }, () => ({ state: 'unknown' as const }));
  return sentWith(message, parts, now);
}
