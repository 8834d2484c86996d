import type { Collection, Db, Filter } from 'mongodb';
import { findAtOnce } from '../mongo/find-at-once.ts';
import type { Clock } from '../runtime/clock.ts';
import { crashPoint } from '../runtime/crash-point.ts';
import { type AccountId, type MessageId, newId } from '../runtime/ids.ts';
import { AccountShares } from './account-shares.ts';
import type { ClaimGates } from './claim-gates.ts';
import { accountTurns, fitting, LANES, LowerLanesShare, quantumOf, type Room, roomLeft } from './claim-plan.ts';
import type { Claim, MessageDocument } from './message.ts';
import { HOURS_LANE } from './routing.ts';

/**
 * Takes queued messages for a carrier: queued → submitting, in one update for many, each stamped with the claim. Two workers
 * that want the same message: one gets it, the other sees that it matched fewer and asks which are its own.
 *
 * While there is room for all that waits, all is taken, in lane order. In a backlog: lane by lane with a small share for the
 * lower ones, and inside a lane the accounts in turn, a few messages each, so that the backlog of one stands before nobody.
 * What gates hold (claim-gates.ts) is not read once it is known, however much of it waits.
 */
export interface ClaimerOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly carrier: string;
  /** Of the carrier's lease. */
  readonly epoch: number;
  readonly paths: readonly string[];
  readonly gates: ClaimGates;
}

/** One path and lane, whose accounts are served in turn. */
interface Queue {
  readonly path: string;
  readonly lane: number;
  /** The account served last. */
  cursor: string;
  /** What each account got. */
  readonly shares: AccountShares;
  /** Found empty: not read again before. */
  emptyUntilMs: number;
  /** Held accounts of which messages were found here: reads go around them. */
  readonly held: Set<AccountId>;
  /** Accounts that have messages of a paused template here: gone around too, and their other messages are read apart. */
  readonly partly: Map<AccountId, Place>;
}

/** Where the reading of an account's other messages has come to. */
interface Place {
  readonly behind: string;
  readonly notBeforeMs: number;
}

const FROM_THE_BEGINNING: Place = { behind: '', notBeforeMs: Number.NEGATIVE_INFINITY };
/** How often an account's messages are looked through for those whose template is not paused. */
const PARTLY_MS = 250;
/** Reads of one queue in one claim. */
const MAX_READS = 16;
/** What was read ahead is believed for so long: a message in a higher lane waits no longer for its turn. */
const AHEAD_MS = 50;
const MAX_AHEAD = 200;
/** While others have more than can be taken, an empty queue is looked at this often. */
const EMPTY_MS = 100;

export class Claimer {
  readonly #options: ClaimerOptions;
  readonly #messages: Collection<MessageDocument>;
  readonly #share = new LowerLanesShare();
  readonly #queues: readonly Queue[];
  /** At the last claim more waited than there was room for. */
  #backlog = false;
  /** In a backlog, what was read and not claimed yet, in the order of claiming. */
  #ahead: MessageDocument[] = [];
  #aheadUntilMs = 0;
  /** The lane that alone had more than was read ahead. */
  #fullLane = Number.POSITIVE_INFINITY;
  /** A claim whose answer was lost: what it took is ours and was never written, and nobody else would find it. */
  #uncertain: { readonly ids: readonly MessageId[]; readonly claim: Claim } | undefined;
  /** How many of the last reading were claimed. */
  #used = 0;

  constructor(options: ClaimerOptions) {
    this.#options = options;
    this.#messages = options.db.collection('messages');
    this.#queues = LANES.flatMap((lane) =>
      options.paths.map((path) => ({
        path,
        lane,
        cursor: '',
        shares: new AccountShares(),
        emptyUntilMs: Number.NEGATIVE_INFINITY,
        held: new Set(),
        partly: new Map(),
      })),
    );
  }

  /** The messages that are ours now, as they are after the claim; at most what there is room for. */
  async claim(room: Room): Promise<MessageDocument[]> {
    if (room.messages <= 0 || room.segments <= 0) return [];
    if (this.#uncertain !== undefined) {
      const taken = await this.#taken(this.#uncertain.ids, this.#uncertain.claim);
      this.#uncertain = undefined;
      if (taken.length > 0) return taken;
    }
    await this.#passGates();
    const around = this.#queues.some(({ held, partly }) => held.size + partly.size > 0);
    const picked = this.#backlog || around ? await this.#pickInTurn(room) : await this.#pickAll(room);
    return picked.length === 0 ? [] : this.#take(picked);
  }

  /** What a gate has let go is read again. */
  async #passGates(): Promise<void> {
    const { gates } = this.#options;
    await gates.refresh();
    for (const { held, partly } of this.#queues) {
      for (const account of held) if (!gates.held.has(account)) held.delete(account);
      for (const account of partly.keys()) if (!gates.pausedTemplates.has(account)) partly.delete(account);
    }
  }

  /** Takes out what is held, and remembers whose it is. */
  #unheld(read: readonly MessageDocument[]): MessageDocument[] {
    const { gates } = this.#options;
    return read.filter((message) => {
      if (!gates.holds(message)) return true;
      const queue = this.#queueOf(message);
      if (gates.held.has(message.account)) queue?.held.add(message.account);
      else if (queue?.partly.has(message.account) === false) queue.partly.set(message.account, FROM_THE_BEGINNING);
      return false;
    });
  }

  #queueOf(message: MessageDocument): Queue | undefined {
    return this.#queues.find(({ path, lane }) => path === message.path && lane === message.lane);
  }

  /** Each path in lane order by the index: together less than there is room for means that this is all there is. */
  async #pickAll(room: Room): Promise<MessageDocument[]> {
    const { paths, gates } = this.#options;
    const lanes = gates.promotionalOpen ? {} : { lane: { $lt: HOURS_LANE } };
    const reads = await Promise.all(paths.map((path) => this.#read({ path, ...lanes }, room.messages)));
    const read = reads.flat().sort((a, b) => a.lane - b.lane);
    const all = this.#unheld(read);
    this.#backlog = read.length >= room.messages;
    return this.#backlog ? this.#pickInTurn(room) : fitting(all, room);
  }

  /**
   * From what was read ahead while it is fresh: a window frees slot by slot, and a claim of one is then one update instead of
   * several reads. Messages that another carrier took since are found out by the claim.
   */
  async #pickInTurn(room: Room): Promise<MessageDocument[]> {
    const fresh = this.#options.clock.monotonicMs() < this.#aheadUntilMs;
    if (!fresh || this.#ahead.length < room.messages) await this.#readAhead(room);
    const picked = fitting(this.#ahead, room);
    this.#ahead = this.#ahead.slice(picked.length);
    this.#used += picked.length;
    for (const message of picked) {
      const queue = this.#queueOf(message);
      if (queue === undefined) continue;
      queue.cursor = message.account;
      queue.shares.claimed(message.account);
    }
    const lower = picked.filter(({ lane }) => lane > this.#fullLane).length;
    this.#share.claimed(picked.length - lower, lower);
    if (picked.length === 0) this.#backlog = false;
    return picked;
  }

  async #readAhead(room: Room): Promise<void> {
    const wanted = Math.min(Math.max(room.messages, 2 * this.#used), Math.max(room.messages, MAX_AHEAD));
    this.#used = 0;
    const size = { messages: wanted, segments: Number.POSITIVE_INFINITY };
    const open = this.#queues.filter(({ lane }) => lane !== HOURS_LANE || this.#options.gates.promotionalOpen);
    const top = await this.#readQueues(open, size);
    this.#fullLane = top.fullLane;
    const below = open.filter(({ lane }) => lane > top.fullLane);
    const share = { ...size, messages: this.#share.due };
    const lower = share.messages === 0 ? undefined : await this.#readQueues(below, share);
    this.#ahead = [...(lower?.messages ?? []), ...top.messages];
    this.#aheadUntilMs = this.#options.clock.monotonicMs() + AHEAD_MS;
  }

  /** Up to `room` in the order of `queues`, and the lane that had more than was left of it (Infinity: none had). */
  async #readQueues(
    queues: readonly Queue[],
    room: Room,
  ): Promise<{ readonly messages: MessageDocument[]; readonly fullLane: number }> {
    const messages: MessageDocument[] = [];
    for (const queue of queues) {
      const left = roomLeft(room, messages).messages;
      if (left === 0) break;
      messages.push(...queue.shares.inTurns(await this.#readQueue(queue, left), quantumOf(left)));
      if (messages.length >= room.messages) return { messages, fullLane: queue.lane };
    }
    return { messages, fullLane: Number.POSITIVE_INFINITY };
  }

  /**
   * Up to `wanted` of a queue: behind the account served last, then from the beginning; a few of each account, and more of
   * the same ones only when no other has any.
   */
  async #readQueue(queue: Queue, wanted: number): Promise<MessageDocument[]> {
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs < queue.emptyUntilMs) return [];
    const { path, lane } = queue;
    const found: MessageDocument[] = [];
    for (const [account, place] of queue.partly) {
      const limit = Math.min(quantumOf(wanted), wanted - found.length);
      if (limit > 0) found.push(...(await this.#readPartly(queue, account, place, limit)));
    }
    const around = new Set([...queue.held, ...queue.partly.keys()]);
    const turns = accountTurns(queue.cursor, around);
    let reads = 0;
    for (const turn of turns) {
      let from = turn.$gt;
      for (let more = true; more; reads++) {
        if (found.length >= wanted || reads >= MAX_READS + around.size) return found;
        const limit = Math.min(quantumOf(wanted), wanted - found.length);
        const account = { ...turn, $gt: from };
        const batch = await this.#read({ path, lane, account } as Filter<MessageDocument>, limit); // '' is before every id
        found.push(...this.#unheld(batch));
        from = batch.at(-1)?.account ?? from;
        more = batch.length === limit;
      }
    }
    return found.length === 0 ? this.#markEmpty(queue) : this.#readDeeper(queue, wanted, found);
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
    const batch = await this.#read(filter as Filter<MessageDocument>, limit); // '' is before every id
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
      [...last].map(([account, id]) => this.#read({ path, lane, account, _id: { $gt: id } }, share)),
    );
    return [...found, ...this.#unheld(rest.flat())].slice(0, wanted);
  }

  /** What has expired is left to the maintenance. */
  #read(filter: Filter<MessageDocument>, limit: number): Promise<MessageDocument[]> {
    const { db, clock } = this.#options;
    return findAtOnce<MessageDocument>(db, 'messages', {
      filter: { ...filter, state: 'queued', validUntil: { $gt: clock.now() } },
      sort: { lane: 1, account: 1, _id: 1 },
      limit,
    });
  }

  async #take(picked: readonly MessageDocument[]): Promise<MessageDocument[]> {
    const { carrier, epoch, clock } = this.#options;
    const claim: Claim = { id: newId('clm'), carrier, epoch, at: clock.now() };
    const ids = picked.map((message) => message._id);
    this.#uncertain = { ids, claim };
    const { modifiedCount } = await this.#messages.updateMany(
      { _id: { $in: ids }, state: 'queued' },
      { $set: { state: 'submitting', claim }, $inc: { v: 1 } },
    );
    if (modifiedCount > 0) crashPoint('claim:taken');
    // Fewer: another carrier serves the same path, and what was read ahead is out of date too.
    if (modifiedCount < picked.length) this.#ahead = [];
    const taken =
      modifiedCount === picked.length
        ? picked.map((message) => ({ ...message, state: 'submitting' as const, claim, v: message.v + 1 }))
        : await this.#taken(ids, claim);
    this.#uncertain = undefined;
    return taken;
  }

  #taken(ids: readonly MessageId[], claim: Claim): Promise<MessageDocument[]> {
    return this.#messages.find({ _id: { $in: [...ids] }, 'claim.id': claim.id, state: 'submitting' }).toArray();
  }
}
