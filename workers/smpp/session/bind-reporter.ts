import { isDeepStrictEqual } from 'node:util';
import type { Db } from 'mongodb';
import type { BindReport, BindTrouble, CarrierFlow } from '../../../shared/carriers/bind-report.ts';
import { writeBindReport } from '../../../shared/carriers/bind-report-store.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { errorFields, type Log } from '../../../shared/runtime/log.ts';
import type { BindState } from './bind-states.ts';

export interface BindReporterOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Log;
  readonly carrier: string;
  /** Of the carrier's lease. */
  readonly epoch: number;
}

/** Changes of so long are one write: a carrier that refuses fifty binds changes a hundred states at once. */
const GATHER_MS = 250;
/** A write that failed is done again then. */
const AGAIN_MS = 5_000;

/** Tells the store, for people and for other carriers' workers, what a carrier is doing. Nobody waits for it. */
export class BindReporter {
  readonly #options: BindReporterOptions;
  readonly #binds = new Map<number, BindReport>();
  #unboundSince: Date | undefined;
  #flow: Omit<CarrierFlow, 'unboundSince'> = {};
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();
  #ended = false;

  constructor(options: BindReporterOptions) {
    this.#options = options;
  }

  /** `trouble`: how its last try ended. One that is the same again goes on since it began; a bind that is bound has none. */
  tell(index: number, state: BindState, trouble?: BindTrouble): void {
    const now = this.#options.clock.now();
    const before = this.#binds.get(index)?.trouble;
    const same = trouble === undefined || (before?.kind === trouble.kind && before.code === trouble.code);
    const current = same ? before : { ...trouble, since: now };
    const report: BindReport = { index, state, since: now };
    this.#binds.set(index, state === 'bound' || current === undefined ? report : { ...report, trouble: current });
    const bound = [...this.#binds.values()].some((one) => one.state === 'bound');
    this.#unboundSince = bound ? undefined : (this.#unboundSince ?? now);
    this.#writeIn(GATHER_MS);
  }

  /** Written only when it is news. */
  tellFlow(flow: Omit<CarrierFlow, 'unboundSince'>): void {
    if (isDeepStrictEqual(flow, this.#flow)) return;
    this.#flow = flow;
    this.#writeIn(GATHER_MS);
  }

  /** Says nothing more: the lease is no longer this run's. */
  end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
  }

  #writeIn(ms: number): void {
    if (this.#ended || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#writing = this.#writing.then(() => this.#write());
    }, ms);
  }

  async #write(): Promise<void> {
    const { db, clock, log, carrier, epoch } = this.#options;
    const binds = [...this.#binds.values()].sort((a, b) => a.index - b.index);
    try {
      const flow = {
        ...this.#flow,
        ...(this.#unboundSince === undefined ? {} : { unboundSince: this.#unboundSince }),
      };
      await writeBindReport(db, { _id: carrier, epoch, at: clock.now(), binds, flow });
    } catch (error) {
      log.info('binds_not_reported', { carrier, ...errorFields(error) });
      this.#writeIn(AGAIN_MS);
    }
  }
}
