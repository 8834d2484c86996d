import type { Collection, Db } from 'mongodb';
import { STATES } from '../../shared/messages/document/status.ts';
import type { VerificationDocument } from '../../shared/messages/document/verification.ts';
import { countedFrom, HOUR_MS, type HourName, hourName, hourStart } from '../../shared/messages/statistics.ts';
import {
  type HoldDocument,
  holdCollection,
  prefixOf,
  readHolds,
  type Seen,
  showHeld,
} from '../../shared/messages/traffic/hold.ts';
import type { AccountDocument } from '../../shared/money/accounts/account.ts';
import { insertNew } from '../../shared/platform/mongo/insert-new.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import { type AccountId, idTime } from '../../shared/platform/runtime/ids.ts';
import type { Log } from '../../shared/platform/runtime/log.ts';
import type { Counted } from './tally.ts';

const DAY_MS = 24 * HOUR_MS;
/** The most held prefixes of an account: more are no attack on some numbers. */
const HELD_MAX = 200;

/** For accounts with a brake: holds the prefixes that look like fraud (shared/messages/traffic/hold.ts). */
export class Brake {
  readonly #deps: { readonly db: Db; readonly clock: Clock; readonly log: Log };
  /** Each account's usual traffic, which changes every hour. `fromMs`: the beginning of the hours compared with it. */
  readonly #usual = new Map<AccountId, { readonly fromMs: number; readonly usual: Usual }>();

  constructor(deps: { readonly db: Db; readonly clock: Clock; readonly log: Log }) {
    this.#deps = deps;
  }

  async run(mayGoOn: () => boolean): Promise<void> {
    const braked = await readBraked(this.#deps.db);
    const ids = new Set(braked.map(({ _id }) => _id));
    for (const known of this.#usual.keys()) if (!ids.has(known)) this.#usual.delete(known);
    for (const account of braked) {
      if (!mayGoOn()) return;
      await this.#look(account);
    }
  }

  async #look({ _id, brake, heldPrefixes = [] }: Pick<AccountDocument, '_id' | 'brake' | 'heldPrefixes'>) {
    const { db, clock } = this.#deps;
    const now = clock.now();
    const { from, end } = recentHours(now);
    const recent = byPrefix(await readPrefixHours(db, _id, from, end));
    // With fewer messages nothing can be found: the usual traffic need not be read.
    if ([...recent.values()].some(({ messages }) => messages >= MESSAGES_MIN)) {
      const found = suspicious(recent, await this.#usualOf(_id, from));
      for (const [prefix, seen] of found) await this.#tell(_id, prefix, seen, brake === 'hold', now);
    }
    const held = (await readHolds(db, [_id])).filter(({ state }) => state === 'held').map(({ prefix }) => prefix);
    const gone = heldPrefixes.filter((prefix) => !held.includes(prefix));
    const come = held.filter((prefix) => !heldPrefixes.includes(prefix));
    if (gone.length + come.length > 0) await showHeld(db, _id, { gone, come });
  }

  /** A prefix that a person has released is trusted until its document is gone. */
  async #tell(account: AccountId, prefix: string, seen: Seen, hold: boolean, now: Date): Promise<void> {
    const { db, log } = this.#deps;
    const holds = holdCollection(db);
    const _id: HoldDocument['_id'] = `${account}:${prefix}`;
    const mayHold = hold && (await holds.countDocuments({ account, state: 'held' }, { limit: HELD_MAX })) < HELD_MAX;
    const until = new Date(now.getTime() + DAY_MS);
    const told = {
      ...{ prefix, messages: seen.messages, usual_messages: seen.usualMessages },
      ...{ delivered: seen.delivered, usual_delivered: seen.usualDelivered },
      ...{ converted: seen.converted ?? null, usual_converted: seen.usualConverted ?? null },
    };
    const act = { event: mayHold ? 'traffic.held' : 'traffic.suspicious', at: now, told };
    const first: HoldDocument = {
      ...{ _id, account, prefix, since: now, seen, unannounced: [act] },
      ...(mayHold ? { state: 'held' as const } : { state: 'watched' as const, expiresAt: until }),
    };
    if ((await insertNew(db, 'traffic_holds', [first])) === 0) {
      const change = mayHold
        ? {
            ...{ $set: { state: 'held' as const, since: now, seen }, $unset: { expiresAt: '' as const } },
            $push: { unannounced: act },
          }
        : { $set: { expiresAt: until } };
      const { modifiedCount } = await holds.updateOne({ _id, state: 'watched' }, change);
      if (!mayHold || modifiedCount === 0) return;
    }
    log.warn(mayHold ? 'traffic_held' : 'traffic_suspicious', { account, prefix, ...seen });
  }

  async #usualOf(account: AccountId, from: Date): Promise<Usual> {
    const known = this.#usual.get(account);
    if (known?.fromMs === from.getTime()) return known.usual;
    const since = new Date(from.getTime() - USUAL_DAYS * DAY_MS);
    const usual = usualIn(await readPrefixHours(this.#deps.db, account, since, from));
    this.#usual.set(account, { fromMs: from.getTime(), usual });
    return usual;
  }
}

export interface Usual {
  /** Days with messages. */
  readonly days: number;
  readonly all: Counts;
  /** `peak`: the most messages in two consecutive clock hours. */
  readonly prefixes: ReadonlyMap<string, Counts & { readonly peak: number }>;
}

/** With fewer days of sending the usual traffic is unknown, and nothing is held. */
const DAYS_MIN = 3;
/** Fewer messages than these are not worth a hold, and rates of few say nothing: nights are quiet. */
const MESSAGES_MIN = 30;
const RIPE_MIN = 20;
/** Traffic has risen to this multiple of the busiest time's messages, or of the usual portion of all messages. */
const RISE = 3;
const PORTION_MIN = 0.05;
/** Fewer arrive: at most this part of what is usual, and of what arrives elsewhere in the same hours. */
const FALL = 0.5;

/** The rate is `good` / `of`. With fewer than `few` the past says nothing of what is usual. */
const DELIVERY = { of: 'ripe', good: 'delivered', few: 1 } as const;
const CONVERSION = { of: 'asked', good: 'approved', few: RIPE_MIN } as const;

/**
 * Which prefixes look like fraud: more goes there, and fewer messages arrive, or fewer codes are given back
 * (verifications). "SMS pumping" (artificially inflated traffic to numbers that earn by being reached) looks like this:
 * a range that the account hardly knew gets many messages within an hour or two, few of them arrive, and the others
 * arrive as ever. Pure; docs/decisions/0046 says why these limits.
 *
 * `recent`: by prefix, the running clock hour and the one before.
 */
export function suspicious(recent: ReadonlyMap<string, Counts>, usual: Usual): ReadonlyMap<string, Seen> {
  const found = new Map<string, Seen>();
  if (usual.days < DAYS_MIN) return found;
  const all = sum([...recent.values()]);
  for (const [prefix, now] of recent) {
    if (now.messages < MESSAGES_MIN) continue;
    const before = usual.prefixes.get(prefix) ?? { ...sum([]), peak: 0 };
    const portion = now.messages / all.messages;
    const usualPortion = before.messages / usual.all.messages;
    const hasRisen =
      now.messages >= Math.max(RISE * before.peak, MESSAGES_MIN) ||
      (portion >= PORTION_MIN && portion >= RISE * usualPortion);
    if (!hasRisen) continue;
    const compared = { now, before, usual: usual.all, all };
    const conversion = comparison(CONVERSION, compared);
    const delivery = comparison(DELIVERY, compared);
    if (!conversion.hasFallen && !delivery.hasFallen) continue;
    found.set(prefix, {
      ...{ messages: now.messages, portion, delivered: delivery.rate },
      ...{ usualMessages: before.peak, usualPortion, usualDelivered: delivery.usual },
      ...(conversion.isKnown && { converted: conversion.rate, usualConverted: conversion.usual }),
    });
  }
  return found;
}

interface Compared {
  readonly now: Counts;
  readonly before: Counts;
  readonly usual: Counts;
  readonly all: Counts;
}

/** A prefix's rate, what is usual there or in the account, and whether it fell below that and below all others. */
function comparison({ of, good, few }: typeof DELIVERY | typeof CONVERSION, { now, before, usual, all }: Compared) {
  const count = (counts: Counts, name: typeof of | typeof good) => counts[name] ?? 0;
  const rate = (counts: Counts) => (count(counts, of) === 0 ? 0 : count(counts, good) / count(counts, of));
  const known = count(before, of) >= RIPE_MIN ? before : usual;
  const others = count(all, of) - count(now, of);
  const isKnown = count(now, of) >= RIPE_MIN && (count(known, of) >= few || others >= RIPE_MIN);
  // When fewer arrive everywhere, a carrier is ill or a list is old.
  const elsewhere = others >= RIPE_MIN ? (count(all, good) - count(now, good)) / others : rate(known);
  const usually = count(known, of) >= few ? rate(known) : elsewhere;
  const hasFallen = isKnown && rate(now) <= FALL * usually && rate(now) <= FALL * elsewhere;
  return { rate: rate(now), usual: usually, isKnown, hasFallen };
}

function sum(parts: readonly Counts[]): Counts {
  const total = { messages: 0, ripe: 0, delivered: 0, asked: 0, approved: 0 };
  for (const { messages, ripe, delivered, asked = 0, approved = 0 } of parts) {
    total.messages += messages;
    total.ripe += ripe;
    total.delivered += delivered;
    total.asked += asked;
    total.approved += approved;
  }
  return total;
}

type Hours = Awaited<ReturnType<typeof readPrefixHours>>;

function byPrefix(hours: Hours): ReadonlyMap<string, Counts> {
  const found = new Map<string, Counts>();
  for (const { prefix, ...counts } of hours.flatMap(({ prefixes }) => prefixes)) {
    found.set(prefix, sum([counts, found.get(prefix) ?? sum([])]));
  }
  return found;
}

/** Pure. `hours`: oldest first. */
export function usualIn(hours: Hours): Usual {
  const total = byPrefix(hours);
  const peaks = new Map<string, number>();
  let before: { readonly atMs: number; readonly of: ReadonlyMap<string, number> } = { atMs: 0, of: new Map() };
  for (const { atMs, prefixes } of hours) {
    const of = new Map(prefixes.map(({ prefix, messages }) => [prefix, messages]));
    for (const [prefix, messages] of of) {
      const both = messages + (before.atMs === atMs - HOUR_MS ? (before.of.get(prefix) ?? 0) : 0);
      peaks.set(prefix, Math.max(peaks.get(prefix) ?? 0, both));
    }
    before = { atMs, of };
  }
  return {
    days: new Set(hours.map(({ atMs }) => Math.floor(atMs / DAY_MS))).size,
    all: sum([...total.values()]),
    prefixes: new Map([...total].map(([prefix, counts]) => [prefix, { ...counts, peak: peaks.get(prefix) ?? 0 }])),
  };
}

export interface Counts {
  readonly messages: number;
  /** Messages that ended, or had time to. The others say nothing about how many arrive. */
  readonly ripe: number;
  readonly delivered: number;
  /** Verifications that ended, or had time to, and those that were approved. Absent in hours without any. */
  readonly asked?: number;
  readonly approved?: number;
}

/** An account's messages of one hour, by prefix. Counted with the statistics, for accounts with a brake alone. */
interface PrefixHourDocument {
  readonly _id: `${AccountId}:${HourName}`;
  readonly account: AccountId;
  readonly prefixes: readonly (Counts & { readonly prefix: string })[];
  readonly expiresAt: Date;
}

const PREFIXES_MAX = 200;
/** The most prefixes counted in an hour. An account that sends to more at once is not pumped at one of them. */
const TOLD_APART_MAX = 5_000;
/** A message without a receipt for this time counts as not arrived. */
const RIPE_MS = 15 * 60_000;
const USUAL_DAYS = 14;
const KEPT_MS = (USUAL_DAYS + 2) * 86_400_000;

function prefixHours(db: Db): Collection<PrefixHourDocument> {
  return db.collection('prefix_hours');
}

export async function readBraked(db: Db): Promise<readonly Pick<AccountDocument, '_id' | 'brake' | 'heldPrefixes'>[]> {
  return db
    .collection<AccountDocument>('accounts')
    .find({ brake: { $exists: true } }, { projection: { brake: 1, heldPrefixes: 1 } })
    .toArray();
}

export type CountedVerification = Pick<VerificationDocument, '_id' | 'account' | 'to' | 'state' | 'expiresAt'>;

interface Counting {
  messages: number;
  ripe: number;
  delivered: number;
  asked?: number;
  approved?: number;
}

export class PrefixTally {
  readonly #accounts: ReadonlyMap<AccountId, Map<string, Counting>>;
  readonly #now: Date;

  constructor(accounts: readonly AccountId[], now: Date) {
    this.#accounts = new Map(accounts.map((id) => [id, new Map()]));
    this.#now = now;
  }

  add({ _id, account, to, state, direction }: Counted): void {
    const counts = direction === 'in' ? undefined : this.#of(account, to);
    if (counts === undefined) return;
    counts.messages++;
    if (STATES[state].final || this.#now.getTime() - idTime(_id).getTime() >= RIPE_MS) counts.ripe++;
    if (state === 'delivered' || state === 'read') counts.delivered++;
  }

  get wanted(): boolean {
    return this.#accounts.size > 0;
  }

  addVerification({ _id, account, to, state, expiresAt }: CountedVerification): void {
    const ripeMs = Math.min(idTime(_id).getTime() + RIPE_MS, expiresAt.getTime());
    const isOpen = state === 'pending' && this.#now.getTime() < ripeMs;
    const counts = isOpen ? undefined : this.#of(account, to);
    if (counts === undefined) return;
    counts.asked = (counts.asked ?? 0) + 1;
    counts.approved = (counts.approved ?? 0) + (state === 'approved' ? 1 : 0);
  }

  #of(account: AccountId, to: string): Counting | undefined {
    const prefixes = this.#accounts.get(account);
    if (prefixes === undefined) return undefined;
    const prefix = prefixOf(to);
    let counts = prefixes.get(prefix);
    if (counts === undefined && prefixes.size < TOLD_APART_MAX) {
      counts = { messages: 0, ripe: 0, delivered: 0 };
      prefixes.set(prefix, counts);
    }
    return counts;
  }

  async store(db: Db, hour: HourName): Promise<void> {
    const expiresAt = new Date(hourStart(hour).getTime() + KEPT_MS);
    const writes = [...this.#accounts].flatMap(([account, counts]) => {
      if (counts.size === 0) return [];
      const _id: PrefixHourDocument['_id'] = `${account}:${hour}`;
      const prefixes = [...counts]
        .map(([prefix, of]) => ({ prefix, ...of }))
        .sort((a, b) => b.messages - a.messages)
        .slice(0, PREFIXES_MAX);
      const replacement = { account, prefixes, expiresAt };
      return [{ replaceOne: { filter: { _id }, replacement, upsert: true } }];
    });
    if (writes.length > 0) await prefixHours(db).bulkWrite(writes, { ordered: false });
  }
}

/** By hour, from `from` up to, not including, `end`. */
async function readPrefixHours(
  db: Db,
  account: AccountId,
  from: Date,
  end: Date,
): Promise<readonly { readonly atMs: number; readonly prefixes: PrefixHourDocument['prefixes'] }[]> {
  const found = await prefixHours(db)
    .find({ _id: { $gte: `${account}:${hourName(from)}`, $lt: `${account}:${hourName(end)}` } })
    .sort({ _id: 1 })
    .batchSize(USUAL_DAYS * 24 + 1)
    .toArray();
  return found.map((one) => ({ atMs: countedFrom(one).getTime(), prefixes: one.prefixes }));
}

function recentHours(now: Date): { readonly from: Date; readonly end: Date } {
  const running = hourStart(hourName(now)).getTime();
  return { from: new Date(running - HOUR_MS), end: new Date(running + HOUR_MS) };
}
