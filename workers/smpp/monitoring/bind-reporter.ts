import { isDeepStrictEqual } from 'node:util';
import {
  type BindReport,
  type BindTrouble,
  type CarrierFlow,
  type CarrierMeasured,
  writeBindReport,
} from '../../../shared/carriers/bind-report.ts';
import type { CommandStatusClass } from '../../../shared/carriers/command-status.ts';
import type { Clock } from '../../../shared/platform/runtime/clock.ts';
import { errorFields } from '../../../shared/platform/runtime/log.ts';
import { QUICK_MS } from '../session/backoff.ts';
import type { BindState } from '../session/bind.ts';
import type { CarrierContext } from './carrier-context.ts';

interface BindReporterOptions extends Pick<CarrierContext, 'db' | 'clock' | 'log'> {
  readonly carrier: string;
  readonly epoch: number;
}

/** Changes within this time are one write: a carrier that refuses fifty binds causes a hundred changes at once. */
const GATHER_MS = 250;
const AGAIN_MS = 5_000;

/** Stores what a carrier is doing, for people and for the workers of other carriers. No work waits for these writes. */
export class BindReporter {
  readonly #options: BindReporterOptions;
  readonly #binds = new Map<number, BindReport>();
  #unboundSince: Date | undefined;
  #boundSince: Date | undefined;
  #flow: Omit<CarrierFlow, 'unboundSince'> = {};
  #measured: CarrierMeasured | undefined;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();
  #ended = false;

  constructor(options: BindReporterOptions) {
    this.#options = options;
  }

  /**
   * Notes a bind's new state. `trouble` says how its last try ended. The same trouble again keeps the time at which it
   * began, also after a moment of being bound: otherwise a carrier that takes each bind and then refuses each message
   * as wrongly signed in would never count as down. A bind that is bound has no trouble.
   */
  tell(index: number, state: BindState, trouble?: BindTrouble): void {
    const now = this.#options.clock.now();
    const previous = this.#binds.get(index);
    const wasQuick = previous?.state === 'bound' && now.getTime() - previous.since.getTime() < QUICK_MS;
    const before = wasQuick ? previous.lastTrouble : previous?.trouble;
    const same = trouble === undefined || (before?.kind === trouble.kind && before.code === trouble.code);
    const current = same ? before : { ...trouble, since: now };
    const report: BindReport = { index, state, since: now };
    const last = before ?? previous?.lastTrouble;
    if (state !== 'bound' && current !== undefined) this.#binds.set(index, { ...report, trouble: current });
    else this.#binds.set(index, last === undefined ? report : { ...report, lastTrouble: last });
    this.#noteBound(now);
    this.#writeIn(GATHER_MS);
  }

  /** A quickly lost bind does not end the time without a bind: else a carrier that closes each is never down. */
  #noteBound(now: Date): void {
    if ([...this.#binds.values()].some(({ state }) => state === 'bound')) {
      this.#boundSince ??= now;
      return;
    }
    const wasQuick = this.#boundSince === undefined || now.getTime() - this.#boundSince.getTime() < QUICK_MS;
    this.#unboundSince = wasQuick ? (this.#unboundSince ?? now) : now;
    this.#boundSince = undefined;
  }

  /** Writes only changes. */
  measure(measured: CarrierMeasured): void {
    if (isDeepStrictEqual(measured, this.#measured)) return;
    this.#measured = measured;
    this.#writeIn(GATHER_MS);
  }

  /** How well the carrier takes submits. Writes only changes. */
  tellFlow(flow: Omit<CarrierFlow, 'unboundSince'>): void {
    if (isDeepStrictEqual(flow, this.#flow)) return;
    this.#flow = flow;
    this.#writeIn(GATHER_MS);
  }

  /** Writes nothing more. Called when the carrier's lease is lost. */
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
    const measured = this.#measured === undefined ? {} : { measured: this.#measured };
    const binds = [...this.#binds.values()].sort((a, b) => a.index - b.index);
    try {
      const flow = {
        ...this.#flow,
        ...(this.#boundSince !== undefined || this.#unboundSince === undefined
          ? {}
          : { unboundSince: this.#unboundSince }),
      };
      await writeBindReport(db, { _id: carrier, epoch, at: clock.now(), binds, flow, ...measured });
    } catch (error) {
      log.info('binds_not_reported', { carrier, ...errorFields(error) });
      this.#writeIn(AGAIN_MS);
    }
  }
}

/** Enough for a p99. */
const REMEMBERED = 1_000;

export class Measurements {
  readonly #clock: Clock;
  readonly #since: Date;
  readonly #answerMs: number[] = [];
  #next = 0;
  readonly #answers: Record<string, number> = {};
  readonly #receipts: Record<string, number> = {};
  #lastRefusal: CarrierMeasured['lastRefusal'];

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#since = clock.now();
  }

  answered(
    { code, reason }: { readonly code: string; readonly reason: string },
    counted: CommandStatusClass,
    ms: number,
  ): void {
    this.#answers[counted] = (this.#answers[counted] ?? 0) + 1;
    this.#answerMs[this.#next] = ms;
    this.#next = (this.#next + 1) % REMEMBERED;
    if (counted !== 'accepted') this.#lastRefusal = { code, reason, at: this.#clock.now() };
  }

  receipt(state: string): void {
    this.#receipts[state] = (this.#receipts[state] ?? 0) + 1;
  }

  /** `perSecond`: the current rate; Infinity for no limit. `unanswered`: the number for each bind. */
  report(perSecond: number, unanswered: readonly number[]): CarrierMeasured {
    const times = this.#answerMs.toSorted((a, b) => a - b);
    const at = (part: number): number => Math.round(times[Math.ceil(part * times.length) - 1] ?? 0);
    return {
      since: this.#since,
      unanswered,
      answers: { ...this.#answers },
      receipts: { ...this.#receipts },
      ...(Number.isFinite(perSecond) ? { perSecond: Math.round(perSecond * 10) / 10 } : {}),
      ...(times.length === 0 ? {} : { answerMs: { p50: at(0.5), p99: at(0.99) } }),
      ...(this.#lastRefusal === undefined ? {} : { lastRefusal: this.#lastRefusal }),
    };
  }
}
