import type { Clock } from '../../../shared/platform/runtime/clock.ts';

const BAR = 24;
/** The shortest time between two lines, where there is no terminal. */
const LINE_EVERY_MS = 10_000;
const DRAW_EVERY_MS = 100;

/** Where progress is drawn: standard error. */
export interface Canvas {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/**
 * Shows how far a long command is. On a terminal it is a bar that is drawn again in place. Elsewhere it is a line now and then,
 * and one at the end of each part.
 */
export class Progress {
  readonly #canvas: Canvas | undefined;
  readonly #clock: Clock;
  #what = '';
  #total = 0;
  #drawnMs = Number.NEGATIVE_INFINITY;

  /** Without a canvas nothing is drawn. */
  constructor(canvas: Canvas | undefined, clock: Clock) {
    this.#canvas = canvas;
    this.#clock = clock;
  }

  /** Begins a part: `copying messages`, with so many documents. */
  begin(what: string, total: number): void {
    this.#what = what;
    this.#total = total;
    this.#drawnMs = this.#canvas?.isTTY ? Number.NEGATIVE_INFINITY : this.#clock.monotonicMs();
  }

  at(done: number): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#drawnMs < (this.#canvas?.isTTY ? DRAW_EVERY_MS : LINE_EVERY_MS)) return;
    this.#drawnMs = nowMs;
    this.#draw(done);
  }

  end(done: number): void {
    this.#draw(done);
    if (this.#canvas?.isTTY) this.#canvas?.write('\n');
  }

  #draw(done: number): void {
    const total = Math.max(this.#total, done);
    const fraction = total === 0 ? 1 : done / total;
    const counts = `${done.toLocaleString('en')} of ${total.toLocaleString('en')}`;
    if (!this.#canvas?.isTTY) {
      this.#canvas?.write(`${this.#what}: ${counts}\n`);
      return;
    }
    const full = Math.round(BAR * fraction);
    const bar = '#'.repeat(full) + '-'.repeat(BAR - full);
    this.#canvas?.write(
      `\r\x1b[K[${bar}] ${String(Math.floor(fraction * 100)).padStart(3)} %  ${this.#what}: ${counts}`,
    );
  }
}
