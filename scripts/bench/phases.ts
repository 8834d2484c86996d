import type { Db } from 'mongodb';
import {
  closedLoop,
  HttpLane,
  type LoadResult,
  machineMs,
  nextDestination,
  openLoop,
  type ProductTarget,
  productTarget,
  SENDER,
  type Target,
  TEXT,
} from './load.ts';
import type { BenchOptions } from './options.ts';
import type { Contender, Stage } from './stage.ts';
import { type ByProcess, measureCpu, percentile, wakeUps } from './usage.ts';
import type { Counts } from './world.ts';
import type { World } from './world-process.ts';

/** 50th and 99th percentile, in milliseconds. */
export interface Times {
  readonly p50: number;
  readonly p99: number;
}

export interface LoopResult {
  readonly messages: number;
  readonly acceptedPerSecond: number;
  /** First request → last webhook received; absent if nothing is sent to carriers. */
  readonly wholePerSecond?: number;
  readonly answerMs: Times;
  /** Absent for a peer: only the product's store counts them. */
  readonly documentWritesPerMessage?: number;
  /** CPU milliseconds per 1,000 messages, by process. */
  readonly cpuMsPer1000: ByProcess;
  /** Errors: `refused` must be empty, and `repeatedWebhooks` must be 0. */
  readonly refused: Readonly<Record<string, number>>;
  readonly repeatedWebhooks: number;
}

/** From the request's start, in milliseconds. */
export interface LatencyResult {
  readonly messages: number;
  readonly answerMs: Times;
  readonly submitMs: Times;
  readonly webhookMs: Times;
  /** From the 200 answer on. */
  readonly acceptedToSubmitMs: Times;
}

export interface RateResult extends LatencyResult {
  readonly perSecond: number;
  /** CPU milliseconds per 1,000 messages, by process. */
  readonly cpuMsPer1000: ByProcess;
  /** Both include the activity of an idle system. Commands are absent for a peer. */
  readonly wakeUpsPerMessage: number;
  readonly commandsPerMessage?: number;
  readonly wakeUpsBy: Readonly<Record<string, number>>;
}

/** Singles and bulk with late receipts, as on real networks: caches hold newer work by then. */
export interface LateResult {
  readonly singles: LoopResult;
  readonly bulk: LoopResult;
}

export interface IdleResult {
  readonly seconds: number;
  /** CPU in percent of one core: of all product processes, and of each. */
  readonly percent: number;
  readonly byProcess: Readonly<Record<string, number>>;
}

/** No webhook for this long means that a message is lost or something hangs. */
const STALL_MS = 20_000;
const LOOK_MS = 20;
/** Length of the phase `start`, and its messages a second. */
export const FIRST_SECONDS = 5;
export const FIRST_RATE = 500;
/** Receipt delay of the phase `late`. */
export const LATE_MS = 1_500;

/** Closed loop on a route that no carrier serves: gateways and store alone. */
export async function acceptAlone(stage: Stage, { connections, messages }: BenchOptions): Promise<LoopResult> {
  const measured = await measureLoop(stage, () =>
    closedLoop(productTarget(stage.url, stage.keys, 'promotional'), connections, messages),
  );
  return resultOf(measured);
}

/** Closed loop until the last webhook has arrived. */
export function wholePath(
  stage: Stage,
  { connections, events }: BenchOptions,
  messages: number,
  keys: readonly string[] = stage.keys,
): Promise<LoopResult> {
  return singles(stage, productTarget(stage.url, keys), { connections, messages, webhooksEach: events.length });
}

export function singles(
  contender: Contender,
  target: Target,
  { connections, messages, webhooksEach }: { connections: number; messages: number; webhooksEach: number },
): Promise<LoopResult> {
  return toTheEnd(contender, webhooksEach, () => closedLoop(target, connections, messages));
}

export function bulk(stage: Stage, { batches, batchSize, events }: BenchOptions): Promise<LoopResult> {
  return toTheEnd(stage, events.length, () => bulkLoad(productTarget(stage.url, stage.keys), batches, batchSize));
}

async function toTheEnd(
  contender: Contender,
  webhooksEach: number,
  send: () => Promise<LoadResult>,
): Promise<LoopResult> {
  const { world } = contender;
  const before = await world.counts();
  let after = before;
  const measured = await measureLoop(contender, async () => {
    const load = await send();
    after = await webhooksReach(world, before.webhooks + load.accepted * webhooksEach);
    return load;
  });
  await world.seen(); // Makes the world forget these times, which nobody needs.
  return {
    ...resultOf(measured),
    wholePerSecond: (measured.load.accepted / (after.lastWebhookMs - measured.load.firstMs)) * 1000,
    repeatedWebhooks: after.repeatedWebhooks - before.repeatedWebhooks,
  };
}

/** Singles, then bulk, with receipts 1.5 s after the submit_sm. */
export async function lateReceipts(stage: Stage, options: BenchOptions): Promise<LateResult> {
  stage.world.delayReceipts(LATE_MS);
  const singles = await wholePath(stage, options, options.messages);
  const result = { singles, bulk: await bulk(stage, options) };
  stage.world.delayReceipts(options.carrier.receiptDelayMs);
  return result;
}

/** Open loops in sequence: latency and cost while the system is not full. */
export async function steadyRates(stage: Stage, options: BenchOptions): Promise<readonly RateResult[]> {
  const { rateSeconds: seconds, events } = options;
  const results: RateResult[] = [];
  for (const perSecond of options.rates) {
    const asked = { perSecond, seconds, webhooksEach: events.length };
    results.push(await rate(stage, productTarget(stage.url, stage.keys), asked));
  }
  return results;
}

/** Open loop right after a start without any earlier request. */
export function firstSeconds(stage: Stage, { events }: BenchOptions): Promise<RateResult> {
  const asked = { perSecond: FIRST_RATE, seconds: FIRST_SECONDS, webhooksEach: events.length };
  return rate(stage, productTarget(stage.url, stage.keys), asked);
}

export async function rate(
  contender: Contender,
  target: Target,
  { perSecond, seconds, webhooksEach }: { perSecond: number; seconds: number; webhooksEach: number },
): Promise<RateResult> {
  const { world, own, all } = contender;
  const { webhooks } = await world.counts();
  const commandsBefore = await contender.commands?.();
  const woken = own.map(({ pid }) => wakeUps(pid));
  const used = measureCpu(all);
  const load = await openLoop(target, perSecond, perSecond * seconds);
  await webhooksReach(world, webhooks + load.accepted * webhooksEach);
  const cpu = used();
  const wakes = own.map(({ name, pid }, i) => [name, (wakeUps(pid) - (woken[i] ?? 0)) / load.accepted] as const);
  const commands = await contender.commands?.();
  return {
    ...(await latencies(world, [load])),
    perSecond,
    cpuMsPer1000: per1000(cpu, load.accepted),
    wakeUpsPerMessage: wakes.reduce((sum, [, each]) => sum + each, 0),
    wakeUpsBy: Object.fromEntries(wakes),
    ...(commands !== undefined && { commandsPerMessage: (commands - (commandsBefore ?? 0)) / load.accepted }),
  };
}

/** One message at a time, each on an idle system. */
export async function loneMessages(stage: Stage, options: BenchOptions): Promise<LatencyResult> {
  const target = productTarget(stage.url, stage.keys);
  const loads: LoadResult[] = [];
  for (let i = 0; i < options.lone; i++) {
    await pause(300 + Math.random() * 300);
    const { webhooks } = await stage.world.counts();
    loads.push(await closedLoop(target, 1, 1));
    await webhooksReach(stage.world, webhooks + options.events.length);
  }
  return latencies(stage.world, loads);
}

export async function idle(stage: Stage, { idleSeconds }: BenchOptions): Promise<IdleResult> {
  await pause(2_000); // Leftover work of earlier phases ends meanwhile.
  const used = measureCpu(stage.own);
  await pause(idleSeconds * 1000);
  const byProcess = new Map([...used()].map(([name, ms]) => [name, ms / idleSeconds / 10]));
  const percent = [...byProcess.values()].reduce((sum, each) => sum + each, 0);
  return { seconds: idleSeconds, percent, byProcess: Object.fromEntries(byProcess) };
}

interface MeasuredLoop {
  readonly load: LoadResult;
  readonly cpu: ReadonlyMap<string, number>;
  readonly writes: number | undefined;
}

async function measureLoop({ db, all }: Contender, run: () => Promise<LoadResult>): Promise<MeasuredLoop> {
  const writesBefore = db && (await documentWrites(db));
  const used = measureCpu(all);
  const load = await run();
  const cpu = used();
  const writes = db && writesBefore !== undefined ? (await settledDocumentWrites(db)) - writesBefore : undefined;
  return { load, cpu, writes };
}

function resultOf({ load, cpu, writes }: MeasuredLoop): LoopResult {
  return {
    messages: load.accepted,
    acceptedPerSecond: (load.accepted / (load.lastMs - load.firstMs)) * 1000,
    answerMs: times(load.answerMs),
    ...(writes !== undefined && { documentWritesPerMessage: writes / load.accepted }),
    cpuMsPer1000: per1000(cpu, load.accepted),
    refused: load.refused,
    repeatedWebhooks: 0,
  };
}

async function latencies(world: World, loads: readonly LoadResult[]): Promise<LatencyResult> {
  const { submits, delivered } = await world.seen();
  const sentAt = new Map(loads.flatMap((load) => [...load.sentAt]));
  const acceptedAt = new Map(loads.flatMap((load) => [...load.acceptedAt]));
  const since = (begun: ReadonlyMap<string, number>, seen: readonly (readonly [string, number])[]): Times =>
    times(seen.flatMap(([to, ms]) => ms - (begun.get(to) ?? Number.NaN)).filter((ms) => !Number.isNaN(ms)));
  return {
    messages: sentAt.size,
    answerMs: times(loads.flatMap((load) => load.answerMs)),
    submitMs: since(sentAt, submits),
    webhookMs: since(sentAt, delivered),
    acceptedToSubmitMs: since(acceptedAt, submits),
  };
}

function per1000(cpu: ReadonlyMap<string, number>, messages: number): Record<string, number> {
  return Object.fromEntries([...cpu].map(([name, ms]) => [name, (ms / messages) * 1000]));
}

function times(values: readonly number[]): Times {
  return { p50: percentile(values, 0.5), p99: percentile(values, 0.99) };
}

/** Resolves with the counts when `wanted` webhooks have arrived; rejects if they stop arriving before that. */
async function webhooksReach(world: World, wanted: number): Promise<Counts> {
  let progressMs = performance.now();
  for (let last = -1; ; ) {
    const counts = await world.counts();
    if (counts.webhooks >= wanted) return counts;
    if (counts.webhooks > last) progressMs = performance.now();
    else if (performance.now() - progressMs > STALL_MS) {
      throw new Error(`${wanted - counts.webhooks} of the webhooks do not come (${counts.submits} submits in all)`);
    }
    last = counts.webhooks;
    await pause(LOOK_MS);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/**
 * Documents written since the store's start: MongoDB's `serverStatus().metrics.document` (inserted, updated, deleted),
 * which the embedded store counts in the same way. Updating several fields of a document counts once.
 */
async function documentWrites(db: Db): Promise<number> {
  const { metrics } = await db.admin().serverStatus();
  const { inserted, updated, deleted } = metrics.document;
  return Number(inserted) + Number(updated) + Number(deleted);
}

const QUIET_LOOK_MS = 250;
/** Writes that happen while the system is idle: reports of processes, leases. */
const NOISE = 5;

/** Waits until the count has almost stopped growing, so that it includes the last message's follow-up writes. */
async function settledDocumentWrites(db: Db): Promise<number> {
  for (let before = await documentWrites(db); ; ) {
    await new Promise((resolve) => setTimeout(resolve, QUIET_LOOK_MS));
    const now = await documentWrites(db);
    if (now - before <= NOISE) return now;
    before = now;
  }
}

/** Sends `batches` bulk requests of `size` recipients in sequence; each uses the next key. */
async function bulkLoad(target: ProductTarget, batches: number, size: number): Promise<LoadResult> {
  const answerMs: number[] = [];
  const refused: Record<string, number> = {};
  const sentAt = new Map<string, number>();
  const acceptedAt = new Map<string, number>();
  let accepted = 0;
  let lastMs = 0;
  const firstMs = machineMs();
  for (let i = 0; i < batches; i++) {
    const to = Array.from({ length: size }, nextDestination);
    const body = JSON.stringify({ to, message: TEXT, sender: SENDER, route: target.route });
    const sentMs = machineMs();
    const answer = await fetch(`${target.url}/v2/send-bulk`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${target.keys[i % target.keys.length]}`,
        'content-type': 'application/json',
      },
      body,
    });
    await answer.arrayBuffer();
    lastMs = machineMs();
    answerMs.push(lastMs - sentMs);
    if (answer.status === 200) {
      accepted += size;
      for (const each of to) {
        sentAt.set(each, sentMs);
        acceptedAt.set(each, lastMs);
      }
    } else refused[answer.status] = (refused[answer.status] ?? 0) + 1;
  }
  return { accepted, refused, firstMs, lastMs, answerMs, sentAt, acceptedAt };
}

export interface ScheduleResult {
  readonly schedules: number;
  readonly bookedPerSecond: number;
  /** Milliseconds from the booked second until the last schedule was a queued message. */
  readonly releasedMs: number;
  readonly refused: Readonly<Record<string, number>>;
}

/** On the slowest machine; decides how far ahead the booked second must be. */
const BOOKINGS_PER_SECOND = 150;
const RELEASE_LOOK_MS = 20;
const RELEASE_STALL_MS = 60_000;

/** Books `total` schedules for the same second on a route without a carrier, and waits until all are queued. */
export async function releaseTogether(stage: Stage, connections: number, total: number): Promise<ScheduleResult> {
  const at = new Date(Math.ceil(Date.now() / 1_000 + 5 + total / BOOKINGS_PER_SECOND) * 1_000);
  const refused: Record<string, number> = {};
  const { hostname, port } = new URL(stage.url);
  const firstMs = machineMs();
  let left = total;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const lane = new HttpLane(hostname, Number(port));
      while (left > 0) {
        const key = stage.keys[left % stage.keys.length];
        left -= 1;
        const to = nextDestination();
        const body = { to, message: TEXT, sender: SENDER, route: 'promotional', schedule_time: at.toISOString() };
        const headers = `Authorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;
        const { status } = await lane.post('/v2/schedule', headers, JSON.stringify(body));
        if (status !== 200) refused[status] = (refused[status] ?? 0) + 1;
      }
      lane.close();
    }),
  );
  const bookedPerSecond = (total / (machineMs() - firstMs)) * 1_000;
  // A schedule has `due` until its message is stored. A partial index serves this count.
  const waiting = () => stage.db.collection('schedules').countDocuments({ due: { $exists: true } });
  const deadline = at.getTime() + RELEASE_STALL_MS;
  while ((await waiting()) > 0) {
    if (Date.now() > deadline) throw new Error('schedules are not released');
    await new Promise((resolve) => setTimeout(resolve, RELEASE_LOOK_MS));
  }
  return { schedules: total, bookedPerSecond, releasedMs: Date.now() - at.getTime(), refused };
}
