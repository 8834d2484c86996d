import type { AccountId } from '../../shared/platform/runtime/ids.ts';

/** The files of one kind that are being sent in this process: so many of one account at once, and of all. */
export class FileSlots {
  readonly #most: { readonly account: number; readonly process: number };
  readonly #taken = new Map<AccountId, number>();
  #all = 0;

  constructor(most: { readonly account: number; readonly process: number }) {
    this.#most = most;
  }

  get taken(): number {
    return this.#all;
  }

  /** Takes a slot. Returns a function that gives it back, to be called once, or who has no room. */
  take(account: AccountId): (() => void) | 'account' | 'process' {
    const own = this.#taken.get(account) ?? 0;
    if (own >= this.#most.account) return 'account';
    if (this.#all >= this.#most.process) return 'process';
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
