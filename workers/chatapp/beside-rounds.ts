import type { Clock } from '../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';
import { type Log, unexpectedErrorFields } from '../../shared/platform/runtime/log.ts';

interface BesideRoundsOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly failed: string;
  /** Works off some due work. Returns whether there was any, so that there may be more. */
  turn(): Promise<boolean>;
}

/** How often to look for due work, by one read of an index that has nothing else. */
const LOOK_MS = 500;

/** Work with its own timing, beside the rounds of the worker. */
export class BesideRounds {
  readonly #options: BesideRoundsOptions;
  #running: Promise<void> | undefined;
  #lookedMs = Number.NEGATIVE_INFINITY;
  #closed = false;

  constructor(options: BesideRoundsOptions) {
    this.#options = options;
  }

  get busy(): boolean {
    return this.#running !== undefined;
  }

  /** Begins, unless a turn is running or was begun within `LOOK_MS`. Never rejects. */
  look(): void {
    const nowMs = this.#options.clock.monotonicMs();
    if (this.#closed || this.#running !== undefined || nowMs - this.#lookedMs < LOOK_MS) return;
    this.#lookedMs = nowMs;
    this.#running = this.#work().finally(() => {
      this.#running = undefined;
    });
  }

  /** Begins nothing new. Resolves when what was begun is done, or left to the next holder. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
  }

  async #work(): Promise<void> {
    try {
      let more = true;
      while (more && !this.#closed) more = await this.#options.turn();
    } catch (error) {
      this.#options.log.warn(this.#options.failed, unexpectedErrorFields(error));
    }
  }
}

interface OfAccount {
  readonly account: AccountId;
}

const PAGE = 100;
/** Of one account in one turn, so that nobody waits behind another account's thousands. */
const QUOTA = 20;
/** Reads in one turn. Each leaves out the accounts of the reads before. */
const LOOKS_MAX = 4;

/** `find`: up to `limit`, the longest due first, of other accounts than `passed`. */
export async function inTurns<Due extends OfAccount>(
  find: (passed: ReadonlySet<AccountId>, limit: number) => Promise<readonly Due[]>,
  isOurs: (account: AccountId) => boolean,
): Promise<readonly Due[]> {
  const counts = new Map<AccountId, number>();
  const passed = new Set<AccountId>();
  const due: Due[] = [];
  for (let looks = 0; looks < LOOKS_MAX; looks++) {
    const found = await find(passed, PAGE);
    for (const one of found) {
      const { account } = one;
      const count = counts.get(account) ?? 0;
      counts.set(account, count + 1);
      if (count < QUOTA && isOurs(account)) due.push(one);
      passed.add(account);
    }
    if (found.length < PAGE) break;
  }
  return due;
}

/** Accounts go side by side, the work of one in turn: its debits would only be in each other's way. */
export function ofAccounts<Due extends OfAccount>(due: readonly Due[]): readonly (readonly Due[])[] {
  const byAccount = new Map<AccountId, Due[]>();
  for (const one of due) byAccount.set(one.account, [...(byAccount.get(one.account) ?? []), one]);
  return [...byAccount.values()];
}
