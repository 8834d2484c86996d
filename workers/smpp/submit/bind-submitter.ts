import type { CarrierRate } from './carrier-rate.ts';

export interface BindSubmitterOptions<Segment> {
  /** The most submits without an answer. */
  readonly windowSize: number;
  /** The carrier's rate limit, for all its binds together. */
  readonly tokens: Pick<CarrierRate, 'take' | 'waitMs'>;
  /** Whether the lease is held at this moment. */
  mayWrite(): boolean;
  onSubmit(segment: Segment): void;
  /** Called when a slot has become free, so that more can be claimed. */
  onRoom(): void;
}

/** The parts of a session (session/session.ts) that a submitter uses. */
export interface SubmitSession<Segment> {
  readonly open: boolean;
  readonly congested: boolean;
  submit(segment: Segment): void;
}

/**
 * Submits over one bind. It holds the segments that wait to be written, in order, and counts the submits without an answer (the
 * send window). A segment is written only when the window has a free slot and the carrier's rate a token. The segments of a
 * message stay in order.
 */
export class BindSubmitter<Segment> {
  readonly #options: BindSubmitterOptions<Segment>;
  #session: SubmitSession<Segment> | undefined;
  #waiting: Segment[] = [];
  #unanswered = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: BindSubmitterOptions<Segment>) {
    this.#options = options;
  }

  /** The session of the bind while it is bound. Undefined while it is not. */
  setSession(session: SubmitSession<Segment> | undefined): void {
    this.#session = session;
  }

  /** Whether the bind takes submits now. */
  get bound(): boolean {
    return this.#takes !== undefined;
  }

  get unanswered(): number {
    return this.#unanswered;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Free slots of the window after all waiting segments have theirs. Negative if more segments wait than the window holds. */
  get free(): number {
    return this.#options.windowSize - this.#unanswered - this.#waiting.length;
  }

  /** Adds segments to the end of the queue. Writes what may be written now. */
  add(segments: readonly Segment[]): void {
    this.#waiting.push(...segments);
    this.pump();
  }

  /** Takes the segments out of the queue for which `unwanted` is true. Returns them. */
  withdraw(unwanted: (segment: Segment) => boolean): Segment[] {
    const taken = this.#waiting.filter(unwanted);
    if (taken.length === 0) return taken;
    this.#waiting = this.#waiting.filter((segment) => !unwanted(segment));
    if (this.free > 0) this.#options.onRoom();
    return taken;
  }

  /** Frees the slot of a submit that was answered, or whose answer is no longer awaited. */
  release(): void {
    this.#unanswered -= 1;
    this.pump();
    if (this.free > 0) this.#options.onRoom();
  }

  /** Writes what may be written now. */
  pump(): void {
    const { windowSize, tokens, mayWrite, onSubmit } = this.#options;
    while (this.#waiting.length > 0 && this.#unanswered < windowSize) {
      const session = this.#takes;
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

  /** The session that takes a submit now. */
  get #takes(): SubmitSession<Segment> | undefined {
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
