import type { Db } from 'mongodb';
import { listCarriers } from '../../shared/carriers/carrier-store.ts';
import { priceListCollection } from '../../shared/carriers/providers/price-list.ts';
import type { AnyMessage } from '../../shared/messages/document/any-message.ts';
import type { ChatMessageDocument } from '../../shared/messages/document/chat-message.ts';
import { queueOf } from '../../shared/messages/queue/queue-store.ts';
import {
  ALL,
  type Amount,
  amountOf,
  countedHourCollection,
  HOUR_MS,
  type HourDocument,
  type HourName,
  hourCollection,
  hourName,
  hourStart,
  type LossDocument,
  lossCollection,
} from '../../shared/messages/statistics.ts';
import type { AccountDocument } from '../../shared/money/accounts/account.ts';
import { refundOf, wasRefused } from '../../shared/money/conversations/charge.ts';
import { TOO_LATE_V } from '../../shared/money/conversations/include.ts';
import { ledgerCollection } from '../../shared/money/ledger/store.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import {
  type AccountId,
  type ConversationId,
  idTime,
  isTestAccount,
  lowestId,
} from '../../shared/platform/runtime/ids.ts';
import { type CountedVerification, PrefixTally, readBraked } from './brake.ts';
import { Rests } from './prune-walk.ts';
import { COUNTED_FIELDS, type Counted, type CreditValues, sorted, Tally } from './tally.ts';

const SLICE = 500;
const WRITE = 100;
const PAUSE = { leastMs: 0, perWork: 9 };
const DAY_MS = 24 * HOUR_MS;
/** Lines overdue by this: the maintenance was away, and an hour may lack many messages. */
const LATE_MS = 5_000;
/** Statistics show 30 days. */
const COUNTED_DAYS = 31;
const KEPT_MS = 400 * DAY_MS;

export interface CountDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly messageDays: number;
  held(): boolean;
}

/** Counts the due hours. Only a holder of the lease counts, so it remembers when each was counted. */
export class HourCounter {
  readonly #deps: CountDeps;
  #known: Map<HourName, LastCount> | undefined;
  #begin: Date | undefined;

  constructor(deps: CountDeps) {
    this.#deps = deps;
  }

  leave(): void {
    this.#known = undefined;
  }

  /** The newest hours first, until the lease is lost. None while accepted messages are not in `messages`. */
  async run(): Promise<void> {
    const { db, clock, messageDays, held } = this.#deps;
    if (!held()) return;
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

/** Reads an hour's messages in slices along `_id` (its time) and replaces all counts. Undefined: the lease was lost. */
async function countHour({ db, clock, held }: CountDeps, hour: HourName): Promise<LastCount | undefined> {
  const countedAt = clock.now();
  const expiresAt = new Date(hourStart(hour).getTime() + KEPT_MS);
  const carrierNames = new Map((await listCarriers(db)).map(({ _id, name }) => [_id, name]));
  const tallies = new Map<AccountId, Tally>();
  const prefixes = new PrefixTally(
    (await readBraked(db)).map(({ _id }) => _id),
    countedAt,
  );
  const values = await readCreditValues(db);
  const losses = new Losses(values);
  const pace = new Rests(clock, PAUSE);
  let messages = 0;
  for await (const slice of slicesOf<Counted>(db, MESSAGES, hour, pace)) {
    if (!held()) return undefined;
    messages += slice.length;
    const refunded = await givenBack(db, slice);
    for (const message of slice) {
      if (message.v === TOO_LATE_V) continue;
      const tally = tallies.get(message.account) ?? new Tally(message.account, carrierNames);
      tallies.set(message.account, tally);
      tally.add(sorted(message, carrierNames, refunded, values));
      losses.add(message);
      prefixes.add(message);
    }
  }
  if (prefixes.wanted) {
    for await (const slice of slicesOf<CountedVerification>(db, VERIFICATIONS, hour, pace)) {
      if (!held()) return undefined;
      for (const one of slice) prefixes.addVerification(one);
    }
  }
  const all = new Tally(ALL, carrierNames);
  for (const [account, tally] of tallies) if (!isTestAccount(account)) all.join(account, tally);
  const documents = (tallies.size === 0 ? [] : [...tallies.values(), all]).map((tally) =>
    tally.document(hour, countedAt, expiresAt),
  );
  for (let first = 0; first < documents.length; first += WRITE) {
    await pace.pause();
    await replace(db, documents.slice(first, first + WRITE));
  }
  await losses.store(
    db,
    countedAt,
    () => pace.pause(),
    (openers) => givenBack(db, openers),
  );
  await prefixes.store(db, hour);
  // Last, so that a process that dies before it leaves the hour due.
  const counted = { countedAt, tookMs: Math.ceil(pace.workedMs), messages };
  await countedHourCollection(db).replaceOne({ _id: hour }, { ...counted, expiresAt }, { upsert: true });
  return counted;
}

/** A day before the oldest message, so that a new installation does not count a month of nothing. */
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

const MESSAGES = { name: 'messages', kind: 'msg', projection: COUNTED_FIELDS };
const VERIFICATIONS = {
  ...{ name: 'verifications', kind: 'vrf' },
  projection: { account: 1, to: 1, state: 1, expiresAt: 1 },
};

async function* slicesOf<Found>(
  db: Db,
  { name, kind, projection }: { readonly name: string; readonly kind: string; readonly projection: object },
  hour: HourName,
  pace: Rests,
): AsyncGenerator<readonly Found[]> {
  const start = hourStart(hour);
  const end = lowestId(kind, new Date(start.getTime() + HOUR_MS));
  let range: object = { $gte: lowestId(kind, start), $lt: end };
  for (;;) {
    const slice = await db
      .collection<{ readonly _id: string }>(name)
      .find({ _id: range }, { projection })
      .sort({ _id: 1 })
      .limit(SLICE)
      .batchSize(SLICE + 1)
      .toArray();
    yield slice as readonly unknown[] as readonly Found[]; // the projection has its fields
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

interface LastCount {
  readonly countedAt: Date;
  readonly tookMs: number;
}

const MINUTE_MS = 60_000;
/** How often the running hour is counted; with many messages one part in `REST` of the time (13 µs CPU a message). */
const RUNNING_MS = 15_000;
const REST = 2_000;
/**
 * When an ended hour is counted again: receipts come late, and so do messages of a batch, whose ids have its time. Most
 * come within minutes, the last 72 hours after the validity, which is 48 hours unless set (6 days), or 7 days (11).
 */
const AFTER_MS = [3, 3 * 60, 24 * 60, 6 * 24 * 60, 11 * 24 * 60].map((minutes) => minutes * MINUTE_MS);

/** The newest first. `since`: messages of earlier hours may have been removed already. */
function dueHours(counted: ReadonlyMap<HourName, LastCount>, since: Date, now: Date): HourName[] {
  const hours: HourName[] = [];
  const running = hourStart(hourName(now)).getTime();
  for (let startMs = running; startMs >= since.getTime(); startMs -= HOUR_MS) {
    const name = hourName(new Date(startMs));
    if (isHourDue(startMs, counted.get(name), now.getTime())) hours.push(name);
  }
  return hours;
}

function isHourDue(startMs: number, last: LastCount | undefined, nowMs: number): boolean {
  if (last === undefined) return true;
  const countedMs = last.countedAt.getTime();
  const endMs = startMs + HOUR_MS;
  if (nowMs < endMs) return nowMs >= countedMs + Math.max(RUNNING_MS, REST * last.tookMs);
  const next = AFTER_MS.find((afterMs) => endMs + afterMs > countedMs);
  return next !== undefined && nowMs >= endMs + next;
}

/** The refunded ones of the conversations that these messages opened, by the ledger (money/conversations/charge.ts). */
async function givenBack(db: Db, messages: readonly Counted[]): Promise<ReadonlySet<string | undefined>> {
  const refunds = new Map<AccountId, ReturnType<typeof refundOf>[]>();
  for (const message of messages) {
    const { account, conversation, opened } = message;
    if (conversation === undefined || opened === undefined || !wasRefused(message)) continue;
    refunds.set(account, [...(refunds.get(account) ?? []), refundOf({ conversation })]);
  }
  const found = await Promise.all(
    [...refunds].map(([account, ids]) =>
      ledgerCollection(db)
        .find({ account, change: { $in: ids } }, { projection: { reference: 1 } })
        .toArray(),
    ),
  );
  return new Set(found.flat().map(({ reference }) => reference));
}

/** Conversations looked at when an hour is counted, of one account and of all: those with its most billed messages. */
const LOOKED = { account: 200, all: 2_000 };
const TOLD_APART = 10 * LOOKED.account;
const CONVERSATIONS = 50;
const MESSAGES_MAX = 10_000;
const LOSS_KEPT_MS = 31 * 86_400_000;

/** The operator's earnings per credit: by the provider's price list, or the account's price in the list's currency. */
async function readCreditValues(db: Db): Promise<CreditValues> {
  const lists = await priceListCollection(db)
    .find({}, { projection: { currency: 1, creditValue: 1 } })
    .toArray();
  const silent = lists.filter(({ creditValue }) => creditValue === undefined).map(({ _id }) => _id);
  const accounts = await db
    .collection<AccountDocument>('accounts')
    .find({ _id: { $in: silent }, creditPrice: { $exists: true } }, { projection: { creditPrice: 1, currency: 1 } })
    .toArray();
  const own = new Map(accounts.map((account) => [account._id, account]));
  return new Map(
    lists.flatMap(({ _id, currency, creditValue }) => {
      const account = own.get(_id);
      const value = creditValue ?? (account?.currency === currency ? account.creditPrice : undefined);
      return value === undefined ? [] : [[_id, amountOf(`${value} ${currency}`)] as const];
    }),
  );
}

/** Finds the conversations that cost more than they earned, among those whose messages are counted. */
class Losses {
  readonly #values: CreditValues;
  readonly #billed = new Map<AccountId, Map<ConversationId, number>>();

  constructor(values: CreditValues) {
    this.#values = values;
  }

  add({ account, conversation, cost }: Counted): void {
    if (conversation === undefined || cost === undefined || !this.#values.has(account)) return;
    const counts = this.#billed.get(account) ?? new Map<ConversationId, number>();
    this.#billed.set(account, counts);
    const known = counts.get(conversation);
    if (known !== undefined || counts.size < TOLD_APART) counts.set(conversation, (known ?? 0) + 1);
  }

  /** Reads the conversations whole, pausing before each read. `givenBack`: the refunded ones of these openers. */
  async store(
    db: Db,
    now: Date,
    pause: () => Promise<void>,
    givenBack: (openers: readonly Counted[]) => Promise<ReadonlySet<string | undefined>>,
  ): Promise<void> {
    const looked = this.#most();
    for (let first = 0; first < looked.length; first += CONVERSATIONS) {
      const ids = looked.slice(first, first + CONVERSATIONS);
      await pause();
      const members = await readMembers(db, ids);
      const refunded = await givenBack(members.filter(({ opened }) => opened !== undefined));
      const losses = ids.flatMap((id) => this.#lossOf(id, members, refunded, now) ?? []);
      const lost = new Set(losses.map(({ _id }) => _id));
      await lossCollection(db).bulkWrite(
        [
          ...losses.map((loss) => ({
            replaceOne: { filter: { _id: loss._id }, replacement: loss, upsert: true },
          })),
          { deleteMany: { filter: { _id: { $in: ids.filter((id) => !lost.has(id)) } } } },
        ],
        { ordered: false },
      );
    }
  }

  #most(): readonly ConversationId[] {
    const byCount = (one: [unknown, number], other: [unknown, number]) => other[1] - one[1];
    return [...this.#billed.values()]
      .flatMap((counts) => [...counts].sort(byCount).slice(0, LOOKED.account))
      .sort(byCount)
      .slice(0, LOOKED.all)
      .map(([id]) => id);
  }

  #lossOf(
    id: ConversationId,
    messages: readonly Member[],
    refunded: ReadonlySet<string | undefined>,
    now: Date,
  ): LossDocument | undefined {
    const members = messages.filter(({ conversation }) => conversation === id);
    const opener = members.find(({ opened }) => opened !== undefined);
    const value = opener && this.#values.get(opener.account);
    if (opener?.opened === undefined || value === undefined) return undefined;
    const costs = members.flatMap(({ cost }) => (cost === undefined ? [] : [amountOf(cost)]));
    const cost = sumIn(value.currency, costs);
    const credits = refunded.has(id) ? 0 : opener.opened.credits;
    const earned = credits * value.millionths;
    if (cost <= earned) return undefined;
    return {
      ...{ _id: id, account: opener.account, opener: opener._id, messages: costs.length, credits },
      ...{ currency: value.currency, earned, cost, countedAt: now, expiresAt: new Date(now.getTime() + LOSS_KEPT_MS) },
    };
  }
}

type Member = Pick<
  ChatMessageDocument,
  '_id' | 'account' | 'conversation' | 'opened' | 'cost' | 'state' | 'parts' | 'earlier'
> &
  Counted;

async function readMembers(db: Db, ids: readonly ConversationId[]): Promise<readonly Member[]> {
  return db
    .collection<ChatMessageDocument>('messages')
    .find<Member>(
      { conversation: { $in: [...ids] } },
      {
        projection: { account: 1, conversation: 1, opened: 1, cost: 1, state: 1, 'parts.state': 1, 'earlier.parts': 1 },
        hint: { conversation: 1, _id: 1 },
        limit: MESSAGES_MAX,
      },
    )
    .toArray();
}

/** Costs in another currency are of another price list. */
function sumIn(currency: string, amounts: readonly Amount[]): number {
  return amounts.reduce((sum, one) => sum + (one.currency === currency ? one.millionths : 0), 0);
}
