import type { Db } from 'mongodb';
import { keepItems } from '../../../shared/chat-inbox/store.ts';
import { recordInbound } from '../../../shared/conversations/store.ts';
import { isStoreTrouble } from '../../../shared/mongo/errors.ts';
import { type End, storeApart } from '../../../shared/runtime/apart.ts';
import { crashPoint } from '../../../shared/runtime/crash-point.ts';
import { Grouper } from '../../../shared/runtime/grouper.ts';
import type { AccountPart } from './account-part.ts';

/** The most parts of posts that share commands. */
const GROUP_MAX = 100;
/**
 * A part with more items is stored alone, because others would have to wait: the store needs a second for thousands of
 * items.
 */
const LARGE_PART = 250;

/** Stores what providers post, by accounts. The parts of many posts share the same commands. */
export class CallbackStore {
  readonly #db: Db;
  readonly #grouper: Grouper<AccountPart, End>;

  constructor(db: Db) {
    this.#db = db;
    this.#grouper = new Grouper({
      maxItems: GROUP_MAX,
      gatherMs: 0,
      run: (parts) =>
        storeApart(
          parts,
          (some) => this.#write(some),
          (error) => !isStoreTrouble(error),
        ),
    });
  }

  /** Resolves when the part is stored. Rejects with the store's error. */
  async keep(part: AccountPart): Promise<void> {
    if (part.items.length > LARGE_PART) return this.#write([part]);
    const { error } = await this.#grouper.add(part);
    if (error !== undefined) throw error;
  }

  async #write(parts: readonly AccountPart[]): Promise<void> {
    // The sessions are opened first: as soon as an item is stored, a worker may tell the customer's system, which may
    // answer at once.
    await recordInbound(
      this.#db,
      parts.flatMap(({ inbound }) => inbound),
    );
    crashPoint('callback:heard');
    await keepItems(
      this.#db,
      parts.flatMap(({ items }) => items),
    );
  }
}
