import {
  type DeliveryDocument,
  deliveriesIn,
  type GroupedId,
  type Outcome,
  type Stored,
} from '../../shared/events/webhooks/delivery.ts';
import type { PostTarget } from '../../shared/events/webhooks/target.ts';
import type { AccountId, EndpointId } from '../../shared/platform/runtime/ids.ts';

/**
 * The due documents that this process holds, in one queue per endpoint, and the posts in flight. A document goes
 * through queued → begun → completing → forgotten, and is not read again meanwhile.
 *
 * Accounts take turns, and an account's endpoints too. A host, an account and the process have fixed limits. But an
 * account without a post in flight may always begin one, and one at each host: nobody waits for other accounts' slow
 * receivers.
 */
export interface EndpointQueuesOptions {
  readonly perHost: number;
  /** Whether an endpoint's last post failed. Then it gets one post at a time, to find out whether it is back. */
  isFailing(endpoint: EndpointId): boolean;
  hostOf(endpoint: EndpointId): string | undefined;
  /** How many events a post to the endpoint may have, and how long an event waits for others. */
  sizeOf(endpoint: EndpointId): PostSize;
  now(): Date;
}

export type PostSize = Pick<PostTarget, 'eventsPerPost' | 'gatherMs'>;

export interface InHand {
  readonly stored: Stored;
  readonly deliveries: readonly DeliveryDocument[];
  /** What became of each delivery; undefined before its post, and when this process must not post it. */
  readonly outcomes: (Outcome | undefined)[];
  /** How many events have been taken for posts. */
  begun: number;
  inFlight: number;
  dropped: boolean;
}

interface Part {
  readonly of: InHand;
  readonly index: number;
  readonly delivery: DeliveryDocument;
}

/** The events that are posted together: one, unless the endpoint wants several. They may be of several documents. */
export interface Post {
  readonly account: AccountId;
  readonly endpoint: EndpointId;
  readonly parts: readonly [Part, ...Part[]];
  /** The host under whose limit the post counts. */
  readonly host: string;
}

interface EndpointQueue {
  readonly account: AccountId;
  readonly endpoint: EndpointId;
  readonly waiting: InHand[];
  /** Documents in hand, in any stage; their events; and those events whose posts have not begun. */
  documents: number;
  events: number;
  queued: number;
  /** Events of documents that are begun and not completed. */
  open: number;
  inFlight: number;
  begunSinceRead: boolean;
}

/** The limit of a process; only accounts without a post in flight exceed it. A post costs some 20 KB and a socket. */
export const IN_FLIGHT_MAX = 1_024;
/** An account's limit, in multiples of a host's: one slow host leaves the rest to its other endpoints. */
export const HOSTS_PER_ACCOUNT = 4;
/**
 * The most events of an endpoint that are posted, or begun as part of a group, and not completed in the store: a crash
 * repeats them. It is two full groups: one is posted while the other's completion is written.
 */
export const OPEN_MAX = 200;
/** Queued events for each post that the host may have in flight. A queue is filled again at a quarter of it. */
const QUEUED_PER_POST = 32;
/** The most documents to read for an endpoint that has nothing in hand: they may be groups. */
const FIRST_READ = 64;
/** A read leaves out groups in hand of this many events (their bodies cost more than ids), at most `LEFT_OUT_MAX`. */
const LARGE = 20;
const LEFT_OUT_MAX = 100;
/** The most characters of the events of one post. A larger event is posted alone. */
const POST_CHARACTERS_MAX = 256_000;
/** Queued events of all endpoints together, some kilobytes each. An endpoint may always have `QUEUED_ALWAYS`. */
const QUEUED_MAX = 20_000;
const QUEUED_ALWAYS = 8;

export class EndpointQueues {
  readonly #options: EndpointQueuesOptions;
  readonly #queues = new Map<EndpointId, EndpointQueue>();
  /** Accounts in the order of their turns, and each account's queues in theirs. */
  readonly #turns = new Map<AccountId, Map<EndpointId, EndpointQueue>>();
  readonly #inHand = new Set<Stored['_id']>();
  readonly #groups = new Set<GroupedId>();
  readonly #completed: Stored[] = [];
  /** How many documents of an endpoint can never be completed. A read returns them before the others. */
  readonly #refused = new Map<EndpointId, number>();
  /** Posts in flight of an account, to a host, and of an account to a host. */
  readonly #counts = new Map<string, number>();
  #queued = 0;
  #inFlight = 0;

  constructor(options: EndpointQueuesOptions) {
    this.#options = options;
  }

  get queued(): number {
    return this.#queued;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  endpoints(): Iterable<EndpointId> {
    return this.#queues.keys();
  }

  inHand(fits: (endpoint: EndpointId) => boolean): number {
    let count = 0;
    for (const { endpoint, documents } of this.#queues.values()) if (fits(endpoint)) count += documents;
    return count;
  }

  /**
   * How many of the endpoint's oldest due documents to read to fill its queue; 0 while it has enough. A call that is
   * not followed by the read delays it: the next read is wanted only after another post has begun.
   */
  wanted(endpoint: EndpointId): number {
    const queue = this.#queues.get(endpoint);
    const full = this.#full(endpoint);
    const refused = this.#refused.get(endpoint) ?? 0;
    if (queue === undefined) return Math.min(full, FIRST_READ) + refused;
    if (queue.queued > 0 && !queue.begunSinceRead) return 0;
    queue.begunSinceRead = false;
    // Documents in hand are still due in the store, so a read returns them before new ones.
    const documents = Math.ceil((full * queue.documents) / queue.events);
    return queue.queued < full / 4 ? documents + queue.documents + refused : 0;
  }

  /** False when the document is already held or its queue is full. */
  add(stored: Stored): boolean {
    const { _id, account, endpoint } = stored;
    if (this.#inHand.has(_id)) return false;
    const queue = this.#queues.get(endpoint) ?? emptyQueue(account, endpoint);
    const isFull = queue.queued >= this.#full(endpoint) || this.#queued >= QUEUED_MAX;
    if (isFull && queue.queued >= QUEUED_ALWAYS) return false;
    this.#queues.set(endpoint, queue);
    this.#inHand.add(_id);
    if ('items' in stored && stored.items.length >= LARGE) this.#groups.add(stored._id);
    const deliveries = deliveriesIn(stored);
    queue.waiting.push({ stored, deliveries, outcomes: [], begun: 0, inFlight: 0, dropped: false });
    queue.documents++;
    queue.events += deliveries.length;
    this.#queue(queue, deliveries.length);
    const turns = this.#turns.get(account) ?? new Map<EndpointId, EndpointQueue>();
    this.#turns.set(account, turns.set(endpoint, queue));
    return true;
  }

  groups(): readonly GroupedId[] {
    return [...this.#groups].slice(0, LEFT_OUT_MAX);
  }

  /** The next post; it counts as in flight from now on. Undefined when none may begin. */
  next(): Post | undefined {
    for (const [account, queues] of this.#turns) {
      for (const queue of queues.values()) {
        const host = this.#options.hostOf(queue.endpoint) || queue.endpoint;
        const of = queue.waiting[0];
        const size = this.#options.sizeOf(queue.endpoint);
        if (of === undefined || !this.#isRipe(queue, of, size) || !this.#mayBegin(queue, of, host)) continue;
        const post = this.#begin(queue, of, host, size);
        queues.delete(queue.endpoint);
        this.#turns.delete(account);
        if (queue.waiting.length > 0) queues.set(queue.endpoint, queue);
        if (queues.size > 0) this.#turns.set(account, queues);
        return post;
      }
    }
    return undefined;
  }

  /** The post has ended. Returns those of its documents whose posts have all ended: they are to be completed. */
  posted({ account, endpoint, parts, host }: Post): readonly InHand[] {
    const queue = this.#queues.get(endpoint);
    this.#count(account, host, -1);
    if (queue !== undefined) queue.inFlight--;
    return parts.flatMap(({ of }) => {
      of.inFlight--;
      return of.inFlight === 0 && (of.dropped || of.begun === of.deliveries.length) ? [of] : [];
    });
  }

  /** Remembers the document until `forgetCompleted`: a read that began earlier may still return it as due. */
  completed(of: InHand): void {
    this.#completed.push(of.stored);
    this.#endOpen(of);
  }

  /** The store refuses the completion. The document is still due there, and is never taken again. */
  refused(of: InHand): void {
    const { endpoint } = of.stored;
    this.#refused.set(endpoint, (this.#refused.get(endpoint) ?? 0) + 1);
    this.#endOpen(of);
  }

  /** Call it when no read is in progress. Documents found due from now on may be taken, even again (replays). */
  forgetCompleted(): void {
    for (const stored of this.#completed) this.#forget(stored);
    this.#completed.length = 0;
  }

  /**
   * Drops what is queued for the endpoints for which `fits` is true. Posts in flight continue. Returns the documents
   * that were begun and have none in flight: they are to be completed as they are.
   */
  dropQueued(fits: (endpoint: EndpointId) => boolean): readonly InHand[] {
    const ended: InHand[] = [];
    for (const queue of this.#queues.values()) {
      if (queue.waiting.length === 0 || !fits(queue.endpoint)) continue;
      for (const of of queue.waiting.splice(0)) {
        this.#queue(queue, of.begun - of.deliveries.length);
        of.dropped = true;
        if (of.begun === 0) {
          this.#forget(of.stored);
          this.#leave(queue, of);
        } else if (of.inFlight === 0) ended.push(of);
      }
    }
    return ended;
  }

  #forget(stored: Stored): void {
    this.#inHand.delete(stored._id);
    if ('items' in stored) this.#groups.delete(stored._id);
  }

  #isRipe({ queued }: EndpointQueue, { stored }: InHand, { eventsPerPost, gatherMs }: PostSize): boolean {
    if (queued >= eventsPerPost || gatherMs === 0 || stored.due === undefined) return true;
    return this.#options.now().getTime() - stored.due.getTime() >= gatherMs;
  }

  #mayBegin(queue: EndpointQueue, of: InHand, host: string): boolean {
    if (!mayOpen(queue, of)) return false;
    const { account, endpoint, inFlight } = queue;
    const { perHost, isFailing } = this.#options;
    if (isFailing(endpoint)) return inFlight === 0;
    const ofAccount = this.#counts.get(account) ?? 0;
    if (ofAccount >= perHost * HOSTS_PER_ACCOUNT) return false;
    if (this.#inFlight >= IN_FLIGHT_MAX && ofAccount > 0) return false;
    return (this.#counts.get(host) ?? 0) < perHost || !this.#counts.has(`${account} ${host}`);
  }

  #begin(queue: EndpointQueue, first: InHand, host: string, { eventsPerPost }: PostSize): Post {
    const { account, endpoint } = queue;
    const parts: [Part, ...Part[]] = [this.#take(queue, first)];
    let characters = parts[0].delivery.body.length;
    for (let of = queue.waiting[0]; of !== undefined && parts.length < eventsPerPost; of = queue.waiting[0]) {
      characters += of.deliveries[of.begun]?.body.length ?? 0;
      if (characters > POST_CHARACTERS_MAX || !mayOpen(queue, of)) break;
      parts.push(this.#take(queue, of));
    }
    queue.inFlight++;
    queue.begunSinceRead = true;
    this.#count(account, host, 1);
    return { account, endpoint, parts, host };
  }

  /** The next event of the queue's first document. */
  #take(queue: EndpointQueue, of: InHand): Part {
    const index = of.begun++;
    const delivery = of.deliveries[index];
    if (delivery === undefined) throw new RangeError('a document that waits has an event to post');
    if (index === 0) queue.open += of.deliveries.length;
    if (of.begun === of.deliveries.length) queue.waiting.shift();
    of.inFlight++;
    this.#queue(queue, -1);
    return { of, index, delivery };
  }

  #count(account: AccountId, host: string, by: 1 | -1): void {
    this.#inFlight += by;
    for (const of of [account, host, `${account} ${host}`]) {
      const count = (this.#counts.get(of) ?? 0) + by;
      if (count === 0) this.#counts.delete(of);
      else this.#counts.set(of, count);
    }
  }

  #queue(queue: EndpointQueue, events: number): void {
    queue.queued += events;
    this.#queued += events;
  }

  #endOpen(of: InHand): void {
    const queue = this.#queues.get(of.stored.endpoint);
    if (queue === undefined) return;
    queue.open -= of.deliveries.length;
    this.#leave(queue, of);
  }

  #leave(queue: EndpointQueue, { deliveries }: InHand): void {
    queue.documents--;
    queue.events -= deliveries.length;
    if (queue.documents > 0) return;
    this.#queues.delete(queue.endpoint);
    const turns = this.#turns.get(queue.account);
    turns?.delete(queue.endpoint);
    if (turns?.size === 0) this.#turns.delete(queue.account);
  }

  #full(endpoint: EndpointId): number {
    return (this.#options.isFailing(endpoint) ? 1 : this.#options.perHost) * QUEUED_PER_POST;
  }
}

/** Whether posting the document's next event keeps what a crash would repeat within `OPEN_MAX`. */
function mayOpen({ open }: EndpointQueue, { begun, deliveries }: InHand): boolean {
  return begun > 0 || open === 0 || open + deliveries.length <= OPEN_MAX;
}

function emptyQueue(account: AccountId, endpoint: EndpointId): EndpointQueue {
  const counts = { documents: 0, events: 0, queued: 0, open: 0, inFlight: 0 };
  return { account, endpoint, waiting: [], ...counts, begunSinceRead: false };
}
