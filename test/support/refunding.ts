import { MongoNetworkError } from 'mongodb';
import { createAnnouncer } from '../../shared/events/webhooks/announce.ts';
import { batchCollection } from '../../shared/messages/batch.ts';
import type { AnyMessage } from '../../shared/messages/document/any-message.ts';
import { type Change, entryAt } from '../../shared/messages/document/change.ts';
import { redoIntents } from '../../shared/messages/settlement/intents.ts';
import { Settler } from '../../shared/messages/settlement/settle.ts';
import { cancelSchedule } from '../../shared/money/payment/cancel-schedule.ts';
import { loadConfig } from '../../shared/platform/config/settings.ts';
import { connectStore } from '../../shared/platform/mongo/connect.ts';
import { systemClock as clock } from '../../shared/platform/runtime/clock.ts';
import type { AccountId, BatchId, MessageId, ScheduleId } from '../../shared/platform/runtime/ids.ts';
import { stopBatch } from '../../workers/batches/stop.ts';
import { DueMessages } from '../../workers/maintenance/settle-due.ts';

/** What is to end unsent. Each process that gets it ends all of it. */
export interface Refunding {
  readonly account: AccountId;
  readonly refused: readonly MessageId[];
  readonly schedules: readonly ScheduleId[];
  readonly batch: BatchId;
}

/**
 * A process that refunds in every possible way, for tests in which several do it at once. Sends `ready`, receives a
 * `Refunding`, sends `done`. Its argument is its name. It ends with its channel.
 */
const [, , name = ''] = process.argv;
const { db } = await connectStore(loadConfig(process.env));
const announcer = createAnnouncer({ db, clock });

process.on('message', (told) => {
  // Only the starting test speaks on this channel.
  untilAnswered(told as Refunding).then(
    () => process.send?.('done'),
    (error: unknown) => process.send?.(String(error)),
  );
});
process.on('disconnect', () => process.exit());
process.send?.('ready');

/** Repeats the work when the store does not answer in time, as the product does. */
async function untilAnswered(told: Refunding): Promise<void> {
  for (;;) {
    try {
      return await work(told);
    } catch (error) {
      if (!(error instanceof MongoNetworkError)) throw error;
    }
  }
}

async function work({ account, refused, schedules, batch }: Refunding): Promise<void> {
  const paid = await batchCollection(db).findOne({ _id: batch });
  if (paid === null) throw new Error('no such batch');
  const deps = { db, clock, announcer, held: () => true, render: () => Promise.reject(new Error('a plain text')) };
  await Promise.all([
    refuse(refused),
    expire(),
    Promise.all(schedules.map((id) => cancelSchedule(db, clock, account, id))),
    stopBatch(deps, paid),
  ]);
  // Each process also finishes what the other may have left.
  for (const other of ['one', 'two']) await redoIntents(db, announcer, leaseOf(other), 2);
}

async function refuse(ids: readonly MessageId[]): Promise<void> {
  const messages = await db
    .collection<AnyMessage>('messages')
    .find({ _id: { $in: [...ids] } })
    .toArray();
  await settler('outcomes').settle(messages.map((message) => ({ message, decide: rejected })));
}

async function expire(): Promise<void> {
  const due = new DueMessages({ db, settler: settler('due'), clock });
  while ((await due.settleGroup()) > 0);
}

function rejected(message: AnyMessage): Change | undefined {
  if (message.state !== 'submitting') return undefined;
  return { state: 'rejected', entries: [entryAt('rejected', clock.now(), message.history)] };
}

function settler(stream: 'outcomes' | 'due'): Settler {
  return new Settler({ db, announcer, lease: leaseOf(name), epoch: 1, stream });
}

function leaseOf(process: string): string {
  return `carrier:${process}`;
}
