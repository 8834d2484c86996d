import { type Clock, systemClock } from '../../shared/runtime/clock.ts';

/** Milliseconds of one turn of the event loop. A request takes some 0.1 ms from its headers to its first wait. */
const SLICE_MS = 10;

/**
 * Who is served in a turn of the event loop: each connection once, and all together for `SLICE_MS`; the rest in the next turns,
 * first come, first served. A turn brings whatever thousands of connections sent meanwhile, and all of it at once (or all that
 * one packet holds) would keep everything else waiting, timers and the store's answers too.
 */
export class Turns {
  readonly #clock: Clock;
  readonly #served = new Set<object>();
  #began: number | undefined;
  #waiting: (() => void)[] = [];

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /** Whether `connection` may be served now; true counts it as served in this turn. */
  mayNow(connection: object): boolean {
    if (this.#waiting.length > 0 || this.#served.has(connection) || !this.#hasTime()) return false;
    this.#served.add(connection);
    return true;
  }

  /** Serves `connection` in one of the next turns. To be asked once a connection until then. */
  later(connection: object, serve: () => void): void {
    this.#begin();
    this.#waiting.push(() => {
      this.#served.add(connection);
      serve();
    });
  }

  /** Now if it may, else later. */
  soon(connection: object, serve: () => void): void {
    if (this.mayNow(connection)) serve();
    else this.later(connection, serve);
  }

  #begin(): number {
    if (this.#began === undefined) {
      this.#began = this.#clock.monotonicMs();
      setImmediate(() => this.#end());
    }
    return this.#began;
  }

  #hasTime(): boolean {
    return this.#clock.monotonicMs() - this.#begin() < SLICE_MS;
  }

  #end(): void {
    this.#began = undefined;
    this.#served.clear();
    // Those that come to wait meanwhile have been served in this turn, or came later.
    const waiting = this.#waiting;
    this.#waiting = [];
    let served = 0;
    while (served < waiting.length && this.#hasTime()) waiting[served++]?.();
    this.#waiting = [...waiting.slice(served), ...this.#waiting];
  }
}
