import type { Clock } from '../../../shared/runtime/clock.ts';
import type { IncomingReceipt } from './receipt-match.ts';

/** How long a new orphan is tried again every few seconds; afterwards only an answer with its id finds it. */
const FRESH_MS = 5 * 60_000;
export const MAX_FRESH = 5_000;

interface FreshOrphan {
  readonly receipt: IncomingReceipt;
  readonly atMs: number;
  nextMs: number;
}

/** Receipts of the last minutes that fit no message yet, and when each of them is tried again. */
export class FreshOrphans {
  readonly #clock: Clock;
  /** By id, in the order of coming. */
  readonly #orphans = new Map<string, FreshOrphan>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#orphans.size;
  }

  /** What came before this is not fresh. */
  since(): Date {
    return new Date(this.#clock.now().getTime() - FRESH_MS);
  }

  add(id: string | undefined, receipt: IncomingReceipt): void {
    if (id === undefined || this.#orphans.size >= MAX_FRESH) return;
    const atMs = this.#clock.monotonicMs();
    this.#orphans.set(id, { receipt, atMs, nextMs: atMs });
  }

  remove(id: string): void {
    this.#orphans.delete(id);
  }

  /** Those that are to be tried now. */
  due(): IncomingReceipt[] {
    const nowMs = this.#clock.monotonicMs();
    for (const [id, { atMs }] of this.#orphans) {
      if (nowMs - atMs < FRESH_MS) break;
      this.#orphans.delete(id);
    }
    const due = [...this.#orphans.values()].filter(({ nextMs }) => nextMs <= nowMs);
    // After 3, 6, 12 … seconds: thousands that fit nothing must not keep the worker busy.
    for (const orphan of due) orphan.nextMs = nowMs + (nowMs - orphan.atMs);
    return due.map(({ receipt }) => receipt);
  }
}
