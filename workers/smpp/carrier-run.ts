import type { Db } from 'mongodb';
import type { CarrierDocument } from '../../shared/carriers/carrier.ts';
import { LEASE_TTL_MS, Lease } from '../../shared/leases/lease.ts';
import { Claimer } from '../../shared/messages/claim.ts';
import type { ClaimGates } from '../../shared/messages/claim-gates.ts';
import type { Departures } from '../../shared/messages/departures.ts';
import type { MessageLog } from '../../shared/messages/log-store.ts';
import { oldestOwed, redoIntents, Settler, type Stream } from '../../shared/messages/settle.ts';
import { OutcomeSettler } from '../../shared/messages/settle-outcomes.ts';
import { ReceiptSettler } from '../../shared/messages/settle-receipts.ts';
import { decideUnknowns, takeOverUnknowns } from '../../shared/messages/unknowns.ts';
import type { ListenForChanges } from '../../shared/mongo/change-signal.ts';
import { Throttle } from '../../shared/rate/throttle.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { errorFields, type Log } from '../../shared/runtime/log.ts';
import type { ProcessIdentity } from '../../shared/runtime/process-identity.ts';
import type { Announcer } from '../../shared/webhooks/announce.ts';
import { AccountChains } from './account-chains.ts';
import { Bind, type BindState } from './bind.ts';
import { Dispatch } from './dispatch.ts';
import { References } from './encode.ts';
import type { Figures } from './figures.ts';
import type { Line } from './line.ts';
import { Receive } from './receive.ts';
import type { Segment } from './submission.ts';
import { Window } from './window.ts';

export interface CarrierRunOptions {
  readonly db: Db;
  readonly listen?: ListenForChanges | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly figures: Figures;
  readonly announcer: Announcer;
  readonly gates: ClaimGates;
  readonly departures: Departures;
  readonly messageLog: MessageLog;
  readonly carrier: CarrierDocument;
  /** Opened. */
  readonly password: string;
  readonly leaseTtlMs?: number;
  readonly identity?: ProcessIdentity;
}

const SWEEP_MS = 3_000;
/** How often unknown submits are looked at; as often as they are to wait, where that is shorter. */
const UNKNOWNS_MS = 10_000;
const SHORTEST_UNKNOWNS_MS = 500;
/** Longest wait for answers at a stop, whatever the carrier's response timeout is: PM2 waits no longer than 20 s. */
const STOP_ANSWERS_MS = 8_000;
/** After that, how long the store may take for the last outcomes. */
const STOP_STORE_MS = 4_000;
/** How long a receipt waits for answers that are just being stored. */
const ANSWERS_STORED_MS = 250;
/** No receipts are read for so long after one could not be stored. */
const SLOW_DOWN_MS = 1_000;
const TICK_MS = 20;

/**
 * One carrier under its lease: binds, dispatch, receipts, and what must be done again and again. `start` tells whether the lease could be
 * taken; when it is lost later, everything stops at once and `ended` is true: whoever holds it now goes on.
 */
export class CarrierRun {
  readonly #options: CarrierRunOptions;
  readonly #lease: Lease;
  readonly #timers: NodeJS.Timeout[] = [];
  #parts: Parts | undefined;
  #busy = new Set<string>();
  ended = false;

  constructor(options: CarrierRunOptions) {
    const { db, clock, carrier, leaseTtlMs, identity } = options;
    this.#options = options;
    this.#lease = new Lease({
      name: `carrier:${carrier._id}`,
      db,
      clock,
      ...(leaseTtlMs === undefined ? {} : { ttlMs: leaseTtlMs }),
      ...(identity === undefined ? {} : { identity }),
    });
  }

  /** False when another process holds the lease. Throws when the store fails. */
  async start(): Promise<boolean> {
    const { db, clock, carrier, log, figures, announcer, leaseTtlMs = LEASE_TTL_MS } = this.#options;
    if (!(await this.#lease.keep())) return false;
    this.#every(leaseTtlMs / 3, 'lease', () => this.#keep());
    const { name, epoch } = this.#lease;
    await redoIntents(db, announcer, name, epoch, oldestOwed(clock.now()));
    const unknown = await takeOverUnknowns(db, carrier._id, epoch);
    if (unknown > 0) figures.takenOver.inc({ carrier: carrier._id }, unknown);
    log.info('carrier_taken', { carrier: carrier._id, epoch, unknown });
    this.#parts = this.#assemble(epoch);
    await this.#parts.receipts.recover();
    this.#every(SWEEP_MS, 'sweep', () => this.#sweep());
    const unknownsMs = Math.max(Math.min(UNKNOWNS_MS, carrier.unknownWaitMs), SHORTEST_UNKNOWNS_MS);
    this.#every(unknownsMs, 'unknowns', () => this.#decideUnknowns());
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
      const begun = (): boolean => parts.dispatch.resuming || parts.lines.some(({ window }) => window.waiting > 0);
      await this.#until(() => !begun(), left());
      await Promise.all(parts.lines.map(({ bind }) => bind.stop(left())));
      parts.dispatch.close();
      await this.#until(() => parts.outcomes.open === 0 && parts.receipts.idle && messageLog.idle, STOP_STORE_MS);
      parts.outcomes.giveUp();
    }
    this.#end('stopped');
    await this.#lease.release();
  }

  #assemble(epoch: number): Parts {
    const { db, listen, clock, log, figures, announcer, carrier, messageLog, gates, departures } = this.#options;
    const settler = (stream: Stream): Settler => new Settler({ db, announcer, lease: this.#lease.name, epoch, stream });
    const receipts: ReceiptSettler = new ReceiptSettler({
      db,
      clock,
      carrier: carrier._id,
      settler: settler('receipts'),
      messageLog,
      answersStored: () => outcomes.settled(ANSWERS_STORED_MS),
      onGroup: (size) => figures.settleSize.observe({ stream: 'receipts' }, size),
    });
    const outcomes: OutcomeSettler = new OutcomeSettler({
      clock,
      log,
      settler: settler('outcomes'),
      messageLog,
      onKeys: (messages) => {
        for (const message of messages) receipts.expect(message);
        const keys = messages.flatMap(({ parts = [] }) => parts.flatMap(({ key }) => key ?? []));
        void this.#guarded('adopt', () => receipts.adopt(keys));
      },
      onGroup: (size) => figures.settleSize.observe({ stream: 'outcomes' }, size),
    });
    const throttle = new Throttle({ clock, perSecond: carrier.perSecond });
    const claimer = new Claimer({ db, clock, carrier: carrier._id, epoch, paths: carrier.paths, gates });
    const references = new References(clock.now().getTime() & 0xff);
    const held = (): boolean => this.#lease.held;
    const lines: Line[] = [];
    const dispatch = new Dispatch({
      carrier,
      clock,
      log,
      figures,
      claimer,
      departures,
      chains: new AccountChains({ db, clock, carrier }),
      outcomes,
      throttle,
      references,
      lines: () => lines,
      listen,
      held,
    });
    const receive = new Receive({
      carrier,
      log,
      figures,
      receipts,
      slowDown: () => {
        for (const { bind } of lines) bind.pauseReading(SLOW_DOWN_MS);
      },
    });
    for (let index = 0; index < carrier.binds; index++) {
      lines.push(this.#line(index, { dispatch, receive, throttle }));
    }
    return { lines, dispatch, outcomes, receipts, unknowns: settler('unknowns') };
  }

  #line(
    index: number,
    { dispatch, receive, throttle }: { dispatch: Dispatch; receive: Receive; throttle: Throttle },
  ): Line {
    const { clock, log, figures, carrier, password } = this.#options;
    const bind: Bind<Segment> = new Bind<Segment>({
      carrier,
      password,
      index,
      clock,
      log,
      mayWrite: () => this.#lease.held,
      onState: (state) => this.#onState(state, dispatch),
      onAnswer: (segment, answer) => dispatch.onAnswer(line, segment, answer),
      onTimeout: (segment) => dispatch.onTimeout(line, segment),
      onLost: (lost) => dispatch.onLost(line, lost),
      onDeliver: (deliver, answer) => void receive.take(deliver, answer),
      unanswered: () => line.window.unanswered,
    });
    const window = new Window<Segment>({
      size: carrier.windowSize,
      throttle,
      ready: () => bind.ready && this.#lease.held,
      write: (segment) => {
        figures.submits.inc({ carrier: carrier._id });
        bind.submit(segment.frame, segment);
      },
      onRoom: () => dispatch.room(),
    });
    const line: Line = { bind, window };
    return line;
  }

  #onState(state: BindState, dispatch: Dispatch): void {
    const { figures, carrier } = this.#options;
    if (state === 'bound') {
      figures.binds.inc({ carrier: carrier._id });
      dispatch.room();
    }
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
    if (await this.#lease.keep()) return;
    this.#options.log.warn('lease_lost', { carrier: this.#options.carrier._id });
    this.#end('lease_lost');
  }

  async #sweep(): Promise<void> {
    // Also when its renewal hangs: what cannot write any more must not claim or read either.
    if (!this.#lease.held) {
      this.#end('lease_run_out');
      return;
    }
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
    for (const timer of this.#timers) clearInterval(timer);
    const parts = this.#parts;
    if (parts === undefined) return;
    parts.dispatch.close();
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

  /** One at a time: a slow round is not overtaken by the next. */
  #every(ms: number, what: string, work: () => Promise<void>): void {
    this.#timers.push(
      setInterval(() => {
        if (this.#busy.has(what)) return;
        this.#busy.add(what);
        void this.#guarded(what, work).then(() => this.#busy.delete(what));
      }, ms),
    );
  }

  async #guarded(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#options.log.warn('round_failed', { loop: `${what}:${this.#options.carrier._id}`, ...errorFields(error) });
      if (!this.#lease.held && this.#lease.epoch > 0 && !this.ended) this.#end('lease_run_out');
    }
  }

  async #until(done: () => boolean, waitMs: number): Promise<void> {
    const deadlineMs = this.#options.clock.monotonicMs() + waitMs;
    while (!done() && this.#options.clock.monotonicMs() < deadlineMs) {
      await new Promise((resolve) => setTimeout(resolve, TICK_MS));
    }
  }
}

interface Parts {
  readonly lines: readonly Line[];
  readonly dispatch: Dispatch;
  readonly outcomes: OutcomeSettler;
  readonly receipts: ReceiptSettler;
  readonly unknowns: Settler;
}
