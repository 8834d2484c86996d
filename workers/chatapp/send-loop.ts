import { endsByItself } from '../../shared/carriers/providers/graph-error.ts';
import type { ChatMessageDocument } from '../../shared/messages/document/chat-message.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import type { MessageId } from '../../shared/platform/runtime/ids.ts';
import { errorFields, unexpectedErrorFields } from '../../shared/platform/runtime/log.ts';
import type { ChatClaimer } from './claim.ts';
import type { Departure } from './depart.ts';
import { Pacing } from './pacing.ts';
import { type AccountFailure, AccountHealth, Breaker, type News, SEND_KINDS } from './send-health.ts';
import { MessageSender, type SendContext, STOPPED_MS } from './send-message.ts';

export interface SendLoopOptions extends SendContext {
  readonly claimer: ChatClaimer;
  /** Whether the partition will never be held again in this epoch. */
  lost(): boolean;
  random(): number;
  /** Whether messages of this account may leave at all (shared/messages/queue/claim-gates.ts). */
  mayLeave(): Promise<boolean>;
  /** Asked between claim and send (depart.ts). */
  depart(messages: readonly ChatMessageDocument[]): Promise<ReadonlyMap<MessageId, Departure>>;
  onClaim(count: number): void;
  /** Stores why the account's health pauses sends, for the operator. Undefined when it is good again. */
  noteHealth(trouble: string | undefined): Promise<void>;
}

const MAX_CLAIM = 100;
const ERROR_PAUSE_MS = 1_000;
/**
 * If the queue begins with many messages to busy customers, a read can go over all of them and find nothing. The loop
 * then rests nine times as long as the read took, so that these reads take at most a tenth of the time. The same while
 * the account's health pauses one kind of messages: each read goes over the paused ones.
 */
const READ_REST = 9;
const READ_REST_MAX_MS = { busy: 1_000, apart: 5_000 };
/** Pause before a message is asked about again when it is undecided whether it may leave. */
const DEPART_AGAIN_MS = 1_000;

/**
 * Sends the messages of one number: claims what can be sent now, sends it, and settles the outcome. Every number has
 * its own loop, so a slow, failing or throttling provider delays no other number. The store knows every message that
 * the loop holds: it is `submitting` until it is settled.
 */
export class SendLoop {
  readonly #options: SendLoopOptions;
  readonly #pacing: Pacing;
  readonly #breaker: Breaker;
  readonly #health: AccountHealth;
  readonly #sender: MessageSender;
  readonly #timer: WakeTimer;
  readonly #running = new Set<Promise<void>>();
  #departing: readonly ChatMessageDocument[] = [];
  #round: Promise<void> | undefined;
  #woken = false;
  #noted: boolean;
  #closed = false;

  constructor(options: SendLoopOptions) {
    this.#options = options;
    const { provider, clock, random } = options;
    this.#pacing = new Pacing({ provider, clock, random });
    this.#breaker = new Breaker(clock, random, provider.trial !== undefined);
    this.#health = new AccountHealth(clock, random);
    this.#noted = provider.troubles?.statuses !== undefined;
    this.#timer = new WakeTimer(clock, () => this.wake());
    this.#sender = new MessageSender({
      ...options,
      pacing: this.#pacing,
      breaker: this.#breaker,
      noteNews: (message, news, code) => this.noteNews(message, news, code),
      rest: (ms) => this.#timer.rest(ms),
    });
  }

  /** Messages that were claimed, or perhaps were, and are not settled yet. */
  get inHand(): number {
    return this.#running.size + this.#departing.length + this.#options.claimer.uncertain;
  }

  get inFlight(): number {
    return this.#pacing.inFlight;
  }

  /** Whether the provider fails, or accepts messages and fails them afterwards. */
  get broken(): boolean {
    return this.#breaker.state !== 'closed' || !this.#health.good;
  }

  /** `code`: our own, of a failure because of the account. Never rejects. */
  async noteNews(message: ChatMessageDocument, news: News, code?: string): Promise<void> {
    const { noteHealth, log, provider } = this.#options;
    const wasHeld = this.#health.isHeld(message);
    const paused = this.#health.noteNews(message, news);
    const isSolved = this.#noted && news === 'good' && this.#health.good;
    // A message has some three statuses. While all is well, none of them is a reason to read the queue.
    if (wasHeld || paused) this.wake();
    if (!paused && !isSolved) return;
    try {
      await noteHealth(paused ? `the provider fails messages because of the account: ${code}` : undefined);
      this.#noted = paused;
    } catch (error) {
      // The next news of this kind reports it again.
      log.warn('provider_news_not_stored', { account: provider.account, number: provider._id, ...errorFields(error) });
    }
  }

  /**
   * Stops and probes the channel for a cause that ends by itself (a payment), as after such an answer; not for a
   * message from before this run, or before one that went well: a status may come days late. Never rejects.
   */
  async noteStatus(message: ChatMessageDocument, news: News, failure?: AccountFailure): Promise<void> {
    const { stopChannel, log, provider } = this.#options;
    const stops = failure !== undefined && endsByItself(failure.code) && this.#health.isNewest(message);
    await this.noteNews(message, news, failure?.code);
    if (!stops) return;
    this.#timer.rest(STOPPED_MS);
    try {
      await stopChannel(failure.reason, failure.code);
    } catch (error) {
      // The next status of this kind reports it again.
      log.warn('provider_news_not_stored', { account: provider.account, number: provider._id, ...errorFields(error) });
    }
  }

  /** Call it when there may be something to send. Starts a round, unless the loop rests or is closed. */
  wake(): void {
    this.#woken = true;
    if (this.#timer.resting) this.#timer.wakeAfterRest();
    if (this.#round !== undefined || this.#closed || this.#timer.resting) return;
    this.#round = this.#rounds().finally(() => {
      this.#round = undefined;
    });
  }

  close(): void {
    this.#closed = true;
    this.#timer.close();
  }

  /** Resolves when all claimed messages are settled. Call it after `close`. */
  async drained(): Promise<void> {
    await this.#round;
    await this.#putBackUncertain();
    await Promise.all(this.#running);
  }

  /** Puts back a claim's messages if its answer from the store was lost: nobody else in this epoch looks for them. */
  async #putBackUncertain(): Promise<void> {
    const { claimer, held, lost, log, provider } = this.#options;
    while (claimer.uncertain > 0 && !lost()) {
      try {
        if (held()) for (const message of await claimer.recover()) this.#run(this.#sender.putBack(message));
      } catch (error) {
        log.warn('claim_not_put_back', { account: provider.account, number: provider._id, ...errorFields(error) });
      }
      if (claimer.uncertain > 0) await new Promise((resolve) => setTimeout(resolve, ERROR_PAUSE_MS));
    }
  }

  async #rounds(): Promise<void> {
    const { log, provider } = this.#options;
    try {
      while (this.#woken && !this.#closed && !this.#timer.resting) {
        this.#woken = false;
        if (await this.#once()) this.#woken = true;
      }
      if (this.#woken && this.#timer.resting) this.#timer.wakeAfterRest();
    } catch (error) {
      this.#timer.rest(ERROR_PAUSE_MS);
      log.warn('round_failed', {
        loop: 'sends',
        account: provider.account,
        number: provider._id,
        ...unexpectedErrorFields(error),
      });
    }
  }

  async #once(): Promise<boolean> {
    const { claimer, held, mayLeave } = this.#options;
    if (!held()) return false;
    await this.#leave(await claimer.recover());
    const mayBegin = Math.max(...SEND_KINDS.map((kind) => this.#health.room(kind)));
    const room = Math.min(this.#pacing.room, this.#breaker.room, mayBegin, MAX_CLAIM);
    if (room < 1) {
      // A send that ends also wakes the loop.
      const waitMs = this.#breaker.waitMs || (mayBegin < 1 && this.#health.waitMs) || this.#pacing.waitMs;
      if (waitMs !== undefined) this.#timer.wakeIn(waitMs);
      return false;
    }
    if (!(await mayLeave())) return false;
    const queued = await this.#read(room);
    if (queued.length === 0) return false;
    if (this.#closed || !held()) return false;
    const taken = await claimer.take(queued);
    this.#options.onClaim(taken.length);
    await this.#leave(taken);
    return true;
  }

  async #read(limit: number): Promise<ChatMessageDocument[]> {
    const { clock } = this.#options;
    const busy = this.#pacing.busy();
    const isApart = !this.#health.good;
    const startedMs = clock.monotonicMs();
    const queued = await this.#queued(limit, busy);
    if (isApart || (queued.length === 0 && busy.length > 0)) {
      const restMaxMs = READ_REST_MAX_MS[isApart ? 'apart' : 'busy'];
      const restMs = Math.min((clock.monotonicMs() - startedMs) * READ_REST, restMaxMs);
      this.#timer.rest(restMs);
      // Wakes when the first pause of a busy customer, or of a kind, is over. Other messages wake the loop earlier.
      if (queued.length === 0) this.#timer.wakeIn(Math.max(restMs, this.#waitMs));
    }
    return queued;
  }

  /** Time until a busy customer or a kind in a pause is ready. 0 when none waits for time. */
  get #waitMs(): number {
    const waits = [this.#pacing.waitMs, this.#health.waitMs].filter((ms) => ms !== undefined);
    return waits.length === 0 ? 0 : Math.min(...waits);
  }

  /** The next messages: of both kinds together, or, while one is not good, as many of each as its health allows. */
  async #queued(limit: number, busy: readonly string[]): Promise<ChatMessageDocument[]> {
    const { claimer } = this.#options;
    if (this.#health.good) return claimer.queued(limit, busy);
    const found: ChatMessageDocument[] = [];
    for (const kind of SEND_KINDS) {
      const room = Math.min(limit - found.length, this.#health.room(kind));
      if (room >= 1) found.push(...(await claimer.queued(room, [...busy, ...found.map(({ to }) => to)], kind)));
    }
    return found;
  }

  /** Sends, refuses or puts back each claimed message. Rejects when the store failed; then all were put back. */
  async #leave(claimed: readonly ChatMessageDocument[]): Promise<void> {
    if (claimed.length === 0) return;
    this.#departing = claimed;
    let departures: ReadonlyMap<MessageId, Departure> = new Map();
    try {
      departures = await this.#options.depart(claimed);
    } finally {
      for (const message of claimed) this.#begin(message, departures.get(message._id));
      this.#departing = [];
    }
  }

  #begin(message: ChatMessageDocument, departure: Departure | undefined): void {
    if (departure === undefined || this.#closed) {
      this.#pacing.hold(message.to, DEPART_AGAIN_MS);
      this.#run(this.#pacing.settling(message.to, this.#sender.putBack(message)));
    } else if (departure.kind === 'refuse') {
      this.#run(this.#pacing.settling(message.to, this.#sender.refuse(message, departure.code, departure.reason)));
    } else {
      const probe = this.#breaker.begin();
      this.#health.begin(message);
      this.#pacing.begin(message.to);
      this.#run(this.#sender.send(message, probe));
    }
  }

  #run(work: Promise<void>): void {
    const running: Promise<void> = work.finally(() => {
      this.#running.delete(running);
      this.wake();
    });
    this.#running.add(running);
  }
}

/** Wakes a loop after a time. During a rest no other call can wake the loop. */
class WakeTimer {
  readonly #clock: Clock;
  readonly #wake: () => void;
  #notBeforeMs = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(clock: Clock, wake: () => void) {
    this.#clock = clock;
    this.#wake = wake;
  }

  get resting(): boolean {
    return this.#clock.monotonicMs() < this.#notBeforeMs;
  }

  rest(ms: number): void {
    this.#notBeforeMs = Math.max(this.#notBeforeMs, this.#clock.monotonicMs() + ms);
    this.wakeAfterRest();
  }

  wakeAfterRest(): void {
    this.wakeIn(this.#notBeforeMs - this.#clock.monotonicMs());
  }

  /** Replaces the time that was set before. */
  wakeIn(ms: number): void {
    clearTimeout(this.#timer);
    // One millisecond more, because a timer can fire slightly early.
    if (!this.#closed) this.#timer = setTimeout(this.#wake, Math.ceil(ms) + 1);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }
}
