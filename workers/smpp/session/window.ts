import type { Throttle } from '../../../shared/runtime/throttle.ts';

/**
 * The send window of one bind: what waits to be written, in order, and how many submits have no answer yet. A segment is written
 * when the window has a slot and the carrier's rate a token, never before; segments of a message stay in their order.
 */
export interface WindowOptions<Segment> {
  /** Most unanswered submits. */
  readonly size: number;
  readonly throttle: Throttle;
  /** Whether the link takes writes just now. */
  ready(): boolean;
  write(segment: Segment): void;
  /** Room has come back: more may be claimed. */
  onRoom(): void;
}

export class Window<Segment> {
  readonly #options: WindowOptions<Segment>;
  #waiting: Segment[] = [];
  #unanswered = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: WindowOptions<Segment>) {
    this.#options = options;
  }

  get unanswered(): number {
    return this.#unanswered;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Slots that nothing waits for. Negative while more waits than the window holds. */
  get free(): number {
    return this.#options.size - this.#unanswered - this.#waiting.length;
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

  pump(): void {
    while (this.#waiting.length > 0 && this.#unanswered < this.#options.size && this.#options.ready()) {
      if (!this.#options.throttle.take()) {
        this.#pumpLater();
        return;
      }
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#unanswered += 1;
      this.#options.write(next);
    }
  }

  /** The link is gone: nothing waits any more, nothing will be answered. Returns what was never written. */
  clear(): Segment[] {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const unwritten = this.#waiting;
    this.#waiting = [];
    this.#unanswered = 0;
    return unwritten;
  }

  #pumpLater(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.pump();
    }, this.#options.throttle.waitMs());
  }
}
