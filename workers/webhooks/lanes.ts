import type { AccountId, EndpointId } from '../../shared/runtime/ids.ts';
import type { DeliveryDocument, DeliveryId } from '../../shared/webhooks/delivery.ts';
import { InFlightCounts, type Sender } from './in-flight.ts';
import { fullFor, SHARED } from './share.ts';
import { Turns, type Waiting } from './turns.ts';

/**
 * The deliveries that this process has in hand, one lane per endpoint: queued → in flight → completing → forgotten. A
 * delivery in hand is not taken again. Accounts have their turns, and of an account its lanes; how many posts an endpoint, an
 * account and an address may have in flight is decided in share.ts, so that a slow or dead one stands before nobody.
 */
export interface LanesOptions {
  /** Posts in flight to one healthy endpoint. */
  readonly perEndpoint: number;
  /** Whether an endpoint's last post failed: then one post at a time finds out whether it is back. */
  isFailing(endpoint: EndpointId): boolean;
  /** The host that an endpoint's posts go to, always the same; undefined while it is not known. */
  hostOf(endpoint: EndpointId): string | undefined;
  nowMs(): number;
}

interface Lane extends Sender, Waiting {
  readonly endpoint: EndpointId;
  readonly queue: DeliveryDocument[];
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
/** Queued deliveries per slot of a lane; the lane asks for more at a quarter of that. */
const QUEUED_PER_SLOT = 32;
/** Queued deliveries of all lanes together, some kilobytes each; a lane may always have a few. */
const QUEUED_MAX = 20_000;
const QUEUED_ALWAYS = 8;

export class Lanes {
  readonly #options: LanesOptions;
  readonly #lanes = new Map<EndpointId, Lane>();
  readonly #inHand = new Set<DeliveryId>();
  readonly #completed: DeliveryId[] = [];
  readonly #turns = new Turns<Lane>();
  readonly #inFlight = new InFlightCounts();
  #queued = 0;
  #completing = 0;

  constructor(options: LanesOptions) {
    this.#options = options;
  }

  get queued(): number {
    return this.#queued;
  }

  get inFlight(): number {
    return this.#inFlight.all;
  }

  endpoints(): Iterable<EndpointId> {
    return this.#lanes.keys();
  }

  /** Deliveries in hand of the endpoints that fit, whatever their stage. */
  inHand(fits: (endpoint: EndpointId) => boolean): number {
    let count = 0;
    for (const lane of this.#lanes.values()) {
      if (fits(lane.endpoint)) count += lane.queue.length + lane.startedMs.size + lane.completing;
    }
    return count;
  }

  /**
   * How many of the endpoint's oldest due deliveries to read for its queue to be full; 0 while it has enough. To be followed by
   * that read: what waits for a slow receiver is not read again until some of it has left.
   */
  wanted(endpoint: EndpointId): number {
    const lane = this.#lanes.get(endpoint);
    const full = this.#slots(endpoint) * QUEUED_PER_SLOT;
    if (lane === undefined) return full;
    if (lane.queue.length > 0 && !lane.moved) return 0;
    lane.moved = false;
    // Those in hand are still due in the store, and are read again before the new ones.
    return lane.queue.length < full / 4 ? full + lane.startedMs.size + lane.completing : 0;
  }

  /** Puts a due delivery at its lane's end. Returns false when it is in hand already or the lane is full. */
  add(delivery: DeliveryDocument): boolean {
    const { _id, account, endpoint } = delivery;
    if (this.#inHand.has(_id)) return false;
    const lane = this.#lanes.get(endpoint) ?? emptyLane(account, endpoint);
    if (
      lane.queue.length >= QUEUED_ALWAYS &&
      (lane.queue.length >= this.#slots(endpoint) * QUEUED_PER_SLOT || this.#queued >= QUEUED_MAX)
    ) {
      return false;
    }
    this.#lanes.set(endpoint, lane);
    this.#inHand.add(_id);
    lane.queue.push(delivery);
    this.#queued++;
    this.#turns.list(lane);
    return true;
  }

  /** The next delivery to post, which is in flight from now on; undefined when there is none that may. */
  next(): DeliveryDocument | undefined {
    while (this.#completing < COMPLETING_MAX) {
      const lane = this.#turns.next();
      const [delivery] = lane?.queue ?? [];
      if (lane === undefined) return undefined;
      if (delivery === undefined) continue;
      if (lane.startedMs.size === 0) lane.host = this.#options.hostOf(lane.endpoint) || lane.endpoint;
      const full = fullFor(this.#inFlight.of(lane), this.#slots(lane.endpoint), lane.slow);
      if (full === undefined) {
        lane.queue.shift();
        this.#queued--;
        this.#inFlight.begin(lane, delivery._id, this.#options.nowMs());
        lane.moved = true;
        this.#turns.list(lane);
        return delivery;
      }
      // What is full for one endpoint only holds nobody else: it is listed again when one of its posts ends.
      if (full !== 'endpoint') this.#turns.hold(lane, this.#inFlight.nameOf(full, lane));
      if (full === 'process') return undefined;
    }
    return undefined;
  }

  /** The post is over; the delivery stays in hand until its completion is written. */
  posted({ _id, endpoint }: DeliveryDocument): void {
    const lane = this.#lanes.get(endpoint);
    if (lane === undefined || !this.#inFlight.end(lane, _id, this.#options.nowMs())) return;
    lane.completing++;
    this.#completing++;
    // Before the lane itself: they have waited for this longer.
    for (const full of SHARED) this.#turns.release(this.#inFlight.nameOf(full, lane), 1);
    this.#turns.list(lane);
  }

  /**
   * To be called often: sees which endpoints have become slow, and gives all that are held another turn, because what one may
   * have in flight also grows when others have less.
   */
  review(): void {
    for (const lane of this.#lanes.values()) this.#inFlight.review(lane, this.#options.nowMs());
    this.#turns.releaseAll();
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
    const lane = this.#lanes.get(endpoint);
    if (lane === undefined) return;
    lane.completing--;
    this.#completing--;
    this.#completed.push(_id);
    this.#dropEmpty(lane);
  }

  /** To be called when no read is under way. What is found due from now on may be taken (again: it was replayed). */
  forgetCompleted(): void {
    for (const id of this.#completed) this.#inHand.delete(id);
    this.#completed.length = 0;
  }

  /** Lets go of what is queued for the endpoints that fit; what is in flight goes on. */
  letGo(fits: (endpoint: EndpointId) => boolean): void {
    for (const lane of this.#lanes.values()) {
      if (lane.queue.length === 0 || !fits(lane.endpoint)) continue;
      for (const { _id } of lane.queue) this.#inHand.delete(_id);
      this.#queued -= lane.queue.length;
      lane.queue.length = 0;
      this.#dropEmpty(lane);
    }
  }

  #slots(endpoint: EndpointId): number {
    return this.#options.isFailing(endpoint) ? 1 : this.#options.perEndpoint;
  }

  #dropEmpty(lane: Lane): void {
    if (lane.queue.length + lane.startedMs.size + lane.completing > 0) return;
    this.#lanes.delete(lane.endpoint);
  }
}

function emptyLane(account: AccountId, endpoint: EndpointId): Lane {
  return {
    endpoint,
    account,
    queue: [],
    startedMs: new Map(),
    host: '',
    completing: 0,
    moved: false,
    listed: false,
    slow: false,
  };
}
