import type { AccountId } from '../../../../shared/runtime/ids.ts';

/** Files of one account at once: one that fetches all it has leaves most of the process to others. */
const PER_ACCOUNT_MAX = 16;
/** Files of the process at once. Each takes two connections and some 200 KB. */
const PROCESS_MAX = 64;

/** The files that are being fetched in this process. */
export class FileSlots {
  readonly #taken = new Map<AccountId, number>();
  #all = 0;

  get taken(): number {
    return this.#all;
  }

  /** Takes a slot. Returns a function that gives it back, to be called once, or who has no room. */
  take(account: AccountId): (() => void) | 'account' | 'process' {
    const own = this.#taken.get(account) ?? 0;
    if (own >= PER_ACCOUNT_MAX) return 'account';
    if (this.#all >= PROCESS_MAX) return 'process';
    this.#taken.set(account, own + 1);
    this.#all += 1;
    return () => this.#giveBack(account);
  }

  #giveBack(account: AccountId): void {
    const own = this.#taken.get(account) ?? 0;
    this.#all -= 1;
    if (own > 1) this.#taken.set(account, own - 1);
    else this.#taken.delete(account);
  }
}
