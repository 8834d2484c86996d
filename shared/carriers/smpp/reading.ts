import type { Clock } from '../../platform/runtime/clock.ts';
import type { SmppSocket } from './socket.ts';

/** The most deliver_sm that wait for our answer. At this limit reading stops, until half of them are answered. */
const MAX_UNANSWERED_DELIVERS = 2_000;
/** After a pause in reading, no request times out for this long. Its answer may have waited in the kernel. */
const AFTER_PAUSE_MS = 2_000;

/**
 * Decides when a session reads. It stops during a pause that the caller asked for, and while too many deliver_sm wait for our
 * answer.
 */
export class Reading {
  readonly #socket: SmppSocket;
  readonly #clock: Clock;
  #unansweredDelivers = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Until then a request must not time out (`deaf`). */
  #deafUntilMs = 0;
  #allAnswered: (() => void) | undefined;

  constructor(socket: SmppSocket, clock: Clock) {
    this.#socket = socket;
    this.#clock = clock;
  }

  /** Whether an answer may have arrived that was not read yet. Nothing may time out then. */
  get deaf(): boolean {
    return this.#socket.paused || this.#clock.monotonicMs() < this.#deafUntilMs;
  }

  pause(ms: number): void {
    clearTimeout(this.#timer);
    this.#socket.setPaused(true);
    this.#timer = setTimeout(() => this.#resume(), ms);
  }

  /** Reads nothing more until every deliver_sm that was read is answered, for `ms` at most. Resolves then. */
  async untilAnswered(ms: number): Promise<void> {
    if (this.#unansweredDelivers === 0) return;
    this.pause(ms);
    await new Promise<void>((resolve) => {
      this.#allAnswered = resolve;
    });
  }

  onDeliver(): void {
    this.#unansweredDelivers += 1;
    if (this.#unansweredDelivers >= MAX_UNANSWERED_DELIVERS) this.#socket.setPaused(true);
  }

  onDeliverAnswered(): void {
    this.#unansweredDelivers -= 1;
    const relieved = this.#unansweredDelivers <= MAX_UNANSWERED_DELIVERS / 2;
    if (this.#socket.paused && relieved && this.#timer === undefined) this.#resume();
    else if (this.#allAnswered !== undefined && this.#unansweredDelivers === 0) this.#resume();
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#allAnswered?.();
  }

  #resume(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#allAnswered?.();
    this.#allAnswered = undefined;
    this.#deafUntilMs = this.#clock.monotonicMs() + AFTER_PAUSE_MS;
    if (this.#unansweredDelivers < MAX_UNANSWERED_DELIVERS) this.#socket.setPaused(false);
  }
}
