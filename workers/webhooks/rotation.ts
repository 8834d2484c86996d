import type { AccountId } from '../../shared/runtime/ids.ts';

/** A queue that takes part in the rotation. */
export interface Rotating {
  readonly account: AccountId;
  readonly waiting: readonly unknown[];
  /** Whether it is in the rotation or held. `Rotation` sets it. */
  listed: boolean;
}

/**
 * Decides which queue is next: accounts in round robin, and the queues of each account in round robin. A queue whose
 * limit was reached when it came up is held until there is room. Held queues return in the order in which they came
 * up.
 */
export class Rotation<Queue extends Rotating> {
  /** An account moves to the end when one of its queues is taken out. */
  readonly #accounts = new Map<AccountId, Queue[]>();
  /** The held queues, by the name of the limit that each has reached. */
  readonly #held = new Map<string, Queue[]>();

  /** Puts a queue after the other queues of its account, unless it has a place or is empty. */
  list(queue: Queue): void {
    if (queue.listed || queue.waiting.length === 0) return;
    queue.listed = true;
    append(this.#accounts, queue.account, queue);
  }

  /** Takes out the next queue. */
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

  /** Holds a queue that came up while this limit was reached. */
  hold(queue: Queue, limit: string): void {
    queue.listed = true;
    append(this.#held, limit, queue);
  }

  /** Returns held queues to the rotation, the longest held first: `count` of them, or all. */
  release(limit: string, count = Number.POSITIVE_INFINITY): void {
    const queues = this.#held.get(limit) ?? [];
    for (let left = count; left > 0; ) {
      const queue = queues.shift();
      if (queue === undefined) break;
      queue.listed = false;
      this.list(queue);
      if (queue.listed) left--;
    }
    if (queues.length === 0) this.#held.delete(limit);
  }

  releaseAll(): void {
    for (const limit of [...this.#held.keys()]) this.release(limit);
  }
}

function append<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
