import type { ReportedMetric } from '../../shared/platform/processes/report.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';

/** What is remembered: the longest window of any condition. */
const KEPT_MS = 3_600_000;

interface Step {
  readonly atMs: number;
  readonly grown: ReadonlyMap<string, number>;
}

/**
 * How much the counters of all processes grew in the last minutes. Fed with what every process reports anyway
 * (platform/processes/report.ts), it keeps an hour in memory, so nothing is written for it. What was counted before it began is not
 * known to it.
 */
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

  /** Forgets everything: another process has watched meanwhile. */
  reset(): void {
    this.#last = undefined;
    this.#steps = [];
  }

  /** The reports of now. Counters of a process only grow; a process that was not known has counted from 0. */
  add(reported: readonly ReportedMetric[]): void {
    const nowMs = this.#clock.monotonicMs();
    const [now, grown] = [new Map<string, number>(), new Map<string, number>()];
    for (const { name, process, labels, value } of reported) {
      if (!this.#wanted.has(name)) continue;
      const key = keyOf(name, labels);
      const own = `${process} ${key}`;
      now.set(own, value);
      const more = value - (this.#last?.get(own) ?? 0);
      if (this.#last !== undefined && more > 0) grown.set(key, (grown.get(key) ?? 0) + more);
    }
    this.#last = now;
    this.#steps = [...this.#steps.filter(({ atMs }) => atMs > nowMs - KEPT_MS), { atMs: nowMs, grown }];
  }

  /** How much a counter grew in the last so many milliseconds. */
  sum(name: string, labels: Labels, ms: number): number {
    const key = keyOf(name, labels);
    const fromMs = this.#clock.monotonicMs() - ms;
    return this.#steps.reduce((sum, { atMs, grown }) => sum + (atMs > fromMs ? (grown.get(key) ?? 0) : 0), 0);
  }

  /**
   * How much a counter grew since another one grew last, and how many milliseconds ago that began. Steps in which both grew count
   * for the other one.
   */
  sumSince(counted: readonly Named[], other: Named): { readonly count: number; readonly agoMs: number } | undefined {
    const keys = counted.map((one) => keyOf(one.name, one.labels));
    const otherKey = keyOf(other.name, other.labels);
    let [count, sinceMs] = [0, 0];
    for (const [i, { grown }] of [...this.#steps.entries()].reverse()) {
      if (grown.has(otherKey)) break;
      const more = keys.reduce((sum, key) => sum + (grown.get(key) ?? 0), 0);
      if (more === 0) continue;
      count += more;
      // It grew after the step before.
      sinceMs = (this.#steps[i - 1] ?? this.#steps[i])?.atMs ?? 0;
    }
    return count === 0 ? undefined : { count, agoMs: this.#clock.monotonicMs() - sinceMs };
  }
}

type Labels = Readonly<Record<string, string | number>>;

interface Named {
  readonly name: string;
  readonly labels: Labels;
}

function keyOf(name: string, labels: Labels): string {
  return `${name} ${Object.keys(labels)
    .sort()
    .map((label) => `${label}=${labels[label]}`)
    .join(' ')}`;
}
