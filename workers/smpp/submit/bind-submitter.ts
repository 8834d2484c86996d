import type { CarrierRate } from './carrier-rate.ts';

export interface BindSubmitterOptions<Segment> {
  /** The bind that it submits over. */
  readonly bind: SubmitBind<Segment>;
  /** Most unanswered submits. */
  readonly windowSize: number;
  /** The rate of the carrier, all its binds together. */
  readonly tokens: Pick<CarrierRate, 'take' | 'waitMs'>;
  /** Whether the lease is held at this moment. */
  mayWrite(): boolean;
  onSubmit(segment: Segment): void;
  /** Room has come back: more may be claimed. */
  onRoom(): void;
}

/** What of a bind (session/bind.ts) a submitter needs. */
export interface SubmitBind<Segment> {
  /** The session that takes a submit now; undefined while there is none. */
  readonly session: { submit(segment: Segment): void } | undefined;
  /** Ends the connection and binds again: the carrier says that this session is not usable. */
  recycle(): void;
}

/**
 * Submits over one bind, through its send window: what waits to be written, in order, and how many submits have no answer yet. A
 * segment is written when the window has a slot and the carrier's rate a token, never before; segments of a message stay in order.
 */
export class BindSubmitter<Segment> {
  readonly #options: BindSubmitterOptions<Segment>;
  #waiting: Segment[] = [];
  #unanswered = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: BindSubmitterOptions<Segment>) {
    this.#options = options;
  }

  /** Whether its bind takes submits. */
  get bound(): boolean {
    return this.#options.bind.session !== undefined;
  }

  get unanswered(): number {
    return this.#unanswered;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Slots that nothing waits for. Negative while more waits than the window holds. */
  get free(): number {
    return this.#options.windowSize - this.#unanswered - this.#waiting.length;
  }

  /** Puts segments at the end of the queue and writes what may go now. */
  add(segments: readonly Segment[]): void {
    this.#waiting.push(...segments);
    this.pump();
  }

  /** Takes waiting segments out again; returns those that were there. */
  withdraw(unwanted: (segment: Segment) => boolean): Segment[] {
    const taken = this.#waiting.filter(unwanted);
    if (taken.length > 0) this.#waiting = this.#waiting.filter((segment) => !unwanted(segment));
    return taken;
  }

  /** An answer came, or none will: its slot is free. */
  release(): void {
    this.#unanswered -= 1;
    this.pump();
    if (this.free > 0) this.#options.onRoom();
  }

  /** Writes what may go now. */
  pump(): void {
    const { bind, windowSize, tokens, mayWrite, onSubmit } = this.#options;
    while (this.#waiting.length > 0 && this.#unanswered < windowSize) {
      const { session } = bind;
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

  /** The connection is gone: nothing waits any more, nothing will be answered. Returns what was never written. */
  clear(): Segment[] {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const unwritten = this.#waiting;
    this.#waiting = [];
    this.#unanswered = 0;
    return unwritten;
  }

  /** Ends the connection and binds again: the carrier says that this session is not usable. */
  recycle(): void {
    this.#options.bind.recycle();
  }

  #pumpLater(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.pump();
    }, this.#options.tokens.waitMs());
  }
}
