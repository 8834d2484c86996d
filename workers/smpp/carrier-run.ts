import type { Lease } from '../../shared/leases/lease.ts';
import { oldestOwed, redoIntents } from '../../shared/messages/settle.ts';
import { decideUnknowns, takeOverUnknowns } from '../../shared/messages/unknowns.ts';
import type { BindState } from './bind.ts';
import { type CarrierParts, type CarrierSupplies, joinParts } from './carrier-parts.ts';
import { Rounds } from './rounds.ts';

export interface CarrierRunOptions extends CarrierSupplies {
  readonly lease: Lease;
}

/** How often is looked whether the lease is to be renewed. */
const LEASE_LOOK_MS = 500;

const SWEEP_MS = 3_000;
/** How often unknown submits are looked at; as often as they are to wait, where that is shorter. */
const UNKNOWNS_MS = 10_000;
const SHORTEST_UNKNOWNS_MS = 500;
/** Longest wait for answers at a stop, whatever the carrier's response timeout is: PM2 waits no longer than 20 s. */
const STOP_ANSWERS_MS = 8_000;
/** After that, how long the store may take for the last outcomes. */
const STOP_STORE_MS = 4_000;
const TICK_MS = 20;

/**
 * One carrier under its lease: binds, dispatch, receipts, and what must be done again and again. `start` tells whether the lease
 * could be taken. While it has run out, because the store is away, nothing is claimed and nothing written to a socket, but what
 * the carrier says is heard and kept. When another process has it, everything stops at once and `ended` is true.
 */
export class CarrierRun {
  readonly #options: CarrierRunOptions;
  readonly #lease: Lease;
  readonly #rounds: Rounds;
  #parts: CarrierParts | undefined;
  ended = false;

  constructor(options: CarrierRunOptions) {
    const { log, carrier, lease } = options;
    this.#options = options;
    this.#lease = lease;
    this.#rounds = new Rounds({ name: carrier._id, log });
  }

  /** False when another process holds the lease. Throws when the store fails. */
  async start(): Promise<boolean> {
    const { db, clock, carrier, log, figures, announcer } = this.#options;
    if (!(await this.#lease.keep())) return false;
    this.#rounds.every(LEASE_LOOK_MS, 'lease', () => this.#keep());
    const { name, epoch } = this.#lease;
    await redoIntents(db, announcer, name, epoch, oldestOwed(clock.now()));
    const unknown = await takeOverUnknowns(db, carrier._id, epoch, true);
    if (unknown > 0) figures.takenOver.inc({ carrier: carrier._id }, unknown);
    log.info('carrier_taken', { carrier: carrier._id, epoch, unknown });
    this.#parts = joinParts(this.#options, {
      lease: name,
      epoch,
      held: () => this.#lease.held,
      onBindState: (state) => this.#onBindState(state),
      guarded: (what, work) => this.#rounds.guarded(what, work),
    });
    await this.#parts.receipts.recover();
    this.#rounds.every(SWEEP_MS, 'sweep', () => this.#sweep());
    const unknownsMs = Math.max(Math.min(UNKNOWNS_MS, carrier.unknownWaitMs), SHORTEST_UNKNOWNS_MS);
    this.#rounds.every(unknownsMs, 'unknowns', () => this.#decideUnknowns());
    for (const { bind } of this.#parts.lines) bind.start();
    this.#parts.dispatch.start();
    return true;
  }

  /** Gracefully: no more claims, answers are waited for, then unbind, then the lease is given back. */
  async stop(): Promise<void> {
    const parts = this.#parts;
    if (parts !== undefined && !this.ended) {
      const { carrier, messageLog } = this.#options;
      await parts.dispatch.stop();
      const waitMs = Math.min(carrier.responseTimeoutMs, STOP_ANSWERS_MS);
      const deadlineMs = this.#options.clock.monotonicMs() + waitMs;
      const left = (): number => Math.max(deadlineMs - this.#options.clock.monotonicMs(), 0);
      // What has begun is written to its end first: a bind that drains writes nothing.
      const begun = (): boolean => parts.answers.resuming || parts.lines.some(({ window }) => window.waiting > 0);
      await this.#until(() => !begun(), left());
      await Promise.all(parts.lines.map(({ bind }) => bind.stop(left())));
      parts.answers.close();
      await this.#until(() => parts.outcomes.open === 0 && parts.receipts.idle && messageLog.idle, STOP_STORE_MS);
      parts.outcomes.giveUp();
    }
    this.#end('stopped');
    await this.#lease.release();
  }

  #onBindState(state: BindState): void {
    const { figures, carrier } = this.#options;
    if (state === 'bound') figures.binds.inc({ carrier: carrier._id });
    this.#gauges();
  }

  #gauges(): void {
    const parts = this.#parts;
    if (parts === undefined) return;
    const { figures, carrier } = this.#options;
    const label = { carrier: carrier._id };
    figures.bindsUp.set(label, parts.lines.filter(({ bind }) => bind.state === 'bound').length);
    figures.unanswered.set(
      label,
      parts.lines.reduce((sum, { window }) => sum + window.unanswered, 0),
    );
    figures.waiting.set(
      label,
      parts.lines.reduce((sum, { window }) => sum + window.waiting, 0),
    );
    figures.orphans.set(label, parts.receipts.freshOrphans);
  }

  async #keep(): Promise<void> {
    const { carrier, log } = this.#options;
    if (!this.#lease.due) return;
    const ranOut = !this.#lease.held;
    if (!(await this.#lease.keep())) {
      log.warn('lease_lost', { carrier: carrier._id });
      this.#end('lease_lost');
    } else if (ranOut) {
      log.warn('lease_renewed_late', { carrier: carrier._id });
      for (const { window } of this.#parts?.lines ?? []) window.pump();
      this.#parts?.dispatch.room();
    }
  }

  async #sweep(): Promise<void> {
    if (!this.#lease.held) return;
    this.#gauges();
    await this.#parts?.receipts.sweep();
  }

  async #decideUnknowns(): Promise<void> {
    const { db, clock, carrier, figures, messageLog } = this.#options;
    if (this.#parts === undefined || !this.#lease.held) return;
    await this.#parts.unknowns.payOwed();
    // A holder that was frozen in the middle of a claim has made it when it woke, after it was taken over.
    const stray = await takeOverUnknowns(db, carrier._id, this.#lease.epoch);
    if (stray > 0) figures.takenOver.inc({ carrier: carrier._id }, stray);
    const decided = await decideUnknowns({ db, clock, carrier, messageLog, settler: this.#parts.unknowns });
    if (decided > 0) figures.policy.inc({ carrier: carrier._id, policy: carrier.unknownPolicy }, decided);
  }

  /** Writes nothing more and lets go of everything. */
  #end(reason: string): void {
    this.ended = true;
    this.#rounds.end();
    const parts = this.#parts;
    if (parts === undefined) return;
    parts.answers.close();
    parts.outcomes.giveUp();
    void parts.dispatch.stop();
    for (const { bind } of parts.lines) void bind.stop(0);
    const { figures, carrier } = this.#options;
    for (const gauge of [figures.bindsUp, figures.unanswered, figures.waiting, figures.orphans]) {
      gauge.set({ carrier: carrier._id }, 0);
    }
    this.#options.log.info('carrier_left', { carrier: carrier._id, reason });
    this.#parts = undefined;
  }

  async #until(done: () => boolean, waitMs: number): Promise<void> {
    const deadlineMs = this.#options.clock.monotonicMs() + waitMs;
    while (!done() && this.#options.clock.monotonicMs() < deadlineMs) {
      await new Promise((resolve) => setTimeout(resolve, TICK_MS));
    }
  }
}
