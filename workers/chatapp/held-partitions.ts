import type { Partitions } from '../../shared/platform/leases/partitions.ts';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';
import { type HeldPartition, type TakeOptions, takePartition } from './held-partition.ts';

export interface HeldPartitionsOptions extends Omit<TakeOptions, 'lease'> {
  readonly partitions: Partitions;
  readonly leases: readonly TakeOptions['lease'][];
}

/** The partitions that this process holds, or held until their lease ran out. Each is taken once in each epoch of its lease. */
export class HeldPartitions {
  readonly #options: HeldPartitionsOptions;
  readonly #held = new Map<number, HeldPartition>();

  constructor(options: HeldPartitionsOptions) {
    this.#options = options;
  }

  /** Takes new partitions and drops lost ones. Throws when the store fails; partitions taken before that stay taken. */
  async update(): Promise<void> {
    const { partitions, leases } = this.#options;
    for (const [number, partition] of this.#held) {
      if (!partition.lost()) continue;
      partition.outcomes.giveUp();
      this.#held.delete(number);
    }
    for (const number of partitions.owned()) {
      const lease = leases[number];
      if (lease === undefined || this.#held.has(number)) continue;
      const partition = await takePartition({ ...this.#options, lease });
      if (!partition.lost()) this.#held.set(number, partition);
    }
  }

  /** Undefined when another process serves the account, or is about to. */
  of(account: AccountId): HeldPartition | undefined {
    const { partitions } = this.#options;
    if (!partitions.owns(account)) return undefined;
    const partition = this.#held.get(partitions.of(account));
    return partition?.held() ? partition : undefined;
  }

  all(): readonly HeldPartition[] {
    return [...this.#held.values()].filter((partition) => partition.held());
  }

  /** Stops retrying to store, because the process ends. */
  giveUp(): void {
    for (const { outcomes } of this.#held.values()) outcomes.giveUp();
  }
}
