import type { AccountId } from '../../shared/runtime/ids.ts';

/** A queue that takes part in the rotation. */
export interface Rotating {
  readonly account: AccountId;
  readonly waiting: readonly unknown[];
  /** Whether it has a place in the rotation or is held; kept by `Rotation`. */
  listed: boolean;
}

/**
 * Which queue is next: accounts one after the other (round robin), and of an account its queues one after the other. A queue
 * that came up while something was full for it is held until there is room again, before those that came up later.
 */
export class Rotation<Queue extends Rotating> {
  /** An account goes to the end when one of its queues was taken out. */
  readonly #accounts = new Map<AccountId, Queue[]>();
  /** By the name of what was full. */
  readonly #held = new Map<string, Queue[]>();

  /** Puts a queue behind its account's others, unless it has a place or is empty. */
  list(queue: Queue): void {
    if (queue.listed || queue.waiting.length === 0) return;
    queue.listed = true;
    append(this.#accounts, queue.account, queue);
  }

  /** Takes out the queue that is next. */
  next(): Queue | undefined {
    for (const [account, queues] of this.#accounts) {
      this.#accounts.delete(account);
      const queue = queues.shift();
      if (queues.length > 0) this.#accounts.set(account, queues);
      if (queue === undefined) continue;
      queue.listed = false;
      return queue;
    }
    return undefined;
  }

  /** The queue came up, and `full` was full for it. */
  hold(queue: Queue, full: string): void {
    queue.listed = true;
    append(this.#held, full, queue);
  }

  /** Puts those that were held first back into the rotation, `count` of them or all. */
  release(full: string, count = Number.POSITIVE_INFINITY): void {
    const queues = this.#held.get(full) ?? [];
    for (let left = count; left > 0; ) {
      const queue = queues.shift();
      if (queue === undefined) break;
      queue.listed = false;
      this.list(queue);
      if (queue.listed) left--;
    }
    if (queues.length === 0) this.#held.delete(full);
  }

  releaseAll(): void {
    for (const full of [...this.#held.keys()]) this.release(full);
  }
}

function append<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
