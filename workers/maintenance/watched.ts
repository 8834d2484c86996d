import { statfs } from 'node:fs/promises';
import { connect } from 'node:tls';
import type { Db } from 'mongodb';
import type { Fates, TrafficSeen } from '../../shared/conditions/carriers.ts';
import type { Installation, StoreSeen } from '../../shared/conditions/installation.ts';
import { isCarried } from '../../shared/messages/document/channel.ts';
import { ALL, HOUR_MS, readTraffic, type TrafficRow } from '../../shared/messages/statistics.ts';
import type { ProcessDocument, ReportedMetric } from '../../shared/platform/processes/report.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import { parseIdentity, processName } from '../../shared/platform/runtime/process-identity.ts';

/** The longest window of any condition. */
const KEPT_MS = 3_600_000;

export type Labels = Readonly<Record<string, string>>;

interface Grown {
  readonly labels: ReportedMetric['labels'];
  more: number;
}

interface Step {
  readonly atMs: number;
  readonly grown: ReadonlyMap<string, readonly Grown[]>;
}

/** How much all processes' reported counters grew in the last hour (platform/processes/report.ts). In memory only. */
export class RecentCounts {
  readonly #clock: Clock;
  readonly #wanted: ReadonlySet<string>;
  #last: Map<string, number> | undefined;
  #steps: Step[] = [];

  /** `wanted`: names of counters, without the prefix. */
  constructor(clock: Clock, wanted: readonly string[]) {
    this.#clock = clock;
    this.#wanted = new Set(wanted);
  }

  reset(): void {
    this.#last = undefined;
    this.#steps = [];
  }

  /** The current reports. Counters of a process only grow; a new process has counted from 0. */
  add(reported: readonly ReportedMetric[]): void {
    const nowMs = this.#clock.monotonicMs();
    const now = new Map<string, number>();
    const grown = new Map<string, Map<string, Grown>>();
    for (const { name, process, labels, value } of reported) {
      if (!this.#wanted.has(name)) continue;
      const key = JSON.stringify(labels);
      const own = `${process} ${name} ${key}`;
      now.set(own, value);
      const more = value - (this.#last?.get(own) ?? 0);
      if (this.#last === undefined || more <= 0) continue;
      const ofName = grown.get(name) ?? new Map<string, Grown>();
      grown.set(name, ofName);
      const known = ofName.get(key);
      if (known === undefined) ofName.set(key, { labels, more });
      else known.more += more;
    }
    this.#last = now;
    const step = { atMs: nowMs, grown: new Map([...grown].map(([name, all]) => [name, [...all.values()]])) };
    this.#steps = [...this.#steps.filter(({ atMs }) => atMs > nowMs - KEPT_MS), step];
  }

  /** How much counters with these labels (and any others) grew in the last `ms`, without the last `untilMs`. */
  sum(name: string, labels: Labels, ms: number, untilMs = 0): number {
    const nowMs = this.#clock.monotonicMs();
    return this.#steps
      .filter(({ atMs }) => atMs > nowMs - ms && atMs <= nowMs - untilMs)
      .reduce((sum, step) => sum + grownIn(step, name, labels), 0);
  }

  /**
   * How much a counter grew with any of the `counted` values of a label since it grew with the value `other`, and how
   * many milliseconds ago that began. A step with both counts as `other`.
   */
  sumSince(
    name: string,
    labels: Labels,
    label: string,
    counted: readonly string[],
    other: string,
  ): { readonly count: number; readonly agoMs: number } | undefined {
    let [count, sinceMs] = [0, 0];
    for (const [i, step] of [...this.#steps.entries()].reverse()) {
      if (grownIn(step, name, { ...labels, [label]: other }) > 0) break;
      const more = counted.reduce((sum, value) => sum + grownIn(step, name, { ...labels, [label]: value }), 0);
      if (more === 0) continue;
      count += more;
      // The count grew between the previous step and this one.
      sinceMs = (this.#steps[i - 1] ?? step).atMs;
    }
    return count === 0 ? undefined : { count, agoMs: this.#clock.monotonicMs() - sinceMs };
  }
}

function grownIn({ grown }: Step, name: string, labels: Labels): number {
  const wanted = Object.entries(labels);
  return (grown.get(name) ?? []).reduce(
    (sum, one) => sum + (wanted.every(([label, value]) => String(one.labels[label]) === value) ? one.more : 0),
    0,
  );
}

/** An alarm needs this many bad measurements in a row, because a single one may be an accident. */
const REMEMBERED = 3;
const CONNECT_MS = 5_000;

export class WatchedMachine {
  readonly #db: Db;
  readonly #clock: Clock;
  readonly #options: { readonly storeDir: string | undefined; readonly publicUrl: string };
  readonly #writesMs: number[] = [];
  readonly #skews = new Map<string, readonly number[]>();
  #certificate: { readonly until: Date | undefined; readonly atMs: number } | undefined;

  constructor(db: Db, clock: Clock, options: { readonly storeDir: string | undefined; readonly publicUrl: string }) {
    this.#db = db;
    this.#clock = clock;
    this.#options = options;
  }

  async look(
    living: readonly Omit<ProcessDocument, 'metrics'>[],
  ): Promise<Pick<Installation, 'store' | 'clocks' | 'certificates'>> {
    const [store, certificate] = await Promise.all([this.#store(), this.#publicCertificate()]);
    return { store, clocks: this.#clocks(living), certificates: certificate };
  }

  /** A write that matches no document: like each write, it waits until a majority has all earlier ones. */
  async #store(): Promise<StoreSeen> {
    const beganMs = this.#clock.monotonicMs();
    await this.#db.collection<ProcessDocument>('processes').updateOne({ _id: 'watch' }, { $unset: { ended: '' } });
    this.#writesMs.push(this.#clock.monotonicMs() - beganMs);
    if (this.#writesMs.length > REMEMBERED) this.#writesMs.shift();
    const { storeDir: dir } = this.#options;
    const writeMs = this.#writesMs.length < REMEMBERED ? 0 : Math.min(...this.#writesMs);
    if (dir === undefined) return { writeMs };
    const { bavail, blocks, bsize } = await statfs(dir);
    return { writeMs, disk: { dir, freeBytes: bavail * bsize, bytes: blocks * bsize } };
  }

  /** A slow store looks like a clock that is behind: the best of the last reports counts. */
  #clocks(living: readonly Omit<ProcessDocument, 'metrics'>[]): Installation['clocks'] {
    const known = new Set(living.map(({ _id }) => _id));
    for (const id of this.#skews.keys()) if (!known.has(id)) this.#skews.delete(id);
    for (const { _id, at, sentAt } of living) {
      if (sentAt === undefined) continue;
      const before = this.#skews.get(_id) ?? [];
      this.#skews.set(_id, [...before, sentAt.getTime() - at.getTime()].slice(-REMEMBERED));
    }
    const machines = new Map<string, number>();
    for (const [id, skews] of this.#skews) {
      const [machine = ''] = processName(parseIdentity(id)).split('/');
      const best = [...skews, machines.get(machine) ?? Number.POSITIVE_INFINITY];
      if (skews.length === REMEMBERED) machines.set(machine, best.sort((a, b) => Math.abs(a) - Math.abs(b))[0] ?? 0);
    }
    return [...machines].map(([machine, aheadMs]) => ({ machine, aheadMs }));
  }

  async #publicCertificate(): Promise<Installation['certificates']> {
    const { publicUrl } = this.#options;
    if (!publicUrl.startsWith('https:')) return [];
    const url = new URL(publicUrl);
    const nowMs = this.#clock.monotonicMs();
    if (this.#certificate === undefined || nowMs - this.#certificate.atMs > HOUR_MS) {
      this.#certificate = { until: await certificateUntil(url), atMs: nowMs };
    }
    const { until } = this.#certificate;
    return until === undefined ? [] : [{ whose: `The certificate of ${url.host}`, until }];
  }
}

/** Undefined when the address cannot be reached from here: it may be reached from outside. */
function certificateUntil({ hostname, port }: URL): Promise<Date | undefined> {
  return new Promise((resolve) => {
    const socket = connect({
      ...{ host: hostname, servername: hostname, port: Number(port || 443) },
      // An ended certificate must be read too. Nothing is sent.
      rejectUnauthorized: false,
    });
    const end = (until?: Date): void => {
      socket.destroy();
      resolve(until);
    };
    socket.setTimeout(CONNECT_MS, () => end());
    socket.once('error', () => end());
    socket.once('secureConnect', () => {
      const { valid_to: until } = socket.getPeerCertificate();
      end(until === undefined ? undefined : new Date(until));
    });
  });
}

const DAY_MS = 24 * HOUR_MS;
/** The hours are counted anew every 15 s at most (count-hours.ts). */
const RECENT_MS = 60_000;
/** How often the usual traffic is read again: a week may have 100,000 rows. */
const USUAL_MS = 6 * HOUR_MS;

type Sums = ReadonlyMap<string, Fates>;

/** What became of messages by carrier and by route, by the hourly counts: in the last hour and the week before. */
export class WatchedTraffic {
  readonly #db: Db;
  readonly #clock: Clock;
  #recent: Sums = new Map();
  #recentAtMs = Number.NEGATIVE_INFINITY;
  #usual: Sums = new Map();
  #usualAtMs = Number.NEGATIVE_INFINITY;

  constructor(db: Db, clock: Clock) {
    this.#db = db;
    this.#clock = clock;
  }

  async look(): Promise<readonly TrafficSeen[]> {
    const nowMs = this.#clock.now().getTime();
    const monotonicMs = this.#clock.monotonicMs();
    const lately = new Date(nowMs - HOUR_MS);
    if (monotonicMs - this.#recentAtMs >= RECENT_MS) {
      this.#recent = await this.#sum(lately, new Date(nowMs + HOUR_MS));
      this.#recentAtMs = monotonicMs;
    }
    if (monotonicMs - this.#usualAtMs >= USUAL_MS) {
      this.#usual = await this.#sum(new Date(lately.getTime() - 7 * DAY_MS), lately);
      this.#usualAtMs = monotonicMs;
    }
    return [...this.#recent].map(([key, recent]) => {
      const [kind, id = ''] = key.split(' ');
      return { kind: kind === 'route' ? 'route' : 'carrier', id, recent, usual: this.#usual.get(key) ?? NONE };
    });
  }

  async #sum(from: Date, to: Date): Promise<Sums> {
    const sums = new Map<string, Fates>();
    for await (const { traffic } of readTraffic(this.#db, ALL, from, to)) {
      for (const row of traffic) {
        if (!isCarried(row.channel)) continue;
        for (const key of keysOf(row)) sums.set(key, plus(sums.get(key) ?? NONE, row));
      }
    }
    return sums;
  }
}

const NONE: Fates = { made: 0, ended: 0, delivered: 0, rejected: 0 };

/** Names of carriers and routes have no spaces. */
function keysOf({ carrier, rule }: TrafficRow): string[] {
  return [...(carrier === undefined ? [] : [`carrier ${carrier}`]), ...(rule === undefined ? [] : [`route ${rule}`])];
}

function plus(sum: Fates, { states }: TrafficRow): Fates {
  const { queued = 0, sent = 0, delivered = 0, failed = 0, expired = 0, rejected = 0 } = states;
  const ended = delivered + failed + expired + rejected;
  return {
    made: sum.made + queued + sent + ended,
    ended: sum.ended + ended,
    delivered: sum.delivered + delivered,
    rejected: sum.rejected + rejected,
  };
}
