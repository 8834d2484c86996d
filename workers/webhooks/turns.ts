import type { AccountId } from '../../shared/runtime/ids.ts';

/** Who may have a turn. */
export interface Waiting {
  readonly account: AccountId;
  readonly queue: readonly unknown[];
  /** Whether it has a place here; kept by `Turns`. */
  listed: boolean;
}

/**
 * Whose turn is next: accounts one after the other, and of an account its lanes one after the other. Who had its turn in vain
 * is held until there is room in what was full, and comes before those who had theirs later.
 */
export class Turns<Lane extends Waiting> {
  /** In the order of their turns: who had one goes to the end. */
  readonly #accounts = new Map<AccountId, Lane[]>();
  /** By the name of what was full. */
  readonly #held = new Map<string, Lane[]>();

  /** At the end of its account's lanes, unless it has a place or nothing to do. */
  list(lane: Lane): void {
    if (lane.listed || lane.queue.length === 0) return;
    lane.listed = true;
    append(this.#accounts, lane.account, lane);
  }

  /** Takes out the lane whose turn it is. */
  next(): Lane | undefined {
    for (const [account, lanes] of this.#accounts) {
      this.#accounts.delete(account);
      const lane = lanes.shift();
      if (lanes.length > 0) this.#accounts.set(account, lanes);
      if (lane === undefined) continue;
      lane.listed = false;
      return lane;
    }
    return undefined;
  }

  /** Its turn was in vain. */
  hold(lane: Lane, full: string): void {
    lane.listed = true;
    append(this.#held, full, lane);
  }

  /** Gives their turns back to those that were held first, `count` of them or all. */
  release(full: string, count = Number.POSITIVE_INFINITY): void {
    const lanes = this.#held.get(full) ?? [];
    for (let left = count; left > 0; ) {
      const lane = lanes.shift();
      if (lane === undefined) break;
      lane.listed = false;
      this.list(lane);
      if (lane.listed) left--;
    }
    if (lanes.length === 0) this.#held.delete(full);
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
