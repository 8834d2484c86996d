import type { CarrierMeasured } from '../../shared/carriers/bind-report.ts';
import { takeOverClaims } from '../../shared/messages/queue/queue-store.ts';
import { oldestUnannounced, redoIntents } from '../../shared/messages/settlement/intents.ts';
import { decideUnknowns, takeOverUnknowns } from '../../shared/messages/settlement/unknowns.ts';
import type { Lease } from '../../shared/platform/leases/lease.ts';
import { type Log, unexpectedErrorFields } from '../../shared/platform/runtime/log.ts';
import { CarrierParts, type CarrierSupplies } from './carrier-parts.ts';
import type { AnswerSender } from './inbound/answer-sender.ts';
import { BindReporter } from './monitoring/bind-reporter.ts';
import type { SmppMetrics } from './monitoring/metrics.ts';
import type { BindState } from './session/bind.ts';

export interface CarrierRunOptions extends CarrierSupplies {
  readonly answerSender: AnswerSender;
  readonly lease: Lease;
}

const LEASE_LOOK_MS = 500;

/** How often to check whether the carrier keeps up with its messages. Only changes are written. */
const FLOW_MS = 500;
const REPEAT_MS = 3_000;
/** How often to look at received SMS that could not be processed, that wait for parts, or that are finished. */
const INBOUND_MS = 1_000;
const ANSWERS_MS = 500;
/** How often to look at unknown submits; a carrier's shorter waiting time for them counts instead. */
const UNKNOWNS_MS = 10_000;
const SHORTEST_UNKNOWNS_MS = 500;
/** At a stop, the longest wait for answers, even with a longer response timeout: PM2 waits only 20 s. */
const STOP_ANSWERS_MS = 8_000;
/** After the answers, the store has this long to take the last outcomes. */
const STOP_STORE_MS = 4_000;
const TICK_MS = 20;

/**
 * - `starting`: it has the lease and looks at what an earlier holder left. Nothing is connected yet.
 * - `running`: its parts are at work.
 * - `ended`: it was stopped, or another process has the lease. No other phase follows.
 *
 * A run may end during any `await`. Code that got the parts while it was running may go on with them: after the end,
 * they do nothing that the lease's next holder would not refuse (`Settler`).
 */
type Phase =
  | { readonly kind: 'starting' | 'ended' }
  | { readonly kind: 'running'; readonly parts: CarrierParts; readonly reporter: BindReporter };

/**
 * One carrier under its lease: its binds, dispatch, receipts, and repeated work. While the store is away the lease
 * expires: then nothing is claimed or written to a socket, but what the carrier says is read and kept. When another
 * process gets the lease, everything stops at once and `ended` is true. A paused carrier has no binds and claims
 * nothing, but its unknown submits, received SMS and follow-ups are finished.
 */
export class CarrierRun {
  readonly #options: CarrierRunOptions;
  readonly #lease: Lease;
  readonly #rounds: Rounds;
  #phase: Phase = { kind: 'starting' };

  constructor(options: CarrierRunOptions) {
    const { log, carrier, lease } = options;
    this.#options = options;
    this.#lease = lease;
    this.#rounds = new Rounds({ name: carrier._id, log });
  }

  get ended(): boolean {
    return this.#phase.kind === 'ended';
  }

  /** Returns false when another process holds the lease, or took it during the start. Throws when the store fails. */
  async start(): Promise<boolean> {
    const { db, clock, carrier, log, metrics, announcer } = this.#options;
    // No binds would look like binds that are down. This process may have had the carrier before it was paused.
    if (!this.#connects) for (const gauge of this.#allGauges) gauge.remove({ carrier: carrier._id });
    if (!(await this.#lease.keep())) return false;
    this.#rounds.every(LEASE_LOOK_MS, 'lease', () => this.#keep());
    const { name, epoch } = this.#lease;
    // Claims first: after that, an earlier holder inserts nothing that its intents would not show.
    const claimed = await takeOverClaims(db, carrier._id, epoch, clock.now(), true);
    await redoIntents(db, announcer, name, epoch, oldestUnannounced(clock.now()));
    const unknown = claimed + (await takeOverUnknowns(db, carrier._id, epoch, true));
    if (unknown > 0) metrics.takenOver.inc({ carrier: carrier._id }, unknown);
    const reporter = new BindReporter({ db, clock, log, carrier: carrier._id, epoch });
    const parts = new CarrierParts(this.#options, {
      lease: name,
      epoch,
      held: () => this.#lease.held,
      onBindState: (index, state, trouble) => {
        reporter.tell(index, state, trouble);
        this.#onBindState(state);
      },
      guarded: (what, work) => this.#rounds.guarded(what, work),
    });
    await parts.receipts.recover();
    await parts.inbound.recover();
    if (this.ended) return false;
    log.info('carrier_taken', { carrier: carrier._id, epoch, unknown });
    this.#run(parts, reporter, epoch);
    return true;
  }

  #run(parts: CarrierParts, reporter: BindReporter, epoch: number): void {
    const { answerSender, carrier } = this.#options;
    const { unknownWaitMs } = carrier;
    // An earlier holder may have left some.
    answerSender.withDueAnswers.add(carrier._id);
    this.#phase = { kind: 'running', parts, reporter };
    this.#rounds.every(REPEAT_MS, 'repeat', () => this.#repeat(parts));
    this.#rounds.every(INBOUND_MS, 'inbound', () => this.#repeatInbound(parts));
    this.#rounds.every(ANSWERS_MS, 'opt-out answers', () => this.#sendAnswers());
    const unknownsMs = Math.max(Math.min(UNKNOWNS_MS, unknownWaitMs), SHORTEST_UNKNOWNS_MS);
    this.#rounds.every(unknownsMs, 'unknowns', () => this.#decideUnknowns(parts, epoch));
    this.#rounds.every(FLOW_MS, 'flow', async () => this.#tellFlow(parts, reporter));
    // Also for a paused carrier: callbacks tell what became of earlier messages.
    parts.callbacks?.start();
    if (this.#connects) parts.start();
  }

  /** The workers of other carriers use it to take over. */
  #tellFlow({ dispatch: { behindSince }, breaker: { trippedUntil } }: CarrierParts, reporter: BindReporter): void {
    reporter.tellFlow({
      ...(behindSince === undefined ? {} : { behindSince }),
      ...(trippedUntil === undefined ? {} : { trippedUntil }),
    });
  }

  get #connects(): boolean {
    return this.#options.carrier.status === 'active';
  }

  /** Call it when the carrier's paths may have changed. */
  reviewPaths(): void {
    if (this.#phase.kind === 'running') this.#phase.parts.dispatch.reviewPaths();
  }

  /** Claims no more, waits for answers, unbinds, then releases the lease. */
  async stop(): Promise<void> {
    if (this.#phase.kind === 'running') await this.#drain(this.#phase.parts);
    this.#end('stopped');
    await this.#lease.release();
  }

  async #drain(parts: CarrierParts): Promise<void> {
    const { carrier, messageLog, clock } = this.#options;
    await Promise.all([parts.dispatch.stop(), parts.callbacks?.stop()]);
    const deadlineMs = clock.monotonicMs() + Math.min(carrier.responseTimeoutMs, STOP_ANSWERS_MS);
    const left = (): number => Math.max(deadlineMs - clock.monotonicMs(), 0);
    // Messages of which some segments were written are finished first, because a bind that drains writes nothing.
    const begun = (): boolean => parts.answers.resuming || parts.submitters.some(({ waiting }) => waiting > 0);
    await this.#until(() => !begun(), left());
    await Promise.all(parts.binds.map((bind) => bind.stop(left())));
    parts.answers.close();
    await this.#until(
      () => parts.outcomes.open === 0 && parts.receipts.idle && parts.inbound.idle && messageLog.idle,
      STOP_STORE_MS,
    );
    parts.outcomes.giveUp();
    if (!this.#lease.held) return;
    await this.#rounds.guarded('inbound', () => parts.inbound.removeFinished());
    await this.#rounds.guarded('queue', () => parts.claimer.removeEnded());
  }

  #onBindState(state: BindState): void {
    const { metrics, carrier } = this.#options;
    if (state === 'bound') metrics.binds.inc({ carrier: carrier._id });
    if (this.#phase.kind === 'running') this.#gauges(this.#phase.parts);
  }

  #gauges(parts: CarrierParts): void {
    if (!this.#connects) return;
    const { metrics, carrier } = this.#options;
    const label = { carrier: carrier._id };
    metrics.bindsUp.set(label, parts.binds.filter(({ state }) => state === 'bound').length);
    metrics.unanswered.set(label, total(parts.submitters.map(({ unanswered }) => unanswered)));
    metrics.waiting.set(label, total(parts.submitters.map(({ waiting }) => waiting)));
    metrics.rate.set(label, Number.isFinite(parts.rate.perSecond) ? parts.rate.perSecond : 0);
    metrics.orphans.set(label, parts.receipts.freshOrphans);
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
      if (this.#phase.kind !== 'running') return;
      const { submitters, dispatch } = this.#phase.parts;
      for (const submitter of submitters) submitter.pump();
      dispatch.wakeForRoom();
    }
  }

  async #repeat(parts: CarrierParts): Promise<void> {
    if (!this.#lease.held) return;
    this.#gauges(parts);
    if (this.#connects && this.#phase.kind === 'running') this.#phase.reporter.measure(measured(parts));
    await parts.receipts.repeat();
    await parts.claimer.removeEnded();
  }

  async #repeatInbound({ inbound }: CarrierParts): Promise<void> {
    if (this.#lease.held) await inbound.repeat();
  }

  async #sendAnswers(): Promise<void> {
    const { answerSender, carrier } = this.#options;
    if (this.#lease.held) await answerSender.send(carrier._id);
  }

  async #decideUnknowns({ unknowns }: CarrierParts, epoch: number): Promise<void> {
    const { db, clock, carrier, metrics, messageLog } = this.#options;
    if (!this.#lease.held) return;
    await unknowns.finishFollowUps();
    // An earlier holder that froze in the middle of a claim may have stored it after we had taken over.
    const claimed = await takeOverClaims(db, carrier._id, epoch, clock.now());
    const taken = claimed + (await takeOverUnknowns(db, carrier._id, epoch));
    if (taken > 0) metrics.takenOver.inc({ carrier: carrier._id }, taken);
    const decided = await decideUnknowns({ db, clock, holder: carrier, messageLog, settler: unknowns });
    for (const became of decided) {
      metrics.policy.inc({ carrier: carrier._id, policy: carrier.unknownPolicy, became });
    }
  }

  #end(reason: string): void {
    const phase = this.#phase;
    this.#phase = { kind: 'ended' };
    this.#rounds.end();
    if (phase.kind !== 'running') return;
    const { parts, reporter } = phase;
    reporter.end();
    parts.answers.close();
    parts.outcomes.giveUp();
    void parts.dispatch.stop();
    void parts.callbacks?.stop();
    for (const bind of parts.binds) void bind.stop(0);
    const { log, carrier } = this.#options;
    if (this.#connects) for (const gauge of this.#allGauges) gauge.set({ carrier: carrier._id }, 0);
    log.info('carrier_left', { carrier: carrier._id, reason });
  }

  get #allGauges(): readonly SmppMetrics['bindsUp'][] {
    const { bindsUp, unanswered, waiting, orphans, rate } = this.#options.metrics;
    return [bindsUp, unanswered, waiting, orphans, rate];
  }

  async #until(done: () => boolean, waitMs: number): Promise<void> {
    const deadlineMs = this.#options.clock.monotonicMs() + waitMs;
    while (!done() && this.#options.clock.monotonicMs() < deadlineMs) {
      await new Promise((resolve) => setTimeout(resolve, TICK_MS));
    }
  }
}

function measured({ measurements, rate, submitters, binds }: CarrierParts): CarrierMeasured {
  const unanswered = submitters.map((one) => one.unanswered);
  const certificateUntil = binds.map((bind) => bind.certificateUntil).find((until) => until !== undefined);
  return { ...measurements.report(rate.perSecond, unanswered), ...(certificateUntil && { certificateUntil }) };
}

function total(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

interface RoundsOptions {
  readonly name: string;
  readonly log: Log;
}

/** Runs work again and again. The next round of a work begins only after the last one has ended. */
class Rounds {
  readonly #options: RoundsOptions;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #busy = new Set<string>();

  constructor(options: RoundsOptions) {
    this.#options = options;
  }

  every(ms: number, what: string, work: () => Promise<void>): void {
    this.#timers.push(
      setInterval(() => {
        if (this.#busy.has(what)) return;
        this.#busy.add(what);
        void this.guarded(what, work).then(() => this.#busy.delete(what));
      }, ms),
    );
  }

  /** Never rejects. A failure is logged, and the next round tries again. */
  async guarded(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const { log, name } = this.#options;
      log.warn('round_failed', { loop: `${what}:${name}`, ...unexpectedErrorFields(error) });
    }
  }

  end(): void {
    for (const timer of this.#timers) clearInterval(timer);
  }
}
