import type { Filter } from 'mongodb';
import type { MessageDocument } from '../../../shared/messages/document/message.ts';
import { HOURS_LANE } from '../../../shared/messages/document/routing.ts';
import type { ClaimGates } from '../../../shared/messages/queue/claim-gates.ts';
import { isMixed, type QueueDocument, unpackLines } from '../../../shared/messages/queue/queue-document.ts';
import { findAtOnce } from '../../../shared/platform/mongo/find-one.ts';
import type { QueueId } from '../../../shared/platform/runtime/ids.ts';
import type { CarrierContext } from '../monitoring/carrier-context.ts';

export interface WaitingOptions extends Pick<CarrierContext, 'db' | 'clock'> {
  readonly gates: ClaimGates;
}

export interface ClaimFrom {
  readonly paths: readonly string[];
  /** The most urgent lane that may be taken, usually 0. */
  readonly fromLane: number;
}

/** How many messages and segments may be taken: both limits apply. */
export interface Room {
  readonly messages: number;
  readonly segments: number;
}

/** A queue document, as it was read or as our last claim left it. */
export interface Head {
  document: QueueDocument;
  /** If a carrier returned messages, their lines have only `_id` and `segments`: the rest is in `messages`. */
  readonly lines: readonly MessageDocument[];
  /** The first line that is not picked yet. */
  next: number;
}

/** The lines from the document's `next` up to, not including, `to`. */
export interface Picked {
  readonly head: Head;
  readonly to: number;
}

/** A backlog of fewer documents is read whole by one read. */
const SHORT = 100;
/** A longer one is read account by account for this time, before its length is looked at again. */
const LONG_MS = 500;
/** How long heads are used once read, and so the longest wait of a new message in a higher lane behind a backlog. */
const FRESH_MS = 50;
/** How often a backlog's paths and lanes with messages are looked for. */
const PLACES_MS = 100;
/** The most reads of one path and lane in one reading. */
const READS_MAX = 16;
/** Documents of an account with a paused template that are looked at in one reading. */
const PAGE = 32;
/** If all documents of such a page were of paused templates, the account is looked at again after this time. */
const PAUSED_MS = 250;
/** Unpacked documents that are remembered: their lines never change, and several claims take from each. */
const REMEMBERED = 300;

const IN_ORDER = { path: 1, lane: 1, account: 1, _id: 1 } as const;
const WITHOUT_LINES = { account: 1, template: 1, written: 1 } as const;

/**
 * The messages that wait for a carrier, and which are next.
 *
 * **Order.** If there is room for all, all are taken, the most urgent lane first. In a backlog the highest lane with
 * messages gets 90 % of the room, the lanes below it 10 %. Paths take turns inside a lane, and accounts inside a path,
 * each with a quota of 5 to 15 messages: next is the account after the one served last, and a turn that was cut off is
 * continued. An account's oldest document is first. A mixed document has a turn like an account: the whole document, in
 * which no account has more than a quota. After three seconds each of its accounts has its own turns.
 *
 * **Cost.** One read while fewer than `SHORT` documents wait. In a longer backlog one for each account that gets a
 * turn, at most every 50 ms, so no account waits for another's backlog. Accounts that a gate holds are passed over, but
 * not their lines in mixed documents: whoever claims these gives them back.
 */
export class Waiting {
  readonly #options: WaitingOptions;
  readonly #turns = new Map<string, Turn>();
  readonly #pathTurns = new Map<number, string>();
  readonly #lines = new Map<QueueId, readonly MessageDocument[]>();
  readonly #lower = new LowerLanesQuota();
  #heads: readonly Head[] = [];
  #whole = false;
  #from: ClaimFrom = { paths: [], fromLane: 0 };
  #found: { readonly places: readonly Place[]; readonly from: ClaimFrom | undefined; readonly untilMs: number } = {
    ...{ places: [], from: undefined, untilMs: 0 },
  };
  #freshUntilMs = Number.NEGATIVE_INFINITY;
  #longUntilMs = Number.NEGATIVE_INFINITY;

  constructor(options: WaitingOptions) {
    this.#options = options;
  }

  /** Whether all that waits was read, and all of it is picked. Then only a new document brings more. */
  get empty(): boolean {
    return this.#whole && linesOf(this.#heads) === 0;
  }

  forget(): void {
    this.#freshUntilMs = Number.NEGATIVE_INFINITY;
  }

  async next(room: Room, from: ClaimFrom): Promise<readonly Picked[]> {
    const nowMs = this.#options.clock.monotonicMs();
    const same = from.fromLane === this.#from.fromLane && from.paths.join() === this.#from.paths.join();
    if (!same || nowMs >= this.#freshUntilMs || linesOf(this.#heads) < room.messages) {
      if (!same) this.#from = from;
      await this.#read(room.messages);
      this.#freshUntilMs = this.#options.clock.monotonicMs() + FRESH_MS;
    }
    return this.#pick(room);
  }

  async #read(wanted: number): Promise<void> {
    const { clock } = this.#options;
    if (clock.monotonicMs() >= this.#longUntilMs) {
      const found = await this.#find({ path: { $in: [...this.#from.paths] }, lane: this.#lanes() }, SHORT);
      if (found.length < SHORT) {
        this.#heads = found.filter(({ document }) => this.#isFree(document));
        this.#whole = this.#heads.length === found.length;
        return;
      }
      this.#longUntilMs = clock.monotonicMs() + LONG_MS;
    }
    this.#whole = false;
    this.#heads = await this.#readByTurns(wanted);
  }

  /** The documents whose turn it is, until they have `wanted` lines; then as many of lower lanes as these may have. */
  async #readByTurns(wanted: number): Promise<readonly Head[]> {
    const heads: Head[] = [];
    // The promotional hours may have ended since the places were looked for.
    const places = (await this.#places()).filter(({ lane }) => lane < this.#lanes().$lt);
    for (const lane of new Set(places.map((place) => place.lane))) {
      const here = places.filter((place) => place.lane === lane);
      const left = Math.max(wanted - linesOf(heads), this.#lower.due);
      if (left === 0) break;
      for (const { path } of this.#inTurn(lane, here)) {
        heads.push(...(await this.#readPlace(path, lane, Math.ceil(left / here.length))));
      }
    }
    return heads;
  }

  /** Paths and lanes with messages, the most urgent lane first: one read for each, by skipping through the index. */
  async #places(): Promise<readonly Place[]> {
    const nowMs = this.#options.clock.monotonicMs();
    if (this.#found.from === this.#from && nowMs < this.#found.untilMs) return this.#found.places;
    const places: Place[] = [];
    let behind: Filter<QueueDocument> | undefined;
    for (let left = [...this.#from.paths].sort(); left.length > 0; ) {
      const [first] = await this.#find(behind ?? { path: { $in: left }, lane: this.#lanes() }, 1);
      if (first !== undefined) {
        const { path, lane } = first.document;
        places.push({ path, lane });
        behind = { path, lane: { ...this.#lanes(), $gt: lane } };
        left = left.filter((other) => other >= path);
      } else if (behind === undefined) {
        break;
      } else {
        left = left.slice(1);
        behind = undefined;
      }
    }
    this.#found = { places: places.sort((a, b) => a.lane - b.lane), from: this.#from, untilMs: nowMs + PLACES_MS };
    return places;
  }

  /** The next document of one account after the other, in turn, until the accounts' quotas are `wanted` lines. */
  async #readPlace(path: string, lane: number, wanted: number): Promise<readonly Head[]> {
    const { gates } = this.#options;
    const turn = this.#turn(path, lane);
    const quota = quotaOf(wanted);
    const heads: Head[] = [];
    let lines = 0;
    const ranges =
      turn.left > 0 ? [{ $gte: turn.account }, { $lt: turn.account }] : [{ $gt: turn.account }, { $lte: turn.account }];
    for (const range of ranges) {
      let account: object = range;
      for (let reads = 0; lines < wanted && reads < READS_MAX; ) {
        const limit = Math.ceil(quota / Math.min(turn.size, quota));
        const found = await this.#find({ path, lane, account } as Filter<QueueDocument>, limit); // a range of ids
        const last = found.at(-1)?.document.account;
        if (last === undefined) break;
        account = '$gte' in range ? { $gt: last } : { ...range, $gt: last };
        turn.size = linesOf(found) / found.length;
        const open = found.filter(({ document }) => !gates.held.has(document.account));
        if (open.length > 0) reads += 1;
        for (const [owner, all] of byAccount(open)) {
          const free = all.filter(({ document }) => this.#isFree(document));
          const own = free.length > 0 ? free : await this.#readFree(turn, path, lane, owner);
          heads.push(...own);
          lines += Math.min(quota, linesOf(own));
        }
        if (found.length < limit) break;
      }
    }
    // Too few accounts: more of each, beyond its quota.
    if (lines >= wanted || linesOf(heads) >= wanted) return heads;
    const last = new Map(heads.map((head) => [head.document.account, head]));
    const each = Math.ceil((wanted - linesOf(heads)) / Math.max(last.size, 1));
    const more = await Promise.all([...last.values()].map((head) => this.#readMore(head, each)));
    return [...heads, ...more.flat()];
  }

  /** The account's documents behind this one, if it is to have more lines. */
  async #readMore({ document: { path, lane, account, _id } }: Head, lines: number): Promise<readonly Head[]> {
    if (lines <= 0) return [];
    const found = await this.#find({ path, lane, account, _id: { $gt: _id } }, Math.min(lines, PAGE));
    return found.filter(({ document }) => this.#isFree(document));
  }

  /** The first free document of an account with a paused template. Looks at a page, then goes on where it stopped. */
  async #readFree(turn: Turn, path: string, lane: number, account: Account): Promise<readonly Head[]> {
    const { clock, db } = this.#options;
    const { behind = '', notBeforeMs = 0 } = turn.paused.get(account) ?? {};
    if (clock.monotonicMs() < notBeforeMs) return [];
    const filter = { open: true, path, lane, account, _id: { $gt: behind as QueueId } } as const; // '' sorts before every id
    const page = await findAtOnce<QueueDocument>(db, 'queue', {
      ...{ filter, sort: IN_ORDER, limit: PAGE, projection: WITHOUT_LINES },
    });
    const free = page.find((document) => this.#isFree(document));
    const last = page.at(-1);
    if (free === undefined && page.length === PAGE && last !== undefined) {
      turn.paused.set(account, { behind: last._id, notBeforeMs: 0 });
    } else {
      const pauseMs = free === undefined ? PAUSED_MS : 0;
      turn.paused.set(account, { behind: '', notBeforeMs: clock.monotonicMs() + pauseMs });
    }
    return free === undefined ? [] : this.#find({ ...filter, _id: free._id }, 1);
  }

  /** Whether some of it may leave now. A written mixed document is about to be split (queue/queue-store.ts). */
  #isFree(document: Pick<QueueDocument, 'account' | 'template' | 'written'>): boolean {
    return isMixed(document) ? document.written !== true : !this.#options.gates.holds(document);
  }

  async #find(filter: Filter<QueueDocument>, limit: number): Promise<readonly Head[]> {
    const found = await findAtOnce<QueueDocument>(this.#options.db, 'queue', {
      ...{ filter: { open: true, ...filter }, sort: IN_ORDER, limit },
    });
    return found.map((document) => ({ document, lines: this.#unpack(document), next: document.next }));
  }

  #unpack({ _id, lines }: QueueDocument): readonly MessageDocument[] {
    const known = this.#lines.get(_id);
    if (known !== undefined) return known;
    const unpacked = unpackLines(lines);
    const [oldest] = this.#lines.keys();
    if (this.#lines.size >= REMEMBERED && oldest !== undefined) this.#lines.delete(oldest);
    this.#lines.set(_id, unpacked);
    return unpacked;
  }

  #lanes(): { readonly $gte: number; readonly $lt: number } {
    return { $gte: this.#from.fromLane, $lt: this.#options.gates.promotionalOpen ? HOURS_LANE + 1 : HOURS_LANE };
  }

  #turn(path: string, lane: number): Turn {
    const key = `${lane} ${path}`;
    const known = this.#turns.get(key);
    if (known !== undefined) return known;
    const turn: Turn = { account: '', left: 0, size: 1, paused: new Map() };
    this.#turns.set(key, turn);
    return turn;
  }

  /** Begins behind the path that was served last in this lane. */
  #inTurn<P extends { readonly path: string }>(lane: number, places: readonly P[]): readonly P[] {
    const last = this.#pathTurns.get(lane) ?? '';
    return [...places.filter(({ path }) => path > last), ...places.filter(({ path }) => path <= last)];
  }

  #pick(room: Room): readonly Picked[] {
    const lanes = [...new Set(this.#heads.map(({ document }) => document.lane))].sort((a, b) => a - b);
    let before = 0;
    const full = lanes.find((lane) => {
      before += linesOf(this.#heads.filter(({ document }) => document.lane === lane));
      return before >= room.messages;
    });
    const picking = new Picking(room);
    if (full === undefined) {
      for (const lane of lanes) this.#pickLane(lane, picking, room.messages);
      return picking.picked;
    }
    const due = Math.min(this.#lower.due, room.messages);
    for (const lane of lanes) if (lane > full) this.#pickLane(lane, picking, due - picking.messages);
    const lower = picking.messages;
    for (const lane of lanes) if (lane <= full) this.#pickLane(lane, picking, room.messages - picking.messages);
    this.#lower.claimed(picking.messages - lower, lower);
    return picking.picked;
  }

  #pickLane(lane: number, picking: Picking, most: number): void {
    const here = this.#heads.filter(({ document }) => document.lane === lane);
    const paths = [...new Set(here.map(({ document }) => document.path))].sort().map((path) => ({ path }));
    const quota = quotaOf(most);
    for (let left = most; left > 0; ) {
      const begun = left;
      for (const { path } of this.#inTurn(lane, paths)) {
        const heads = here.filter(({ document, next }) => document.path === path && next < document.n);
        const part = Math.min(paths.length > 1 ? quota : left, left);
        const took = this.#pickAccounts(this.#turn(path, lane), heads, picking, part);
        left -= took;
        if (took > 0) this.#pathTurns.set(lane, path);
        if (left <= 0 || picking.full) return;
      }
      if (left === begun) return;
    }
  }

  /** At most `most` messages of one path and lane, the accounts in turn. Returns how many. */
  #pickAccounts(turn: Turn, heads: readonly Head[], picking: Picking, most: number): number {
    const quota = quotaOf(most);
    const waiting = byAccount(heads);
    let left = most;
    while (left > 0 && waiting.size > 0 && !picking.full) {
      const accounts = [...waiting.keys()].sort();
      const isNew = turn.left <= 0 || !waiting.has(turn.account as Account);
      if (isNew) turn.account = accounts.find((account) => account > turn.account) ?? accounts[0] ?? '';
      const own = waiting.get(turn.account as Account) ?? [];
      const [head] = own;
      if (head === undefined) return most - left;
      if (isNew) turn.left = isMixed(head.document) ? head.document.n - head.next : quota;
      const took = picking.take(head, Math.min(turn.left, left));
      turn.left -= took;
      left -= took;
      if (head.next < head.document.n) continue;
      own.shift();
      if (own.length === 0) waiting.delete(turn.account as Account);
    }
    return most - left;
  }
}

type Account = QueueDocument['account'];

interface Place {
  readonly path: string;
  readonly lane: number;
}

/** Whose turn it is on a path and lane, and how many more messages it may have. */
interface Turn {
  account: string;
  left: number;
  /** How many lines documents lately had: of small ones several are read at once. */
  size: number;
  /** Accounts with a paused template: where the search for their other documents goes on. */
  readonly paused: Map<Account, { readonly behind: string; readonly notBeforeMs: number }>;
}

class Picking {
  readonly #room: Room;
  readonly #heads = new Set<Head>();
  messages = 0;
  #segments = 0;

  constructor(room: Room) {
    this.#room = room;
  }

  /** The last message may exceed the room for segments: otherwise short messages could pass a long one for ever. */
  get full(): boolean {
    return this.messages >= this.#room.messages || this.#segments >= this.#room.segments;
  }

  get picked(): readonly Picked[] {
    return [...this.#heads].map((head) => ({ head, to: head.next }));
  }

  /** Takes at most `most` of the document's next lines. Returns how many. */
  take(head: Head, most: number): number {
    let took = 0;
    for (; took < most && head.next < head.document.n && !this.full; took++) {
      this.#segments += head.lines[head.next]?.segments ?? 1;
      this.messages += 1;
      head.next += 1;
    }
    if (took > 0) this.#heads.add(head);
    return took;
  }
}

/** Groups them by account and keeps their order. */
function byAccount(heads: readonly Head[]): Map<Account, Head[]> {
  const accounts = new Map<Account, Head[]>();
  for (const head of heads) {
    const others = accounts.get(head.document.account);
    if (others === undefined) accounts.set(head.document.account, [head]);
    else others.push(head);
  }
  return accounts;
}

function linesOf(heads: readonly Head[]): number {
  return heads.reduce((sum, { document, next }) => sum + document.n - next, 0);
}

/** In a backlog each account costs a read of its own, so its quota should be worth it. */
const LEAST_QUOTA = 5;
const MOST_QUOTA = 15;
/** A claim should serve about this many accounts. */
const ACCOUNTS_PER_CLAIM = 5;

function quotaOf(messages: number): number {
  return Math.min(Math.max(Math.ceil(messages / ACCOUNTS_PER_CLAIM), LEAST_QUOTA), MOST_QUOTA);
}

/** The part of the room that the lower lanes get while a higher lane could use all of it. */
const LOWER_LANES_PART = 0.1;
/** Reading the lower lanes costs time, so they get nothing until they may have this many messages. */
const LOWER_LANES_LEAST = 3;
/** The most that lower lanes can save up while they are empty. */
const LOWER_LANES_MOST = 30;

/** How many messages of lower lanes may be claimed. It grows with the claims of the highest lane with messages. */
class LowerLanesQuota {
  #credit = 0;

  get due(): number {
    return this.#credit < LOWER_LANES_LEAST ? 0 : Math.floor(this.#credit);
  }

  /** Notes a claim: `higher` messages of the highest lane with messages, and `lower` messages of the lanes below it. */
  claimed(higher: number, lower: number): void {
    this.#credit = Math.min(Math.max(this.#credit + higher * LOWER_LANES_PART - lower, 0), LOWER_LANES_MOST);
  }
}
