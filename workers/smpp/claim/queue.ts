import type { Db, Filter } from 'mongodb';
import type { ClaimGates } from '../../../shared/claim/claim-gates.ts';
import { readQueued } from '../../../shared/claim/take-queued.ts';
import type { MessageDocument } from '../../../shared/messages/message.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { AccountId } from '../../../shared/runtime/ids.ts';
import { Quotas, quotaOf } from './quota.ts';
import { accountRotation } from './rotation.ts';

export interface QueueOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly gates: ClaimGates;
}

/** Where the reading of an account's other messages has stopped. */
interface Place {
  readonly behind: string;
  readonly notBeforeMs: number;
}

const FROM_THE_BEGINNING: Place = { behind: '', notBeforeMs: Number.NEGATIVE_INFINITY };
/** How often the messages of an account with a paused template are read in search of others. */
const PARTLY_MS = 250;
/** A backlog shorter than this is read whole by one read. That is cheaper than one read for each account. */
const SHORT = 100;
/** For how long a longer backlog is read account by account, before its length is looked at again. */
const LONG_MS = 500;
/** The most reads of one queue in one claim. */
const MAX_READS = 16;
/** In a backlog, an empty queue is read again only after this time. */
const EMPTY_MS = 100;

/**
 * The queued messages of one path and lane, and how they are read: account by account in rotation, without those that the gates
 * hold. Another carrier may have claimed some since they were read. The claim itself notices that (shared/claim/take-queued.ts).
 */
export class Queue {
  readonly path: string;
  readonly lane: number;
  readonly quotas = new Quotas('account');
  readonly #options: QueueOptions;
  /** The account that was served last. */
  #servedLast = '';
  /** How many messages the last reading found. */
  found = 0;
  /** The queue was found empty and is not read again before this time. */
  #emptyUntilMs = Number.NEGATIVE_INFINITY;
  /** The queue was found to be long. Until this time it is read account by account. */
  #longUntilMs = Number.NEGATIVE_INFINITY;
  /** Accounts on hold that have messages here. Reads leave them out. */
  readonly #held = new Set<AccountId>();
  /**
   * Accounts that have messages of a paused template here. Reads leave them out, and their other messages are read separately.
   */
  readonly #partly = new Map<AccountId, Place>();

  constructor(options: QueueOptions, path: string, lane: number) {
    this.#options = options;
    this.path = path;
    this.lane = lane;
  }

  /** Whether reads leave out any account. */
  get goesAround(): boolean {
    return this.#held.size + this.#partly.size > 0;
  }

  /** From now on reads include accounts again that the gates have released since the last call. */
  readReleased(): void {
    const { gates } = this.#options;
    for (const account of this.#held) if (!gates.held.has(account)) this.#held.delete(account);
    for (const account of this.#partly.keys()) if (!gates.pausedTemplates.has(account)) this.#partly.delete(account);
  }

  /** Whether the gates let a message of this queue leave now. If not, reads leave out its account from now on. */
  admits(message: MessageDocument): boolean {
    const { gates } = this.#options;
    if (!gates.holds(message)) return true;
    const { account } = message;
    if (gates.held.has(account)) this.#held.add(account);
    else if (!this.#partly.has(account)) this.#partly.set(account, FROM_THE_BEGINNING);
    return false;
  }

  /** Notes that a message of this queue was claimed. */
  claimed(message: MessageDocument): void {
    this.#servedLast = message.account;
    this.quotas.claimed(message);
  }

  /**
   * Returns all messages of a short queue, even if they are more than `wanted`. Of a long queue returns at most `wanted`: a quota
   * of each account in rotation, and more of the same accounts only if no other account has any.
   */
  async next(wanted: number): Promise<MessageDocument[]> {
    const found = await this.#next(wanted);
    this.found = found.length;
    return found;
  }

  async #next(wanted: number): Promise<MessageDocument[]> {
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs < this.#emptyUntilMs) return [];
    const found = await this.#readPartly(wanted);
    const around = new Set([...this.#held, ...this.#partly.keys()]);
    if (around.size === 0 && nowMs >= this.#longUntilMs) {
      const whole = await this.#readWhole();
      if (whole !== undefined) return whole;
    }
    let readsLeft = MAX_READS + around.size;
    for (const range of accountRotation(this.#servedLast, around)) {
      let behind = range.$gt;
      for (let more = true; more; readsLeft -= 1) {
        if (found.length >= wanted || readsLeft <= 0) return found;
        const limit = Math.min(quotaOf(wanted), wanted - found.length);
        const batch = await this.#read({ account: { ...range, $gt: behind } } as Filter<MessageDocument>, limit); // '' sorts before every id.
        found.push(...batch.filter((message) => this.admits(message)));
        behind = batch.at(-1)?.account ?? behind;
        more = batch.length === limit;
      }
    }
    return found.length === 0 ? this.#markEmpty() : this.#readDeeper(wanted, found);
  }

  /** Reads a short queue by one read. Undefined when the queue is long; it is then read account by account for a while. */
  async #readWhole(): Promise<MessageDocument[] | undefined> {
    const whole = await this.#read({}, SHORT + 1);
    if (whole.length > SHORT) {
      this.#longUntilMs = this.#options.clock.monotonicMs() + LONG_MS;
      return undefined;
    }
    const found = whole.filter((message) => this.admits(message));
    if (found.length === 0) return this.#markEmpty();
    const behind = found.filter(({ account }) => account > this.#servedLast);
    return [...behind, ...found.filter(({ account }) => account <= this.#servedLast)];
  }

  /**
   * Reads the messages of accounts with a paused template, without those of the paused template. The store must pass those one by
   * one. So the reading continues where it stopped, and begins again only after a pause. A large backlog is then passed a few
   * times a second at most.
   */
  async #readPartly(wanted: number): Promise<MessageDocument[]> {
    const { gates, clock } = this.#options;
    const found: MessageDocument[] = [];
    for (const [account, { behind, notBeforeMs }] of this.#partly) {
      const limit = Math.min(quotaOf(wanted), wanted - found.length);
      if (limit <= 0) break;
      if (gates.held.has(account) || clock.monotonicMs() < notBeforeMs) continue;
      const paused = gates.pausedTemplates.get(account) ?? [];
      const others = { account, _id: { $gt: behind }, template: { $nin: [...paused] } };
      const batch = await this.#read(others as Filter<MessageDocument>, limit); // '' sorts before every id.
      const last = batch.length < limit ? undefined : batch.at(-1);
      const again = { ...FROM_THE_BEGINNING, notBeforeMs: clock.monotonicMs() + PARTLY_MS };
      this.#partly.set(account, last === undefined ? again : { behind: last._id, notBeforeMs: 0 });
      found.push(...batch);
    }
    return found;
  }

  /** Reads more of the same accounts, because every account of the queue was read and more is wanted. */
  async #readDeeper(wanted: number, found: readonly MessageDocument[]): Promise<MessageDocument[]> {
    const whole = found.filter(({ account }) => !this.#partly.has(account));
    const last = new Map(whole.map((message) => [message.account, message._id]));
    const each = Math.ceil((wanted - found.length) / last.size);
    const rest = await Promise.all([...last].map(([account, id]) => this.#read({ account, _id: { $gt: id } }, each)));
    return [...found, ...rest.flat().filter((message) => this.admits(message))].slice(0, wanted);
  }

  #markEmpty(): [] {
    this.#emptyUntilMs = this.#options.clock.monotonicMs() + EMPTY_MS;
    return [];
  }

  #read(filter: Filter<MessageDocument>, limit: number): Promise<MessageDocument[]> {
    return readQueued(this.#options, { ...filter, path: this.path, lane: this.lane }, limit);
  }
}
