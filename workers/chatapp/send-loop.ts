import type { ChatMessageDocument } from '../../shared/messages/chat-message.ts';
import type { MessageId } from '../../shared/runtime/ids.ts';
import { errorFields } from '../../shared/runtime/log.ts';
import { Breaker } from './breaker.ts';
import type { ChatClaimer } from './claim.ts';
import type { Departure } from './depart.ts';
import { Pacing } from './pacing.ts';
import { MessageSender, type SendContext } from './send-message.ts';
import { WakeTimer } from './wake-timer.ts';

export interface SendLoopOptions extends SendContext {
  readonly claimer: ChatClaimer;
  /** From 0 to 1. */
  random(): number;
  /** Whether the account's messages may leave at all (shared/claim/claim-gates.ts). */
  mayLeave(): Promise<boolean>;
  /** Asked between claim and send (depart.ts): a message whose session has closed is refused and never sent. */
  depart(messages: readonly ChatMessageDocument[]): Promise<ReadonlyMap<MessageId, Departure>>;
  onClaim(count: number): void;
}

const MAX_CLAIM = 100;
/** After a round that failed. */
const ERROR_PAUSE_MS = 1_000;
/**
 * A queue in which busy customers' messages stand before the others' is read through again and again without result. After each
 * such read the loop rests nine times as long as it took, so that these reads take a tenth of the time at most.
 */
const READ_REST = 9;
const READ_REST_MAX_MS = 1_000;
/** A message of which it cannot be known whether it may leave is asked about again. */
const DEPART_AGAIN_MS = 1_000;

/**
 * How one account's messages leave: claim what can be sent now, send it, settle what became of it. Every account has a loop of its
 * own, so a slow, failing or throttling provider delays no other account. The store knows of every message in hand here: it
 * is `submitting` there until it is settled.
 */
export class SendLoop {
  readonly #options: SendLoopOptions;
  readonly #pacing: Pacing;
  readonly #breaker: Breaker;
  readonly #sender: MessageSender;
  readonly #timer: WakeTimer;
  readonly #running = new Set<Promise<void>>();
  /** Claimed, and looked at before they are sent. */
  #departing: readonly ChatMessageDocument[] = [];
  #round: Promise<void> | undefined;
  #woken = false;
  /** No more claims. */
  #closed = false;

  constructor(options: SendLoopOptions) {
    this.#options = options;
    const { provider, clock, random } = options;
    this.#pacing = new Pacing({ provider, clock, random });
    this.#breaker = new Breaker(clock, random);
    this.#timer = new WakeTimer(clock, () => this.wake());
    this.#sender = new MessageSender({
      ...options,
      pacing: this.#pacing,
      breaker: this.#breaker,
      rest: (ms) => this.#timer.rest(ms),
    });
  }

  /** Messages that were claimed and are not settled. */
  get inHand(): number {
    return this.#running.size + this.#departing.length;
  }

  get inFlight(): number {
    return this.#pacing.inFlight;
  }

  /** The provider fails. */
  get broken(): boolean {
    return this.#breaker.state !== 'closed';
  }

  /** There may be something to send. Returns at once; a round is under way when it may be. */
  wake(): void {
    this.#woken = true;
    if (this.#round !== undefined || this.#closed || this.#timer.resting) return;
    this.#round = this.#rounds().finally(() => {
      this.#round = undefined;
    });
  }

  /** Claims no more. */
  close(): void {
    this.#closed = true;
    this.#timer.close();
  }

  /** Resolves when nothing is in hand any more; to be called after `close`. */
  async drained(): Promise<void> {
    await this.#round;
    await Promise.all(this.#running);
  }

  async #rounds(): Promise<void> {
    const { log, provider } = this.#options;
    try {
      while (this.#woken && !this.#closed && !this.#timer.resting) {
        this.#woken = false;
        if (await this.#once()) this.#woken = true;
      }
    } catch (error) {
      this.#timer.rest(ERROR_PAUSE_MS);
      log.warn('round_failed', { loop: `line:${provider._id}`, ...errorFields(error) });
    }
  }

  /** Whether there may be more at once. */
  async #once(): Promise<boolean> {
    const { claimer, held, mayLeave } = this.#options;
    if (!held()) return false;
    await this.#leave(await claimer.recover());
    const room = Math.min(this.#pacing.room, this.#breaker.room, MAX_CLAIM);
    if (room < 1) {
      // Whatever is in flight wakes the loop too when it ends.
      const waitMs = this.#breaker.waitMs || this.#pacing.waitMs;
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
    return taken.length > 0;
  }

  async #read(limit: number): Promise<ChatMessageDocument[]> {
    const { clock, claimer } = this.#options;
    const busy = this.#pacing.busy();
    const startedMs = clock.monotonicMs();
    const queued = await claimer.queued(limit, busy);
    if (queued.length === 0 && busy.length > 0) {
      const restMs = Math.min((clock.monotonicMs() - startedMs) * READ_REST, READ_REST_MAX_MS);
      this.#timer.rest(restMs);
      // By then the first busy customer's pause is over. Others' messages wake the loop before.
      this.#timer.wakeIn(Math.max(restMs, this.#pacing.waitMs ?? 0));
    }
    return queued;
  }

  /** What is claimed is sent, or refused, or goes back to its place. Rejects when the store failed; then all went back. */
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
