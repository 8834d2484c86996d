import type { AccountId } from '../../platform/runtime/ids.ts';
import type { DebitRequest } from './debit.ts';

/**
 * Most groups of an account that are paid for and not finished, and most messages that are not stored. They lie in the account's
 * document, 150 bytes each group and some 500 each message, and every debit writes it anew: the larger it is, the slower are the
 * debits. A group is there for some 200 ms, a message for 20.
 */
const GROUPS_MAX = 64;
const MESSAGES_MAX = 128;
/** Most messages of a process that are paid for and not stored. Until they are, it keeps them in memory. */
const UNSTORED_MAX = 20_000;

interface Open {
  readonly groups: number;
  readonly messages: number;
}

const NONE: Open = { groups: 0, messages: 0 };

/**
 * The groups of a process that are paid for and whose follow-up is not finished. They are answered already, so nothing but this
 * bounds how many there are: whoever debits an account asks here first whether there is room.
 */
export class OpenGroups {
  readonly #byAccount = new Map<AccountId, Open>();
  #unstored = 0;
  readonly #waiting = new Set<() => void>();

  /** Counts a group that was paid for. */
  paid({ account, messages }: DebitRequest): void {
    const open = this.#openOf(account);
    this.#byAccount.set(account, { groups: open.groups + 1, messages: open.messages + messages.length });
    this.#unstored += messages.length;
  }

  stored({ account, messages }: DebitRequest): void {
    const open = this.#openOf(account);
    this.#byAccount.set(account, { ...open, messages: open.messages - messages.length });
    this.#unstored -= messages.length;
    this.#tell();
  }

  /** Its follow-up is done, or left to the maintenance. */
  finished(account: AccountId): void {
    const open = this.#openOf(account);
    if (open.groups === 1) this.#byAccount.delete(account);
    else this.#byAccount.set(account, { ...open, groups: open.groups - 1 });
    this.#tell();
  }

  /** Whether the account may be debited again. */
  hasRoom(account: AccountId): boolean {
    const { groups, messages } = this.#openOf(account);
    return groups <= GROUPS_MAX && messages <= MESSAGES_MAX && this.#unstored <= UNSTORED_MAX;
  }

  /** Resolves when there is room for another debit of the account, or after `waitMs`. */
  room(account: AccountId, waitMs: number): Promise<void> {
    return this.#until(() => this.hasRoom(account), waitMs);
  }

  /** Resolves when the follow-up of all groups is finished, or after `waitMs`. */
  none(waitMs: number): Promise<void> {
    return this.#until(() => this.#byAccount.size === 0, waitMs);
  }

  #openOf(account: AccountId): Open {
    return this.#byAccount.get(account) ?? NONE;
  }

  async #until(isSo: () => boolean, waitMs: number): Promise<void> {
    if (isSo()) return;
    await new Promise<void>((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(look);
        resolve();
      };
      const look = (): void => {
        if (isSo()) end();
      };
      const timer = setTimeout(end, waitMs);
      this.#waiting.add(look);
    });
  }

  #tell(): void {
    for (const look of this.#waiting) look();
  }
}
