import type { Clock } from '../../../shared/runtime/clock.ts';
import type { IncomingReceipt } from './receipt-match.ts';

/** For this long a new orphan is tried again every few seconds. After that, only an answer with its id can find it. */
const FRESH_MS = 5 * 60_000;
export const MAX_FRESH = 5_000;

interface FreshOrphan {
  readonly receipt: IncomingReceipt;
  readonly atMs: number;
  nextMs: number;
}

/** Recent receipts that fit no message yet, and the time at which each is tried again. */
export class FreshOrphans {
  readonly #clock: Clock;
  /** By their ids, in the order in which they came. */
  readonly #orphans = new Map<string, FreshOrphan>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#orphans.size;
  }

  /** Orphans that came before this time are not fresh. */
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

  /** The orphans that must be tried now. */
  due(): IncomingReceipt[] {
    const nowMs = this.#clock.monotonicMs();
    for (const [id, { atMs }] of this.#orphans) {
      if (nowMs - atMs < FRESH_MS) break;
      this.#orphans.delete(id);
    }
    const due = [...this.#orphans.values()].filter(({ nextMs }) => nextMs <= nowMs);
    // Tries after 3, 6, 12 … seconds. So thousands of orphans that never fit do not keep the worker busy.
    for (const orphan of due) orphan.nextMs = nowMs + (nowMs - orphan.atMs);
    return due.map(({ receipt }) => receipt);
  }
}
