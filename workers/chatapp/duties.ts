import type { Partitions } from '../../shared/leases/partitions.ts';
import type { AccountId } from '../../shared/runtime/ids.ts';
import { beginDuty, type ShareDuty, type ShareDutyOptions } from './share-duty.ts';

export interface DutiesOptions extends Omit<ShareDutyOptions, 'lease'> {
  readonly partitions: Partitions;
  readonly leases: readonly ShareDutyOptions['lease'][];
}

/** The shares of the accounts that this process holds, each with its duty, begun anew in each epoch of its lease. */
export class Duties {
  readonly #options: DutiesOptions;
  readonly #duties = new Map<number, ShareDuty>();

  constructor(options: DutiesOptions) {
    this.#options = options;
  }

  /** Begins what was taken and lets go of what was lost. Throws when the store fails; what was begun is begun. */
  async take(): Promise<void> {
    const { partitions, leases } = this.#options;
    for (const [partition, duty] of this.#duties) {
      if (duty.held()) continue;
      duty.outcomes.giveUp();
      this.#duties.delete(partition);
    }
    for (const partition of partitions.owned()) {
      const lease = leases[partition];
      if (lease === undefined || this.#duties.has(partition)) continue;
      const duty = await beginDuty({ ...this.#options, lease });
      if (duty.held()) this.#duties.set(partition, duty);
    }
  }

  /** Undefined: another process serves the account, or is about to. */
  of(account: AccountId): ShareDuty | undefined {
    const { partitions } = this.#options;
    if (!partitions.owns(account)) return undefined;
    const duty = this.#duties.get(partitions.of(account));
    return duty?.held() ? duty : undefined;
  }

  held(): readonly ShareDuty[] {
    return [...this.#duties.values()].filter((duty) => duty.held());
  }

  /** What could not be stored so far will not be: the process ends. */
  giveUp(): void {
    for (const { outcomes } of this.#duties.values()) outcomes.giveUp();
  }
}
