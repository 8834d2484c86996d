import { setTimeout } from 'node:timers/promises';
import type { Db } from 'mongodb';
import { listCarriers } from '../../../shared/carriers/carrier-store.ts';
import type { AnyMessage } from '../../../shared/messages/document/any-message.ts';
import { queueOf } from '../../../shared/messages/queue/queue-store.ts';
import { HOUR_MS, type HourDocument, type HourName, hourStart } from '../../../shared/messages/statistics-hour.ts';
import { countedHourCollection, hourCollection } from '../../../shared/messages/statistics-store.ts';
import { TOO_LATE_V } from '../../../shared/money/conversations/included-store.ts';
import type { Clock } from '../../../shared/platform/runtime/clock.ts';
import { type AccountId, idTime, lowestId, type MessageId } from '../../../shared/platform/runtime/ids.ts';
import { dueHours, type LastCount } from './due-hours.ts';
import { givenBack } from './given-back.ts';
import { COUNTED_FIELDS, type Counted, Tally } from './tally.ts';

/** Messages of one read: as many as keep the store busy for some milliseconds. */
const SLICE = 500;
/** Documents of one write. */
const WRITE = 100;
/** The pause after each command, as a multiple of what it took: a store that is busy gets less to do. */
const PAUSE = 9;
const DAY_MS = 24 * HOUR_MS;
/** Messages of lines that should have been inserted so long ago: the maintenance was away, and an hour may lack many. */
const LATE_MS = 5_000;
/** Statistics show 30 days. */
const COUNTED_DAYS = 31;
const KEPT_MS = 400 * DAY_MS;

export interface CountDeps {
  readonly db: Db;
  readonly clock: Clock;
  /** How long messages are kept. */
  readonly messageDays: number;
  /** Whether we still hold the lease. */
  held(): boolean;
}

/** Counts the hours that are due. Between runs it remembers when each was counted: only a holder of the lease counts. */
export class HourCounter {
  readonly #deps: CountDeps;
  #known: Map<HourName, LastCount> | undefined;
  /** Hours before this time are not counted, because no message is older. */
  #begin: Date | undefined;

  constructor(deps: CountDeps) {
    this.#deps = deps;
  }

  /** The newest hours first, until none is left or the lease is lost. None while accepted messages are missing in `messages`. */
  async run(): Promise<void> {
    const { db, clock, messageDays, held } = this.#deps;
    if (!held()) {
      this.#known = undefined;
      return;
    }
    const now = clock.now();
    const late = { writeAt: { $lt: new Date(now.getTime() - LATE_MS) } };
    if ((await queueOf(db).findOne(late, { projection: { _id: 1 } })) !== null) return;
    this.#known ??= new Map((await countedHourCollection(db).find().toArray()).map((hour) => [hour._id, hour]));
    this.#begin ??= await firstHour(db, now);
    const kept = now.getTime() - Math.min(COUNTED_DAYS, messageDays - 1) * DAY_MS;
    const since = new Date(Math.max(kept, this.#begin.getTime()));
    const due = dueHours(this.#known, since, now);
    for (const hour of due) {
      const counted = await countHour(this.#deps, hour);
      if (counted === undefined) break;
      this.#known.set(hour, counted);
    }
    for (const hour of this.#known.keys()) if (hourStart(hour) < since) this.#known.delete(hour);
  }
}

/**
 * Reads the messages of one hour along `_id`, slice by slice, and replaces the counts of every account that has any. Ids have the
 * time at which a message was made. Undefined: the lease was lost, and nothing is written.
 */
async function countHour({ db, clock, held }: CountDeps, hour: HourName): Promise<LastCount | undefined> {
  const countedAt = clock.now();
  const expiresAt = new Date(hourStart(hour).getTime() + KEPT_MS);
  const carrierNames = new Map((await listCarriers(db)).map(({ _id, name }) => [_id, name]));
  const tallies = new Map<AccountId, Tally>();
  const pace = new Pace(clock);
  let messages = 0;
  for await (const slice of slicesOf(db, hour, pace)) {
    if (!held()) return undefined;
    messages += slice.length;
    const refunded = await givenBack(db, slice);
    for (const message of slice) {
      if (message.v === TOO_LATE_V) continue;
      const tally = tallies.get(message.account) ?? new Tally(carrierNames);
      tallies.set(message.account, tally);
      tally.add(message, refunded);
    }
  }
  const documents = [...tallies].map(([account, tally]) => tally.document(account, hour, countedAt, expiresAt));
  for (let first = 0; first < documents.length; first += WRITE) {
    await pace.pause();
    await replace(db, documents.slice(first, first + WRITE));
  }
  // Last, so that a process that dies before it leaves the hour due.
  const counted = { countedAt, tookMs: Math.ceil(pace.workedMs()), messages };
  await countedHourCollection(db).replaceOne({ _id: hour }, { ...counted, expiresAt }, { upsert: true });
  return counted;
}

/** A day before the oldest message, so that a new installation does not count a month of nothing. Late ones may have older ids. */
async function firstHour(db: Db, now: Date): Promise<Date> {
  const [oldest] = await db
    .collection<AnyMessage>('messages')
    .find({}, { projection: { _id: 1 } })
    .sort({ _id: 1 })
    .limit(1)
    .toArray();
  const at = oldest === undefined ? now : idTime(oldest._id);
  return new Date(Math.min(at.getTime(), now.getTime()) - DAY_MS);
}

async function* slicesOf(db: Db, hour: HourName, pace: Pace): AsyncGenerator<readonly Counted[]> {
  const start = hourStart(hour);
  const end: MessageId = lowestId('msg', new Date(start.getTime() + HOUR_MS));
  let range: object = { $gte: lowestId('msg', start), $lt: end };
  for (;;) {
    const slice = await db
      .collection<AnyMessage>('messages')
      .find({ _id: range }, { projection: COUNTED_FIELDS })
      .sort({ _id: 1 })
      .limit(SLICE)
      .batchSize(SLICE + 1)
      .toArray();
    yield slice as readonly unknown[] as readonly Counted[]; // the projection has its fields
    const last = slice.at(-1);
    if (last === undefined || slice.length < SLICE) return;
    range = { $gt: last._id, $lt: end };
    await pace.pause();
  }
}

async function replace(db: Db, documents: readonly HourDocument[]): Promise<void> {
  await hourCollection(db).bulkWrite(
    documents.map((document) => ({
      replaceOne: { filter: { _id: document._id }, replacement: document, upsert: true },
    })),
    { ordered: false },
  );
}

/** Rests between commands, and sums up how long they took. */
class Pace {
  readonly #clock: Clock;
  #sinceMs: number;
  #workedMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#sinceMs = clock.monotonicMs();
  }

  async pause(): Promise<void> {
    const tookMs = this.#clock.monotonicMs() - this.#sinceMs;
    this.#workedMs += tookMs;
    await setTimeout(PAUSE * tookMs);
    this.#sinceMs = this.#clock.monotonicMs();
  }

  workedMs(): number {
    return this.#workedMs + this.#clock.monotonicMs() - this.#sinceMs;
  }
}
