import type { ReportedMetric } from '../../shared/platform/processes/report.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';

/** What is remembered: the longest window of any condition. */
const KEPT_MS = 3_600_000;

export type Labels = Readonly<Record<string, string>>;

interface Grown {
  readonly labels: ReportedMetric['labels'];
  more: number;
}

interface Step {
  readonly atMs: number;
  /** By the counter's name. */
  readonly grown: ReadonlyMap<string, readonly Grown[]>;
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

  /** How much the counters with these labels, and whatever others, grew in the last `ms`, but not in the last `untilMs` of them. */
  sum(name: string, labels: Labels, ms: number, untilMs = 0): number {
    const nowMs = this.#clock.monotonicMs();
    return this.#steps
      .filter(({ atMs }) => atMs > nowMs - ms && atMs <= nowMs - untilMs)
      .reduce((sum, step) => sum + grownIn(step, name, labels), 0);
  }

  /**
   * How much a counter grew with any of these values of a label since it grew with another one, and how many milliseconds ago that
   * began. A step with both counts for the other one.
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
      // It grew after the step before.
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
