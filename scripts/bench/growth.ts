import { existsSync } from 'node:fs';
import type { Collection, Db, Document } from 'mongodb';
import { deliveriesIn, type Stored } from '../../shared/events/webhooks/delivery.ts';
import { type BatchId, batchMessageIds, newId } from '../../shared/platform/runtime/ids.ts';
import { nextDestination } from './load.ts';
import type { BenchOptions } from './options.ts';
import { bulk, type Times, wholePath } from './phases.ts';
import { FIRST_ACCOUNT, type Stage } from './stage.ts';
import { measureCpu, memoryMib, norm, own, percentile } from './usage.ts';

interface GrowthLook {
  readonly stored: number;
  /** Singles: first request → last webhook. */
  readonly wholePerSecond: number;
  readonly cpuMsPer1000: number;
  /** CPU divided by that of load and simulator. */
  readonly norm: number;
  readonly answerMs: Times;
  /** GET requests one at a time, by kind. */
  readonly readMs: Readonly<Record<string, ReadTimes>>;
  /** Memory of the embedded store; absent for another store. */
  readonly storeMib?: number;
}

interface ReadTimes extends Times {
  /** CPU of all product processes for one request. Unlike the times, it is comparable on a busy machine. */
  readonly cpu: number;
}

export interface GrowthResult {
  readonly small: GrowthLook;
  readonly large: GrowthLook;
  /** From kill -9 until the embedded store is ready again. */
  readonly restartMs?: number;
}

/** The number of messages at the first measurement. */
const SMALL = 100_000;
const SINGLES = 5_000;
const READS = 300;
const COPIED_AT_ONCE = 1_000_000;
/** Reads ask for this many of the oldest messages, and of the newest. */
const SAMPLE = 500;

interface Sampled {
  readonly _id: string;
  readonly to: string;
}

/**
 * Measures the same with 100,000 messages in the store and with `--stored` messages, then the restart of the embedded
 * store after kill -9. The first messages are bulk sends on their whole way, webhooks included; the others are copies
 * of them.
 */
export async function growth(stage: Stage, options: BenchOptions): Promise<GrowthResult> {
  await fill(stage, Math.min(SMALL, options.stored), (missing) => bulkSends(stage, options, missing));
  const small = await look(stage, options);
  await fill(stage, options.stored, (missing) => copyMessages(stage.db, Math.min(missing, COPIED_AT_ONCE)));
  const large = await look(stage, options);
  return { small, large, ...(stage.storePid() !== undefined && { restartMs: await stage.killStore() }) };
}

async function bulkSends(stage: Stage, options: BenchOptions, missing: number): Promise<void> {
  const batchSize = Math.min(options.batchSize, missing);
  const batches = Math.max(1, Math.min(options.batches, Math.floor(missing / batchSize)));
  await bulk(stage, { ...options, batches, batchSize });
}

/** Repeats `more`, which stores some of the missing messages, until `stored` are there. */
async function fill(stage: Stage, stored: number, more: (missing: number) => Promise<void>): Promise<void> {
  for (;;) {
    const missing = stored - (await count(stage));
    if (missing <= 0) return;
    console.error(`${missing.toLocaleString('en')} messages to go`);
    await more(missing);
  }
}

function count({ db }: Stage): Promise<number> {
  return db.collection('messages').estimatedDocumentCount();
}

async function look(stage: Stage, options: BenchOptions): Promise<GrowthLook> {
  const stored = await count(stage);
  const { wholePerSecond = Number.NaN, answerMs, cpuMsPer1000 } = await wholePath(stage, options, SINGLES);
  const pid = stage.storePid();
  return {
    stored,
    wholePerSecond,
    answerMs,
    cpuMsPer1000: own(cpuMsPer1000),
    norm: norm(cpuMsPer1000),
    readMs: await reads(stage),
    ...(pid !== undefined && existsSync(`/proc/${pid}`) && { storeMib: memoryMib(pid).own }),
  };
}

async function reads(stage: Stage): Promise<Readonly<Record<string, ReadTimes>>> {
  const [key = ''] = stage.keys;
  const messages = await ownMessages(stage);
  const any = (): Sampled => messages[Math.floor(Math.random() * messages.length)] ?? { _id: '', to: '' };
  const paths: Readonly<Record<string, () => string>> = {
    'GET /v2/status/:id': () => `/v2/status/${any()._id}`,
    'GET /v2/messages/:id': () => `/v2/messages/${any()._id}`,
    'GET /v2/messages': () => '/v2/messages?limit=50',
    'GET /v2/messages, of a state': () => '/v2/messages?limit=50&state=delivered',
    'GET /v2/messages, to a number': () => `/v2/messages?limit=50&to=${any().to}`,
    'GET /v2/events': () => `/v2/events?limit=50&since=${new Date(Date.now() - 60_000).toISOString()}`,
  };
  const readMs: Record<string, ReadTimes> = {};
  for (const [name, path] of Object.entries(paths)) readMs[name] = await timed(stage, key, path);
  return readMs;
}

async function ownMessages({ db }: Stage): Promise<readonly Sampled[]> {
  const account = await db.collection<{ readonly _id: string }>('accounts').findOne({ name: FIRST_ACCOUNT });
  const messages = db.collection<Sampled>('messages');
  const ends = ([1, -1] as const).map((order) =>
    messages.find({ account: account?._id }).sort({ _id: order }).limit(SAMPLE).project<Sampled>({ to: 1 }).toArray(),
  );
  return (await Promise.all(ends)).flat();
}

async function timed({ url, own }: Stage, key: string, path: () => string): Promise<ReadTimes> {
  const ms: number[] = [];
  const used = measureCpu(own);
  for (let i = 0; i < READS; i++) {
    const asked = path();
    const beganMs = performance.now();
    const answer = await get(url, key, asked);
    await answer.arrayBuffer();
    if (answer.status !== 200) throw new Error(`GET ${asked} was answered ${answer.status}`);
    ms.push(performance.now() - beganMs);
  }
  const cpu = [...used().values()].reduce((sum, each) => sum + each, 0) / READS;
  return { p50: percentile(ms, 0.5), p99: percentile(ms, 0.99), cpu };
}

function get(url: string, key: string, path: string): Promise<Response> {
  return fetch(`${url}${path}`, { headers: { authorization: `Bearer ${key}` } });
}

/** Both measurements side by side, with their ratio. */
export function growthRows({ small, large, restartMs }: GrowthResult): readonly (readonly string[])[] {
  const row = (what: string, before: number, after: number, target: string): readonly string[] => [
    what,
    before.toFixed(1),
    after.toFixed(1),
    (after / before).toFixed(2),
    target,
  ];
  return [
    ['messages stored', small.stored.toLocaleString('en'), large.stored.toLocaleString('en'), 'ratio', 'target'],
    row('singles, whole path: messages/s', small.wholePerSecond, large.wholePerSecond, '≥ 0.83'),
    row('  CPU ms per 1,000', small.cpuMsPer1000, large.cpuMsPer1000, '≤ 1.2'),
    row('  the same, divided by that of load and simulator', small.norm, large.norm, '≤ 1.2'),
    row('  answer p99, ms', small.answerMs.p99, large.answerMs.p99, '≤ 1.2'),
    ...Object.entries(large.readMs).flatMap(([what, { p50, cpu }]) => {
      const before = small.readMs[what];
      return [
        row(`${what}, p50 ms`, before?.p50 ?? Number.NaN, p50, '≤ 1.2'),
        row('  CPU ms', before?.cpu ?? Number.NaN, cpu, '≤ 1.2'),
      ];
    }),
    ...(large.storeMib === undefined
      ? []
      : [row("the store's own memory, MiB", small.storeMib ?? Number.NaN, large.storeMib, 'flat')]),
    ...(restartMs === undefined
      ? []
      : [['kill -9 of the store until it is ready, s', '', (restartMs / 1_000).toFixed(1), '', '< 10']]),
  ];
}

/** Messages in one insert. */
const AT_ONCE = 1_000;
/** Concurrent inserts: the store works through one while the next are prepared. */
const PARALLEL = 3;
/** An id after its prefix is also part of the ids of the message's events and deliveries. */
const PREFIX = 'msg_'.length;

/**
 * Stores copies of delivered messages and their deliveries straight into the tables, slightly more than `total`. Each
 * has its own younger id, number and carrier id; the rest is what the whole path stored.
 */
async function copyMessages(db: Db, total: number): Promise<void> {
  const messages = db.collection('messages');
  const deliveries = db.collection<Stored>('deliveries');
  // Deliveries first: no index finds those of a message.
  const told: Stored[] = [];
  const ids = new Set<unknown>();
  for await (const stored of deliveries.find({ state: 'done' }).project<Stored>({})) {
    told.push(stored);
    for (const { message } of deliveriesIn(stored)) ids.add(message);
    if (ids.size >= AT_ONCE) break;
  }
  const samples = await messages.find({ _id: { $in: [...ids] } as object }).toArray();
  let left = total;
  const copy = async (): Promise<void> => {
    while (left > 0) {
      left -= samples.length;
      const { copies, renamed } = copiesOf(samples);
      await insertAll(messages, copies);
      await insertAll(db.collection('deliveries'), told.map(renamed));
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, copy));
}

/** Copies of the messages, and the map from old ids to new ones. */
function copiesOf(samples: readonly Document[]): {
  readonly copies: readonly Document[];
  renamed(document: Document): Document;
} {
  const idOf = batchMessageIds(newId('bat') as BatchId);
  const renaming = new Map(samples.map(({ _id }, i) => [String(_id).slice(PREFIX), idOf(i).slice(PREFIX)]));
  const renamed = (document: Document): Document =>
    Object.fromEntries(Object.entries(document).map(([name, value]) => [name, withIds(value, renaming)]));
  const copies = samples.map((sample, i) => {
    const parts = (sample.parts as Document[]).map((part) => ({
      ...part,
      key: `${part.key}${idOf(i).slice(PREFIX)}`,
    }));
    return { ...renamed(sample), to: nextDestination(), parts };
  });
  return { copies, renamed };
}

const ID = /[0-9a-hjkmnp-tv-z]{26}/g;

/** Replaces ids in all strings of a value, members included. */
function withIds(value: unknown, renaming: ReadonlyMap<string, string>): unknown {
  if (typeof value === 'string') return value.replace(ID, (id) => renaming.get(id) ?? id);
  if (Array.isArray(value)) return value.map((item) => withIds(item, renaming));
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withIds(member, renaming)]));
}

async function insertAll(collection: Collection, documents: readonly Document[]): Promise<void> {
  if (documents.length > 0) await collection.insertMany([...documents], { ordered: false });
}
