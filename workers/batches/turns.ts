import type { Db, FindCursor } from 'mongodb';
import { type BatchDocument, type BatchState, batchCollection } from '../../shared/messages/batch.ts';
import type { AccountId, BatchId } from '../../shared/platform/runtime/ids.ts';

/** How many batches are worked on at once, each of a different account. */
const SIDE_BY_SIDE = 4;
const PAGE = 200;

const BEGINNING: Place = { account: '' };

export interface Look {
  readonly page: readonly BatchDocument[];
  /** The oldest batch that can be taken of each account of the page, at most `SIDE_BY_SIDE`. */
  readonly turns: readonly BatchDocument[];
  /** Some that could be taken had no room. */
  readonly crowded: boolean;
  /** The page has all batches. */
  readonly whole: boolean;
  /** The next look continues behind this page. Otherwise it begins with the first account again. */
  readonly underway: boolean;
}

/**
 * Gives the accounts turns, however many batches each has. A look reads one page, and the next one goes on behind the
 * last account that had its turn. Where a page has no batch of an account to take (another worker has them, or they
 * have just failed), the next look goes on within the account.
 */
export class Turns {
  readonly #batches: (place: Place) => FindCursor<BatchDocument>;
  #place = BEGINNING;
  /** When there are more accounts than turns and the walk begins anew, accounts behind this one go first. */
  #last: AccountId | '' = '';

  constructor(batches: (place: Place) => FindCursor<BatchDocument>) {
    this.#batches = batches;
  }

  /**
   * `takes`: whether a batch can be taken. `prepare`, called when one can: whether there is room for it beside those
   * before it. Throws the driver's error; the next look begins at the same place.
   */
  async look(
    takes: (batch: BatchDocument) => boolean,
    prepare: () => Promise<(batch: BatchDocument) => boolean> = async () => () => true,
  ): Promise<Look> {
    const from = this.#place;
    // The whole page in one reply: by default the first reply has only 101 documents.
    const page = await this.#batches(from)
      .limit(PAGE)
      .batchSize(PAGE + 1)
      .toArray();
    const oldest = new Map<AccountId, BatchDocument>();
    for (const batch of page) if (!oldest.has(batch.account) && takes(batch)) oldest.set(batch.account, batch);
    const inOrder = [...oldest.values()];
    const fits = inOrder.length === 0 ? () => true : await prepare();
    const behind = inOrder.filter(({ account }) => account > this.#last);
    const turns = [...behind, ...inOrder.filter((batch) => !behind.includes(batch))]
      .filter(fits)
      .slice(0, SIDE_BY_SIDE);
    this.#last = turns.at(-1)?.account ?? this.#last;
    this.#place = nextPlace(from, page, turns);
    const crowded = turns.length < Math.min(inOrder.length, SIDE_BY_SIDE);
    return {
      page,
      turns,
      crowded,
      whole: from === BEGINNING && page.length < PAGE,
      underway: this.#place !== BEGINNING,
    };
  }
}

function nextPlace(from: Place, page: readonly BatchDocument[], turns: readonly BatchDocument[]): Place {
  const [lastTurn, last] = [turns.at(-1), page.at(-1)];
  if (lastTurn !== undefined && turns.length === SIDE_BY_SIDE) return { account: lastTurn.account };
  if (last !== undefined && page.length === PAGE) {
    return lastTurn?.account === last.account ? { account: last.account } : { account: last.account, batch: last._id };
  }
  return from.batch === undefined ? BEGINNING : { account: from.account };
}

/** A place in the order: after the account's batch `batch`, or after all its batches if that is absent. */
interface Place {
  readonly account: AccountId | '';
  readonly batch?: BatchId;
}

const WORK_STATES = ['paid', 'split', 'stopping', 'stopped'] as const satisfies readonly BatchState[];

/** The batches that need a worker: account by account, the oldest of each first. */
export function openBatches(db: Db, place: Place): FindCursor<BatchDocument> {
  return batchCollection(db)
    .find({ open: true, state: { $in: [...WORK_STATES] }, ...behind(place) })
    .sort({ open: 1, account: 1, _id: 1 }); // names the whole index, so no other one serves it
}

/** The batches being stopped, in the order of `openBatches`. */
export function stoppingBatches(db: Db, place: Place): FindCursor<BatchDocument> {
  return batchCollection(db)
    .find({ state: 'stopping', ...behind(place) })
    .sort({ state: 1, account: 1, _id: 1 });
}

function behind({ account, batch }: Place) {
  const after = account as AccountId; // '' sorts before every id
  return batch === undefined ? { account: { $gt: after } } : { account: after, _id: { $gt: batch } };
}
