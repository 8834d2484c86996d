import { type Shares, shareOf } from '../../shared/leases/shares.ts';
import type { AccountId } from '../../shared/runtime/ids.ts';
import { beginDuty, type ShareDuty, type ShareDutyOptions } from './share-duty.ts';

export interface DutiesOptions extends Omit<ShareDutyOptions, 'lease'> {
  readonly shares: Shares;
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
    const { shares, leases } = this.#options;
    for (const [share, duty] of this.#duties) {
      if (duty.held()) continue;
      duty.outcomes.giveUp();
      this.#duties.delete(share);
    }
    for (const share of shares.owned()) {
      const lease = leases[share];
      if (lease === undefined || this.#duties.has(share)) continue;
      const duty = await beginDuty({ ...this.#options, lease });
      if (duty.held()) this.#duties.set(share, duty);
    }
  }

  /** Undefined: another process serves the account, or is about to. */
  of(account: AccountId): ShareDuty | undefined {
    const { shares, leases } = this.#options;
    if (!shares.owns(account)) return undefined;
    const duty = this.#duties.get(shareOf(account, leases.length));
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
