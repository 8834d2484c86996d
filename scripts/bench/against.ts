import { hasStore, type KannelStage, setKannelStage } from './kannel.ts';
import { KANNEL_STORES, type KannelStore } from './kannel-configuration.ts';
import type { BenchOptions } from './options.ts';
import { percentile } from './percentile.ts';
import { bulk, type LoopResult, type RateResult, rate, singles } from './phases.ts';
import { type ByProcess, norm, own } from './process-usage.ts';
import { table } from './report.ts';
import { type Contender, type Stage, setStage } from './stage.ts';
import { productTarget, type Target } from './target.ts';

/** One row of the table: the values of both, one for each round. */
interface Measured {
  readonly what: string;
  readonly target: string;
  readonly kannel: number[];
  readonly harkara: number[];
}

const RATES = [500, 1_000];
/** Kannel's stores that survive the end of its process; what we must reach beside each, and want to. */
const KEPT = [
  ['spool', '≥ 1.2, want 1.5'],
  ['redis', '≥ 2.2, want 3'],
] as const;

/**
 * Measures the product and Debian's Kannel in turn on this machine, with the same simulated carrier, load and receiver; receipts
 * and callbacks are on. Both run all the time; while one is measured, the other is idle. Returns the table: for each row the
 * median of all rounds, and the median of the rounds' ratios.
 */
export async function againstKannel(dist: string, options: BenchOptions): Promise<string> {
  const stage = await setStage(dist, options, '');
  const kannels = new Map<KannelStore, KannelStage>();
  try {
    for (const store of KANNEL_STORES) {
      if (hasStore(store)) kannels.set(store, await setKannelStage(dist, store, options));
      else console.error(`No Kannel with ${store}: install Debian's package redis-server.`);
    }
    const both = new Comparison(stage, kannels, options);
    await both.warmUp();
    for (let round = 1; round <= options.rounds; round++) {
      console.error(`round ${round} of ${options.rounds}`);
      await both.round();
    }
    return both.text();
  } finally {
    for (const kannel of kannels.values()) await kannel.close();
    await stage.close();
  }
}

class Comparison {
  readonly #stage: Stage;
  readonly #kannels: ReadonlyMap<KannelStore, KannelStage>;
  readonly #options: BenchOptions;
  readonly #rows = new Map<string, Measured>();

  constructor(stage: Stage, kannels: ReadonlyMap<KannelStore, KannelStage>, options: BenchOptions) {
    this.#stage = stage;
    this.#kannels = kannels;
    this.#options = options;
  }

  async warmUp(): Promise<void> {
    const { warmUp } = this.#options;
    if (warmUp === 0) return;
    for (const kannel of this.#kannels.values()) await this.#singles(kannel, kannel.target, 64, warmUp);
    await this.#singles(this.#stage, productTarget(this.#stage.url, this.#stage.keys), 64, warmUp);
  }

  async round(): Promise<void> {
    const { url, keys, loneKeys } = this.#stage;
    const { messages } = this.#options;
    const target = productTarget(url, keys);
    const file = this.#kannels.get('file');
    if (file === undefined) throw new Error('there is no Kannel with a file store');
    const their64 = await this.#singles(file, file.target, 64, messages);
    const our64 = await this.#singles(this.#stage, target, 64, messages);
    this.#loop('singles, 64 connections', their64, our64, '≥ 0.8, want 1.0');
    const their32 = await this.#singles(file, file.target, 32, messages);
    this.#loop('singles, 32 connections', their32, await this.#singles(this.#stage, target, 32, messages), '≥ 0.6');
    const one = await this.#singles(this.#stage, productTarget(url, loneKeys), 64, messages);
    this.#loop('singles of one account, 64 connections', their64, one, '≥ 0.8');
    this.#loop('bulk', their64, await bulk(this.#stage, this.#options), '≥ 1.2, want 1.5');
    for (const perSecond of RATES) {
      const asked = { perSecond, seconds: this.#options.rateSeconds, webhooksEach: 1 };
      const kannel = await rate(file, file.target, asked);
      this.#rate(perSecond, kannel, await rate(this.#stage, target, asked));
    }
    for (const [store, wanted] of KEPT) {
      const kannel = this.#kannels.get(store);
      if (kannel === undefined) continue;
      const kept = await this.#singles(kannel, kannel.target, 64, messages);
      this.#loop(`singles, 64 connections, Kannel with ${store}`, kept, our64, wanted);
    }
  }

  #singles(contender: Contender, target: Target, connections: number, messages: number): Promise<LoopResult> {
    return singles(contender, target, { connections, messages, webhooksEach: 1 });
  }

  #loop(what: string, kannel: LoopResult, harkara: LoopResult, target: string): void {
    this.#note(`${what}: messages/s`, target, kannel.wholePerSecond, harkara.wholePerSecond);
    this.#cpu(what, '', kannel.cpuMsPer1000, harkara.cpuMsPer1000);
    this.#note(`${what}: answer p99, ms`, '', kannel.answerMs.p99, harkara.answerMs.p99);
  }

  #rate(perSecond: number, kannel: RateResult, harkara: RateResult): void {
    const high = perSecond === 1_000;
    const at = `at ${perSecond}/s`;
    this.#cpu(at, high ? '≤ 1,100' : '≤ 1,300', kannel.cpuMsPer1000, harkara.cpuMsPer1000);
    this.#note(`${at}: answer p50, ms`, '', kannel.answerMs.p50, harkara.answerMs.p50);
    this.#note(`${at}: answer p99, ms`, high ? '≤ 40' : '≤ 25', kannel.answerMs.p99, harkara.answerMs.p99);
    const [theirs, ours] = [kannel.acceptedToSubmitMs, harkara.acceptedToSubmitMs];
    this.#note(`${at}: answer → submit_sm p50, ms`, high ? '≤ 10' : '', theirs.p50, ours.p50);
    this.#note(`${at}: answer → submit_sm p99, ms`, high ? '≤ 30' : '', theirs.p99, ours.p99);
  }

  #cpu(what: string, target: string, kannel: ByProcess, harkara: ByProcess): void {
    this.#note(`${what}: CPU ms per 1,000`, target, own(kannel), own(harkara));
    this.#note(`${what}: by that of load and simulator`, '', norm(kannel), norm(harkara));
  }

  #note(what: string, target: string, kannel = Number.NaN, harkara = Number.NaN): void {
    const row = this.#rows.get(what) ?? { what, target, kannel: [], harkara: [] };
    row.kannel.push(kannel);
    row.harkara.push(harkara);
    this.#rows.set(what, row);
  }

  text(): string {
    const rows = [...this.#rows.values()].map(({ what, target, kannel, harkara }) => [
      what,
      said(median(kannel)),
      said(median(harkara)),
      median(harkara.map((value, i) => value / (kannel[i] ?? Number.NaN))).toFixed(2),
      target,
    ]);
    return table([['', 'Kannel', 'Harkara', 'ratio', "today's target"], ...rows]);
  }
}

function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

function said(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(value >= 10 ? 1 : 2);
}
