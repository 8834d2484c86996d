import type { Db, Filter } from 'mongodb';
import type { ClaimGates } from '../../../shared/claim/claim-gates.ts';
import type { MessageDocument } from '../../../shared/messages/message.ts';
import { findAtOnce } from '../../../shared/mongo/find-at-once.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { AccountId } from '../../../shared/runtime/ids.ts';
import { AccountShares } from './account-shares.ts';
import { type AccountRange, accountTurns, LANES, quantumOf } from './claim-plan.ts';
import { type QueueRead, ReadEnds } from './read-ends.ts';

export interface ClaimQueuesOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly paths: readonly string[];
  readonly gates: ClaimGates;
}

/** One path and lane, whose accounts are served in turn. */
export interface Queue {
  readonly path: string;
  readonly lane: number;
  /** The account served last. */
  cursor: string;
  /** What each account got. */
  readonly shares: AccountShares;
  /** Found empty: not read again before. */
  emptyUntilMs: number;
  /** Found to be long: until then it is read account by account. */
  longUntilMs: number;
  /** Held accounts of which messages were found here: reads go around them. */
  readonly held: Set<AccountId>;
  /** Accounts that have messages of a paused template here: gone around too, and their other messages are read apart. */
  readonly partly: Map<AccountId, Place>;
  readonly ends: ReadEnds;
}

/** Where the reading of an account's other messages has come to. */
interface Place {
  readonly behind: string;
  readonly notBeforeMs: number;
}

/** What reads gave that join up, and where the last of them ended. */
interface Reading extends Pick<QueueRead, 'end' | 'more'> {
  readonly messages: readonly MessageDocument[];
  readonly reads: number;
  /** Reads that did not join up. */
  readonly inVain: number;
}

const FROM_THE_BEGINNING: Place = { behind: '', notBeforeMs: Number.NEGATIVE_INFINITY };
/** How often an account's messages are looked through for those whose template is not paused. */
const PARTLY_MS = 250;
/** Most backlogs have no more messages than this: one read gives them all, where a read for each account costs more. */
const SHORT = 100;
const LONG_MS = 500;
/** Reads of one queue in one claim. */
const MAX_READS = 16;
/** One after the other they would take sixteen times as long: 60 to 200 ms on a busy machine, in which the window stands empty. */
const READS_AT_ONCE = 8;
/** While others have more than can be taken, an empty queue is looked at this often. */
const EMPTY_MS = 100;

/**
 * The queues of a claimer, and how they are read: the accounts in turn, around what gates hold. What was read may have been
 * claimed by others: the claim (claim.ts) finds out.
 */
export class ClaimQueues {
  readonly #options: ClaimQueuesOptions;
  /** Lane by lane, the most urgent first. */
  readonly all: readonly Queue[];

  constructor(options: ClaimQueuesOptions) {
    this.#options = options;
    this.all = LANES.flatMap((lane) =>
      options.paths.map((path) => ({
        path,
        lane,
        cursor: '',
        shares: new AccountShares(),
        emptyUntilMs: Number.NEGATIVE_INFINITY,
        longUntilMs: Number.NEGATIVE_INFINITY,
        held: new Set(),
        partly: new Map(),
        ends: new ReadEnds(),
      })),
    );
  }

  /** Whether anything is held that reads go around. */
  get around(): boolean {
    return this.all.some(({ held, partly }) => held.size + partly.size > 0);
  }

  /** What a gate has let go, as it was last refreshed, is read again. */
  letGo(): void {
    const { gates } = this.#options;
    for (const { held, partly } of this.all) {
      for (const account of held) if (!gates.held.has(account)) held.delete(account);
      for (const account of partly.keys()) if (!gates.pausedTemplates.has(account)) partly.delete(account);
    }
  }

  /** Takes out what is held, and remembers whose it is. */
  unheld(read: readonly MessageDocument[]): MessageDocument[] {
    const { gates } = this.#options;
    return read.filter((message) => {
      if (!gates.holds(message)) return true;
      const queue = this.of(message);
      if (gates.held.has(message.account)) queue?.held.add(message.account);
      else if (queue?.partly.has(message.account) === false) queue.partly.set(message.account, FROM_THE_BEGINNING);
      return false;
    });
  }

  /** The queue that a message waits in. */
  of(message: MessageDocument): Queue | undefined {
    return this.all.find(({ path, lane }) => path === message.path && lane === message.lane);
  }

  /**
   * All of a short queue; else `wanted` or a few more, if there are so many: behind the account served last, then from the
   * beginning; a few of each account, and more of the same ones only when no other has any.
   */
  async inTurn(queue: Queue, wanted: number): Promise<MessageDocument[]> {
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs < queue.emptyUntilMs) return [];
    const found: MessageDocument[] = [];
    for (const [account, place] of queue.partly) {
      const limit = Math.min(quantumOf(wanted), wanted - found.length);
      if (limit > 0) found.push(...(await this.#readPartly(queue, account, place, limit)));
    }
    const around = new Set([...queue.held, ...queue.partly.keys()]);
    if (around.size === 0 && nowMs >= queue.longUntilMs) {
      const whole = await this.#readWhole(queue);
      if (whole !== undefined) return whole;
    }
    const turns = accountTurns(queue.cursor, around);
    let readsLeft = MAX_READS + around.size;
    let atOnce = READS_AT_ONCE;
    for (const turn of turns) {
      let from = turn.$gt;
      for (let more = true; more; ) {
        if (found.length >= wanted || readsLeft <= 0) return found;
        const left = wanted - found.length;
        const limit = Math.min(quantumOf(wanted), left);
        const count = Math.min(Math.ceil(left / limit), atOnce, readsLeft);
        const read = await this.#readOn(queue, { ...turn, $gt: from }, limit, count);
        found.push(...this.unheld(read.messages));
        readsLeft -= read.reads;
        // The queue has changed: one after the other, for the rest of it, is sure to read nothing in vain.
        if (read.inVain > 0) atOnce = 1;
        from = read.end ?? from;
        more = read.more;
      }
    }
    if (found.length >= wanted) return found; // Reads at once may give more than was wanted.
    return found.length === 0 ? this.#markEmpty(queue) : this.#readDeeper(queue, wanted, found);
  }

  /** From the beginning of the range on, in up to `count` reads at once; as far as they join up. */
  async #readOn({ path, lane, ends }: Queue, range: AccountRange, limit: number, count: number): Promise<Reading> {
    const starts = ends.startsIn(range, count);
    const batches = await Promise.all(
      starts.map(($gt) => this.read({ path, lane, account: { ...range, $gt } } as Filter<MessageDocument>, limit)), // '' is before every id
    );
    const read = batches.map((batch) => readOf(batch, limit));
    const reads = ends.join(starts, read);
    const { end, more } = read[reads - 1] ?? { end: undefined, more: false }; // one read at least, so never
    return { messages: batches.slice(0, reads).flat(), reads, inVain: starts.length - reads, end, more };
  }

  /** A short queue in one read, whoever its messages are of; undefined when it is long, and then that is not asked for a while. */
  async #readWhole(queue: Queue): Promise<MessageDocument[] | undefined> {
    const { path, lane, cursor } = queue;
    const whole = await this.read({ path, lane }, SHORT + 1);
    if (whole.length > SHORT) {
      queue.longUntilMs = this.#options.clock.monotonicMs() + LONG_MS;
      return undefined;
    }
    const found = this.unheld(whole);
    if (found.length === 0) return this.#markEmpty(queue);
    const behind = found.filter(({ account }) => account > cursor);
    return [...behind, ...found.filter(({ account }) => account <= cursor)];
  }

  /**
   * What an account has beside the messages of paused templates. Those are passed one by one, so the reading goes on where it
   * stopped, and begins anew not at once: a large backlog of them is passed a few times a second.
   */
  async #readPartly(
    { path, lane, partly }: Queue,
    account: AccountId,
    { behind, notBeforeMs }: Place,
    limit: number,
  ): Promise<MessageDocument[]> {
    const { gates, clock } = this.#options;
    if (gates.held.has(account) || clock.monotonicMs() < notBeforeMs) return [];
    const paused = gates.pausedTemplates.get(account) ?? [];
    const filter = { path, lane, account, _id: { $gt: behind }, template: { $nin: [...paused] } };
    const batch = await this.read(filter as Filter<MessageDocument>, limit); // '' is before every id
    const last = batch.length < limit ? undefined : batch.at(-1);
    const again = { ...FROM_THE_BEGINNING, notBeforeMs: clock.monotonicMs() + PARTLY_MS };
    partly.set(account, last === undefined ? again : { behind: last._id, notBeforeMs: 0 });
    return batch;
  }

  #markEmpty(queue: Queue): [] {
    queue.emptyUntilMs = this.#options.clock.monotonicMs() + EMPTY_MS;
    return [];
  }

  /** Every account of the queue had its turn, and more is wanted: of each the same again. */
  async #readDeeper(
    { path, lane, partly }: Queue,
    wanted: number,
    found: readonly MessageDocument[],
  ): Promise<MessageDocument[]> {
    const whole = found.filter(({ account }) => !partly.has(account));
    const last = new Map(whole.map((message) => [message.account, message._id]));
    const share = Math.ceil((wanted - found.length) / last.size);
    const rest = await Promise.all(
      [...last].map(([account, id]) => this.read({ path, lane, account, _id: { $gt: id } }, share)),
    );
    return [...found, ...this.unheld(rest.flat())].slice(0, wanted);
  }

  /** The first that match, in the order of lanes, accounts and ids. What has expired is left to the maintenance. */
  read(filter: Filter<MessageDocument>, limit: number): Promise<MessageDocument[]> {
    const { db, clock } = this.#options;
    return findAtOnce<MessageDocument>(db, 'messages', {
      filter: { ...filter, state: 'queued', validUntil: { $gt: clock.now() } },
      sort: { lane: 1, account: 1, _id: 1 },
      limit,
    });
  }
}

function readOf(batch: readonly MessageDocument[], limit: number): QueueRead {
  const end = batch.at(-1)?.account;
  return { end, alone: batch[0]?.account === end, more: batch.length === limit };
}
