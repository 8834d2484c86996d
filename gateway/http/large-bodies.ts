import type { AccountId } from '../../shared/platform/runtime/ids.ts';
import type { Reply } from './context.ts';

/** A body above this is parsed in pieces, and counts here. Parsing 256 KB of brackets in one go held the event loop for up to 64 ms. */
export const LARGE_BYTES = 65_536;
/** How many large bodies of one account a process has in memory. */
const TOGETHER_MAX = 4;

/**
 * Bounds the memory of large bodies, and the work that one account has going on: a further one is not read until an earlier one is
 * answered. Its bytes wait in the caller's and the kernel's buffers.
 */
export class LargeBodies {
  readonly #accounts = new Map<AccountId, { open: number; readonly waiting: (() => void)[] }>();

  /** Resolves when the body may be read. The place is free again when the request is answered, or its connection is lost. */
  async enter(account: AccountId, res: Reply): Promise<void> {
    const mine = this.#accounts.get(account) ?? { open: 0, waiting: [] };
    this.#accounts.set(account, mine);
    if (mine.open === TOGETHER_MAX) await new Promise<void>((resolve) => mine.waiting.push(resolve));
    else mine.open += 1;
    if (res.closed) this.#leave(account);
    else res.once('close', () => this.#leave(account));
  }

  #leave(account: AccountId): void {
    const mine = this.#accounts.get(account);
    if (mine === undefined) return;
    const next = mine.waiting.shift();
    // Its place goes to the one that waits longest.
    if (next !== undefined) next();
    else mine.open -= 1;
    if (mine.open === 0) this.#accounts.delete(account);
  }
}
