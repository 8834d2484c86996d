import type { AccountId } from '../../../shared/runtime/ids.ts';
import type { AccountRange } from './claim-plan.ts';

/** What one read gave, in the order of accounts. */
export interface QueueRead {
  /** The account of its last message. */
  readonly end: AccountId | undefined;
  /** All of it is of that account: it has a backlog, and the next pass will end here too. */
  readonly alone: boolean;
  /** It gave as many as were asked for: there may be more behind it. */
  readonly more: boolean;
}

/** More are not remembered: a pass over a queue ends at some twenty of them. */
const MAX_ENDS = 256;

/**
 * Where reads of a queue have ended of late. A long queue is read account by account, and where one read ends the next one
 * begins, so that each would wait for the one before; the next pass probably ends at the same accounts, so several reads
 * may begin at once. What was read counts as far as the reads join up, so a new account between two known ones is not passed over.
 */
export class ReadEnds {
  readonly #ends = new Set<AccountId>();

  /** Behind which accounts up to `count` reads of the range are to begin, the range's own beginning first. */
  startsIn({ $gt, $lt, $lte }: AccountRange, count: number): readonly string[] {
    const inside = [...this.#ends].filter(
      (id) => id > $gt && ($lt === undefined || id < $lt) && ($lte === undefined || id < $lte),
    );
    return [$gt, ...inside.sort().slice(0, count - 1)];
  }

  /**
   * How many of these reads, from the first on, join up; at least one. Learns where they ended, and forgets where the others
   * began: each read in vain costs an end, and each end was learned by a read that counted.
   */
  join(starts: readonly string[], reads: readonly QueueRead[]): number {
    let joined = 0;
    for (const { end, alone, more } of reads) {
      joined += 1;
      if (!more || end === undefined) break;
      if (alone) this.#remember(end);
      if (end !== starts[joined]) break;
    }
    for (const unjoined of starts.slice(joined)) this.#ends.delete(unjoined as AccountId); // all but the first start are ends
    return joined;
  }

  #remember(end: AccountId): void {
    if (this.#ends.has(end)) return;
    const [oldest] = this.#ends;
    if (this.#ends.size >= MAX_ENDS && oldest !== undefined) this.#ends.delete(oldest);
    this.#ends.add(end);
  }
}
