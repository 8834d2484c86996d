import { type KannelStage, setKannelStage } from './kannel.ts';
import type { BenchOptions } from './options.ts';
import { percentile } from './percentile.ts';
import { bulk, type LoopResult, type RateResult, rate, singles } from './phases.ts';
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
const CONNECTIONS = [64, 32];

/**
 * Measures the product and Debian's Kannel in turn on this machine, with the same simulated carrier, load and receiver; receipts
 * and callbacks are on. Both run all the time; while one is measured, the other is idle. Returns the table: for each row the
 * median of all rounds, and the median of the rounds' ratios.
 */
export async function againstKannel(dist: string, options: BenchOptions): Promise<string> {
  const stage = await setStage(dist, options, '');
  let kannel: KannelStage | undefined;
  try {
    kannel = await setKannelStage(dist, options);
    const both = new Comparison(stage, kannel, options);
    await both.warmUp();
    for (let round = 1; round <= options.rounds; round++) {
      console.error(`round ${round} of ${options.rounds}`);
      await both.round();
    }
    return both.text();
  } finally {
    await kannel?.close();
    await stage.close();
  }
}

class Comparison {
  readonly #stage: Stage;
  readonly #kannel: KannelStage;
  readonly #options: BenchOptions;
  readonly #rows = new Map<string, Measured>();

  constructor(stage: Stage, kannel: KannelStage, options: BenchOptions) {
    this.#stage = stage;
    this.#kannel = kannel;
    this.#options = options;
  }

  async warmUp(): Promise<void> {
    const { warmUp } = this.#options;
    if (warmUp === 0) return;
    await this.#singles(this.#kannel, this.#kannel.target, 64, warmUp);
    await this.#singles(this.#stage, productTarget(this.#stage.url, this.#stage.keys), 64, warmUp);
  }

  async round(): Promise<void> {
    const { url, keys, loneKeys } = this.#stage;
    const { messages } = this.#options;
    const target = productTarget(url, keys);
    const theirs: LoopResult[] = [];
    for (const connections of CONNECTIONS) {
      const kannel = await this.#singles(this.#kannel, this.#kannel.target, connections, messages);
      theirs.push(kannel);
      const ours = await this.#singles(this.#stage, target, connections, messages);
      this.#loop(`singles, ${connections} connections`, kannel, ours, connections === 64 ? '≥ 0.8' : '≥ 0.6');
    }
    const [atMost] = theirs;
    if (atMost !== undefined) {
      const one = await this.#singles(this.#stage, productTarget(url, loneKeys), 64, messages);
      this.#loop('singles of one account, 64 connections', atMost, one, '≥ 0.8');
      this.#loop('bulk', atMost, await bulk(this.#stage, this.#options), '≥ 1.3');
    }
    for (const perSecond of RATES) {
      const asked = { ratePerSecond: perSecond, rateSeconds: this.#options.rateSeconds, webhooksEach: 1 };
      const kannel = await rate(this.#kannel, this.#kannel.target, asked);
      this.#rate(perSecond, kannel, await rate(this.#stage, target, asked));
    }
  }

  #singles(contender: Contender, target: Target, connections: number, messages: number): Promise<LoopResult> {
    return singles(contender, target, { connections, messages, webhooksEach: 1 });
  }

  #loop(what: string, kannel: LoopResult, harkara: LoopResult, target: string): void {
    this.#note(`${what}: messages/s`, target, kannel.wholePerSecond, harkara.wholePerSecond);
    this.#note(`${what}: CPU ms per 1,000`, '', cpuOf(kannel), this.#ownCpu(harkara));
    this.#note(`${what}: answer p99, ms`, '', kannel.answerMs.p99, harkara.answerMs.p99);
  }

  #rate(perSecond: number, kannel: RateResult, harkara: RateResult): void {
    const high = perSecond === 1_000;
    const at = `at ${perSecond}/s`;
    this.#note(`${at}: CPU ms per 1,000`, high ? '≤ 1,100' : '≤ 1,300', cpuOf(kannel), this.#ownCpu(harkara));
    this.#note(`${at}: answer p50, ms`, '', kannel.answerMs.p50, harkara.answerMs.p50);
    this.#note(`${at}: answer p99, ms`, high ? '≤ 40' : '≤ 25', kannel.answerMs.p99, harkara.answerMs.p99);
    const [theirs, ours] = [kannel.acceptedToSubmitMs, harkara.acceptedToSubmitMs];
    this.#note(`${at}: answer → submit_sm p50, ms`, high ? '≤ 10' : '', theirs.p50, ours.p50);
    this.#note(`${at}: answer → submit_sm p99, ms`, high ? '≤ 30' : '', theirs.p99, ours.p99);
  }

  /** The CPU of the product, without the simulated world and the load. */
  #ownCpu({ cpuMsPer1000 }: Pick<LoopResult, 'cpuMsPer1000'>): number {
    return this.#stage.product.reduce((sum, { name }) => sum + (cpuMsPer1000[name] ?? 0), 0);
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
    return table([['', 'Kannel', 'Harkara', 'ratio', 'target'], ...rows]);
  }
}

function cpuOf({ cpuMsPer1000 }: Pick<LoopResult, 'cpuMsPer1000'>): number {
  return Object.values(cpuMsPer1000).reduce((sum, ms) => sum + ms, 0);
}

function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

function said(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(1);
}
