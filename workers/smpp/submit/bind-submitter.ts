import type { Clock } from '../../../shared/platform/runtime/clock.ts';
import type { SubmitSession } from '../session/wire.ts';
import { type CarrierRate, RecentCount } from './carrier-rate.ts';

export interface BindSubmitterOptions<Segment> {
  readonly windowSize: number;
  readonly clock: Clock;
  /** The carrier's rate limit, for all its binds together. */
  readonly tokens: Pick<CarrierRate, 'take' | 'waitMs'>;
  mayWrite(): boolean;
  onSubmit(segment: Segment): void;
  onRoom(): void;
}

/**
 * Beyond its window a bind holds the segments that will be answered in this time at the last second's rate. Otherwise
 * freed slots would be empty until the next claim, some 10 ms, as long as many carriers take for an answer.
 */
const SOON_MS = 50;

/**
 * Submits over one bind. It holds the segments that wait to be written, in order, and counts the submits without an
 * answer (the window). A segment is written only when the window has a free slot and the carrier's rate a token. The
 * segments of a message stay in order.
 */
export class BindSubmitter<Segment> {
  readonly #options: BindSubmitterOptions<Segment>;
  #session: SubmitSession<Segment> | undefined;
  #waiting: Segment[] = [];
  #unanswered = 0;
  readonly #freed = new RecentCount();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: BindSubmitterOptions<Segment>) {
    this.#options = options;
  }

  setSession(session: SubmitSession<Segment> | undefined): void {
    this.#session = session;
  }

  /** Whether the bind takes submits now: it is bound, and the carrier reads what we write. */
  get takesSubmits(): boolean {
    return this.#usableSession !== undefined;
  }

  get unanswered(): number {
    return this.#unanswered;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Free slots of the window after all waiting segments have theirs. Negative if more wait than the window holds. */
  get free(): number {
    return this.#options.windowSize - this.#unanswered - this.#waiting.length;
  }

  /**
   * How many segments to claim for this bind: those for which the window has room now, or soon (at most one window
   * more). 0 while more than half of the latter wait, so that claims are not made for single slots.
   */
  get room(): number {
    const ahead = this.#ahead;
    const room = this.free + ahead;
    return room >= ahead / 2 ? Math.max(room, 0) : 0;
  }

  /** False when the window is full and as many segments wait. */
  get holdsMore(): boolean {
    return this.free + this.#options.windowSize > 0;
  }

  add(segments: readonly Segment[]): void {
    this.#waiting.push(...segments);
    this.pump();
  }

  withdraw(unwanted: (segment: Segment) => boolean): Segment[] {
    const taken = this.#waiting.filter(unwanted);
    if (taken.length === 0) return taken;
    this.#waiting = this.#waiting.filter((segment) => !unwanted(segment));
    if (this.room > 0) this.#options.onRoom();
    return taken;
  }

  /** Frees the slot of a submit that was answered, or whose answer is no longer awaited. */
  release(): void {
    this.#unanswered -= 1;
    this.#freed.add(this.#options.clock.monotonicMs());
    this.pump();
    if (this.room > 0) this.#options.onRoom();
  }

  pump(): void {
    const { windowSize, tokens, mayWrite, onSubmit } = this.#options;
    while (this.#waiting.length > 0 && this.#unanswered < windowSize) {
      const session = this.#usableSession;
      if (session === undefined || !mayWrite()) return;
      if (!tokens.take()) {
        this.#pumpLater();
        return;
      }
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#unanswered += 1;
      onSubmit(next);
      session.submit(next);
    }
  }

  /** Empties queue and window after the connection was lost. Returns the segments that were never written. */
  clear(): Segment[] {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const unwritten = this.#waiting;
    this.#waiting = [];
    this.#unanswered = 0;
    return unwritten;
  }

  get #ahead(): number {
    const { windowSize, clock } = this.#options;
    return Math.min(Math.floor((this.#freed.at(clock.monotonicMs()) * SOON_MS) / 1_000), windowSize);
  }

  get #usableSession(): SubmitSession<Segment> | undefined {
    const session = this.#session;
    return session?.open === true && !session.congested ? session : undefined;
  }

  #pumpLater(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.pump();
    }, this.#options.tokens.waitMs());
  }
}
