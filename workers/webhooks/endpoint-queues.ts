import type { AccountId, EndpointId } from '../../shared/runtime/ids.ts';
import type { DeliveryDocument, DeliveryId } from '../../shared/webhooks/delivery.ts';
import { type EndpointPosts, InFlightCounts } from './in-flight.ts';
import { Paces } from './pace.ts';
import { reachedLimit, SHARED } from './quota.ts';
import { type Rotating, Rotation } from './rotation.ts';

/**
 * The deliveries that this process holds, in one queue per endpoint. A delivery goes through queued → in flight →
 * completing → forgotten, and is not read again meanwhile. Accounts are served in rotation, and so are the queues of
 * each account. quota.ts limits the posts in flight of an endpoint, an account and an address, so that a slow or dead
 * receiver delays no other.
 */
export interface EndpointQueuesOptions {
  /** The most posts in flight to one endpoint (pace.ts). */
  readonly perEndpoint: number;
  /** Whether an endpoint's last post failed. Then it gets one post at a time, to find out whether it is back. */
  isFailing(endpoint: EndpointId): boolean;
  /** The host of an endpoint's posts. It never changes. Undefined while it is not known. */
  hostOf(endpoint: EndpointId): string | undefined;
  nowMs(): number;
}

interface EndpointQueue extends EndpointPosts, Rotating {
  readonly endpoint: EndpointId;
  readonly waiting: DeliveryDocument[];
  host: string;
  completing: number;
  /** Whether a post has begun since the endpoint's deliveries were last read. */
  begunSinceRead: boolean;
}

/**
 * The most posts whose completion is not written yet. If there are more, the store is slow, and no new post starts.
 * After a crash at most these posts, and those in flight, are repeated.
 */
export const COMPLETING_MAX = 256;
/**
 * Queued deliveries for each post that the endpoint may have in flight. A queue is filled again when only a quarter
 * is left.
 */
const QUEUED_PER_SLOT = 32;
/** Queued deliveries of all endpoints together; each has some kilobytes. An endpoint may always have a few. */
const QUEUED_MAX = 20_000;
const QUEUED_ALWAYS = 8;

export class EndpointQueues {
  readonly #options: EndpointQueuesOptions;
  readonly #queues = new Map<EndpointId, EndpointQueue>();
  readonly #inHand = new Set<DeliveryId>();
  readonly #completed: DeliveryId[] = [];
  /** How many deliveries of an endpoint can never be completed. A read for the endpoint returns them before the others. */
  readonly #refused = new Map<EndpointId, number>();
  readonly #rotation = new Rotation<EndpointQueue>();
  readonly #inFlight = new InFlightCounts();
  readonly #paces: Paces;
  #queued = 0;
  #completing = 0;

  constructor(options: EndpointQueuesOptions) {
    this.#options = options;
    this.#paces = new Paces(options.perEndpoint);
  }

  get queued(): number {
    return this.#queued;
  }

  get inFlight(): number {
    return this.#inFlight.all;
  }

  endpoints(): Iterable<EndpointId> {
    return this.#queues.keys();
  }

  /** Deliveries in any stage of the endpoints for which `fits` is true. */
  inHand(fits: (endpoint: EndpointId) => boolean): number {
    let count = 0;
    for (const queue of this.#queues.values()) {
      if (fits(queue.endpoint)) count += queue.waiting.length + queue.startedMs.size + queue.completing;
    }
    return count;
  }

  /**
   * How many of the endpoint's oldest due deliveries to read so that its queue is full; 0 while it has enough. Do
   * that read after this call: if the receiver is slow, the next one is only wanted after some deliveries have left.
   */
  wanted(endpoint: EndpointId): number {
    const queue = this.#queues.get(endpoint);
    const full = this.#slots(endpoint) * QUEUED_PER_SLOT;
    const refused = this.#refused.get(endpoint) ?? 0;
    if (queue === undefined) return full + refused;
    if (queue.waiting.length > 0 && !queue.begunSinceRead) return 0;
    queue.begunSinceRead = false;
    // Deliveries in flight are still due in the store, so a read returns them before the new ones.
    return queue.waiting.length < full / 4 ? full + queue.startedMs.size + queue.completing + refused : 0;
  }

  /** Adds a due delivery to the end of its queue. False when it is already held or the queue is full. */
  add(delivery: DeliveryDocument): boolean {
    const { _id, account, endpoint } = delivery;
    if (this.#inHand.has(_id)) return false;
    const queue = this.#queues.get(endpoint) ?? emptyQueue(account, endpoint);
    if (
      queue.waiting.length >= QUEUED_ALWAYS &&
      (queue.waiting.length >= this.#slots(endpoint) * QUEUED_PER_SLOT || this.#queued >= QUEUED_MAX)
    ) {
      return false;
    }
    this.#queues.set(endpoint, queue);
    this.#inHand.add(_id);
    queue.waiting.push(delivery);
    this.#queued++;
    this.#rotation.list(queue);
    return true;
  }

  /** The next delivery to post; it counts as in flight from now on. Undefined when none may start. */
  next(): DeliveryDocument | undefined {
    while (this.#completing < COMPLETING_MAX) {
      const queue = this.#rotation.next();
      const [delivery] = queue?.waiting ?? [];
      if (queue === undefined) return undefined;
      if (delivery === undefined) continue;
      if (queue.startedMs.size === 0) queue.host = this.#options.hostOf(queue.endpoint) || queue.endpoint;
      const limit = reachedLimit(this.#inFlight.of(queue), this.#slots(queue.endpoint), queue.slow);
      if (limit === undefined) {
        queue.waiting.shift();
        this.#queued--;
        this.#inFlight.begin(queue, delivery._id, this.#options.nowMs());
        queue.begunSinceRead = true;
        this.#rotation.list(queue);
        return delivery;
      }
      // If only the endpoint's own limit is reached, no other endpoint is affected. Its queue returns to the rotation
      // when one of its posts ends.
      if (limit !== 'endpoint') this.#rotation.hold(queue, this.#inFlight.nameOf(limit, queue));
      if (limit === 'process') return undefined;
    }
    return undefined;
  }

  /** The receiver has answered a post in flight. `acknowledgedMs`: how long that took; undefined when it was no success. */
  answered({ endpoint }: DeliveryDocument, acknowledgedMs: number | undefined): void {
    if (acknowledgedMs === undefined) {
      this.#paces.failed(endpoint);
      return;
    }
    const queue = this.#queues.get(endpoint);
    const isFull = queue !== undefined && queue.waiting.length > 0 && queue.startedMs.size >= this.#slots(endpoint);
    this.#paces.acknowledged(endpoint, acknowledgedMs, isFull, this.#options.nowMs());
  }

  /** The post has ended. The delivery is held until its completion is written. */
  posted({ _id, endpoint }: DeliveryDocument): void {
    const queue = this.#queues.get(endpoint);
    if (queue === undefined || !this.#inFlight.end(queue, _id, this.#options.nowMs())) return;
    queue.completing++;
    this.#completing++;
    // Queues that were held are released before its own queue, because they have waited longer.
    for (const limit of SHARED) this.#rotation.release(this.#inFlight.nameOf(limit, queue), 1);
    this.#rotation.list(queue);
  }

  /**
   * Call it often. Detects endpoints that have become slow. Also returns all held queues to the rotation, because a
   * quota grows when others use less.
   */
  review(): void {
    for (const queue of this.#queues.values()) this.#inFlight.review(queue, this.#options.nowMs());
    this.#rotation.releaseAll();
    this.#paces.forgetIdle(this.#options.nowMs());
  }

  /** Notes that the host was connected to this address. Posts are counted by address. */
  connected(host: string, address: string): void {
    this.#inFlight.connected(host, address);
  }

  /**
   * The completion is written. The delivery is remembered until `forgetCompleted`: a read that began before the write
   * can still return it, and it would be posted again.
   */
  completed({ _id, endpoint }: DeliveryDocument): void {
    this.#completed.push(_id);
    this.#endCompleting(endpoint);
  }

  /** The store refuses the completion. The delivery is still due there, and is never taken again. */
  refused({ endpoint }: DeliveryDocument): void {
    this.#refused.set(endpoint, (this.#refused.get(endpoint) ?? 0) + 1);
    this.#endCompleting(endpoint);
  }

  /**
   * Call it when no read is in progress. Deliveries that are found due from now on may be taken, even again, because
   * they were replayed.
   */
  forgetCompleted(): void {
    for (const id of this.#completed) this.#inHand.delete(id);
    this.#completed.length = 0;
  }

  /** Drops the queued deliveries of the endpoints for which `fits` is true. Posts in flight continue. */
  dropQueued(fits: (endpoint: EndpointId) => boolean): void {
    for (const queue of this.#queues.values()) {
      if (queue.waiting.length === 0 || !fits(queue.endpoint)) continue;
      for (const { _id } of queue.waiting) this.#inHand.delete(_id);
      this.#queued -= queue.waiting.length;
      queue.waiting.length = 0;
      this.#dropEmpty(queue);
    }
  }

  #endCompleting(endpoint: EndpointId): void {
    const queue = this.#queues.get(endpoint);
    if (queue === undefined) return;
    queue.completing--;
    this.#completing--;
    this.#dropEmpty(queue);
  }

  #slots(endpoint: EndpointId): number {
    return this.#options.isFailing(endpoint) ? 1 : this.#paces.slots(endpoint);
  }

  #dropEmpty(queue: EndpointQueue): void {
    if (queue.waiting.length + queue.startedMs.size + queue.completing > 0) return;
    this.#queues.delete(queue.endpoint);
  }
}

function emptyQueue(account: AccountId, endpoint: EndpointId): EndpointQueue {
  return {
    endpoint,
    account,
    waiting: [],
    startedMs: new Map(),
    host: '',
    completing: 0,
    begunSinceRead: false,
    listed: false,
    slow: false,
  };
}
