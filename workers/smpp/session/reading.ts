import type { Clock } from '../../../shared/runtime/clock.ts';
import type { SmppSocket } from './socket.ts';

/** deliver_sm that the caller has not answered yet; above it nothing is read until half of them are. */
const MAX_UNANSWERED_DELIVERS = 2_000;
/** After a pause in reading, answers that waited in the kernel are heard before anything times out. */
const AFTER_PAUSE_MS = 2_000;

/** When a session reads: not while the caller wants a pause, nor while too many deliver_sm wait for their answers. */
export class Reading {
  readonly #socket: SmppSocket;
  readonly #clock: Clock;
  #unansweredDelivers = 0;
  #timer: NodeJS.Timeout | undefined;
  #deafUntilMs = 0;

  constructor(socket: SmppSocket, clock: Clock) {
    this.#socket = socket;
    this.#clock = clock;
  }

  /** Whether an answer may have come that has not been read yet. */
  get deaf(): boolean {
    return this.#socket.paused || this.#clock.monotonicMs() < this.#deafUntilMs;
  }

  pause(ms: number): void {
    clearTimeout(this.#timer);
    this.#socket.setPaused(true);
    this.#timer = setTimeout(() => this.#resume(), ms);
  }

  onDeliver(): void {
    this.#unansweredDelivers += 1;
    if (this.#unansweredDelivers >= MAX_UNANSWERED_DELIVERS) this.#socket.setPaused(true);
  }

  onDeliverAnswered(): void {
    this.#unansweredDelivers -= 1;
    const relieved = this.#unansweredDelivers <= MAX_UNANSWERED_DELIVERS / 2;
    if (this.#socket.paused && relieved && this.#timer === undefined) this.#resume();
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #resume(): void {
    this.#timer = undefined;
    this.#deafUntilMs = this.#clock.monotonicMs() + AFTER_PAUSE_MS;
    if (this.#unansweredDelivers < MAX_UNANSWERED_DELIVERS) this.#socket.setPaused(false);
  }
}
