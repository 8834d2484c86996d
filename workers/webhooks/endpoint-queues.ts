import type { AccountId, EndpointId } from '../../shared/runtime/ids.ts';
import type { DeliveryDocument, DeliveryId } from '../../shared/webhooks/delivery.ts';
import { InFlightCounts, type Sender } from './in-flight.ts';
import { fullFor, SHARED } from './quota.ts';
import { type Rotating, Rotation } from './rotation.ts';

/**
 * The deliveries that this process has in hand, one queue per endpoint: queued → in flight → completing → forgotten. A
 * delivery in hand is not taken again. The accounts are served in rotation, and the queues of each account too; quota.ts decides
 * how many posts an endpoint, an account and an address may have in flight, so that a slow or dead one delays no other.
 */
export interface EndpointQueuesOptions {
  /** Posts in flight to one healthy endpoint. */
  readonly perEndpoint: number;
  /** Whether an endpoint's last post failed: then one post at a time finds out whether it is back. */
  isFailing(endpoint: EndpointId): boolean;
  /** The host that an endpoint's posts go to, always the same; undefined while it is not known. */
  hostOf(endpoint: EndpointId): string | undefined;
  nowMs(): number;
}

interface EndpointQueue extends Sender, Rotating {
  readonly endpoint: EndpointId;
  readonly waiting: DeliveryDocument[];
  host: string;
  completing: number;
  /** Whether a post has begun since its deliveries were read last. */
  moved: boolean;
}

/**
 * Posts whose completion is not written yet: beyond that the store is behind, and nothing new starts. A crash makes at
 * most these, and those in flight, be posted twice.
 */
export const COMPLETING_MAX = 256;
/** Queued deliveries for each post that the endpoint may have in flight; a queue asks for more at a quarter of that. */
const QUEUED_PER_SLOT = 32;
/** Queued deliveries of all endpoints together, some kilobytes each; an endpoint may always have a few. */
const QUEUED_MAX = 20_000;
const QUEUED_ALWAYS = 8;

export class EndpointQueues {
  readonly #options: EndpointQueuesOptions;
  readonly #queues = new Map<EndpointId, EndpointQueue>();
  readonly #inHand = new Set<DeliveryId>();
  readonly #completed: DeliveryId[] = [];
  readonly #rotation = new Rotation<EndpointQueue>();
  readonly #inFlight = new InFlightCounts();
  #queued = 0;
  #completing = 0;

  constructor(options: EndpointQueuesOptions) {
    this.#options = options;
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

  /** Deliveries in hand of the endpoints that fit, whatever their stage. */
  inHand(fits: (endpoint: EndpointId) => boolean): number {
    let count = 0;
    for (const queue of this.#queues.values()) {
      if (fits(queue.endpoint)) count += queue.waiting.length + queue.startedMs.size + queue.completing;
    }
    return count;
  }

  /**
   * How many of the endpoint's oldest due deliveries to read for its queue to be full; 0 while it has enough. To be followed by
   * that read: what waits for a slow receiver is not read again until some of it has left.
   */
  wanted(endpoint: EndpointId): number {
    const queue = this.#queues.get(endpoint);
    const full = this.#slots(endpoint) * QUEUED_PER_SLOT;
    if (queue === undefined) return full;
    if (queue.waiting.length > 0 && !queue.moved) return 0;
    queue.moved = false;
    // Those in hand are still due in the store, and are read again before the new ones.
    return queue.waiting.length < full / 4 ? full + queue.startedMs.size + queue.completing : 0;
  }

  /** Puts a due delivery at its queue's end. Returns false when it is in hand already or the queue is full. */
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

  /** The next delivery to post, which is in flight from now on; undefined when there is none that may. */
  next(): DeliveryDocument | undefined {
    while (this.#completing < COMPLETING_MAX) {
      const queue = this.#rotation.next();
      const [delivery] = queue?.waiting ?? [];
      if (queue === undefined) return undefined;
      if (delivery === undefined) continue;
      if (queue.startedMs.size === 0) queue.host = this.#options.hostOf(queue.endpoint) || queue.endpoint;
      const full = fullFor(this.#inFlight.of(queue), this.#slots(queue.endpoint), queue.slow);
      if (full === undefined) {
        queue.waiting.shift();
        this.#queued--;
        this.#inFlight.begin(queue, delivery._id, this.#options.nowMs());
        queue.moved = true;
        this.#rotation.list(queue);
        return delivery;
      }
      // What is full for one endpoint only holds nobody else: it is listed again when one of its posts ends.
      if (full !== 'endpoint') this.#rotation.hold(queue, this.#inFlight.nameOf(full, queue));
      if (full === 'process') return undefined;
    }
    return undefined;
  }

  /** The post is over; the delivery stays in hand until its completion is written. */
  posted({ _id, endpoint }: DeliveryDocument): void {
    const queue = this.#queues.get(endpoint);
    if (queue === undefined || !this.#inFlight.end(queue, _id, this.#options.nowMs())) return;
    queue.completing++;
    this.#completing++;
    // Before its own queue: they have waited for this longer.
    for (const full of SHARED) this.#rotation.release(this.#inFlight.nameOf(full, queue), 1);
    this.#rotation.list(queue);
  }

  /**
   * To be called often: sees which endpoints have become slow, and puts all that are held back into the rotation, because
   * what one may have in flight also grows when others have less.
   */
  review(): void {
    for (const queue of this.#queues.values()) this.#inFlight.review(queue, this.#options.nowMs());
    this.#rotation.releaseAll();
  }

  /** A connection of the host was made to this address. */
  connected(host: string, address: string): void {
    this.#inFlight.connected(host, address);
  }

  /**
   * The completion is written. The delivery stays known until `forgetCompleted`: a read that began before the write may
   * still bring it, and it would be posted again.
   */
  completed({ _id, endpoint }: DeliveryDocument): void {
    const queue = this.#queues.get(endpoint);
    if (queue === undefined) return;
    queue.completing--;
    this.#completing--;
    this.#completed.push(_id);
    this.#dropEmpty(queue);
  }

  /** To be called when no read is under way. What is found due from now on may be taken (again: it was replayed). */
  forgetCompleted(): void {
    for (const id of this.#completed) this.#inHand.delete(id);
    this.#completed.length = 0;
  }

  /** Lets go of what is queued for the endpoints that fit; what is in flight goes on. */
  letGo(fits: (endpoint: EndpointId) => boolean): void {
    for (const queue of this.#queues.values()) {
      if (queue.waiting.length === 0 || !fits(queue.endpoint)) continue;
      for (const { _id } of queue.waiting) this.#inHand.delete(_id);
      this.#queued -= queue.waiting.length;
      queue.waiting.length = 0;
      this.#dropEmpty(queue);
    }
  }

  #slots(endpoint: EndpointId): number {
    return this.#options.isFailing(endpoint) ? 1 : this.#options.perEndpoint;
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
    moved: false,
    listed: false,
    slow: false,
  };
}
