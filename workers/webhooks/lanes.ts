import type { EndpointId } from '../../shared/runtime/ids.ts';
import type { DeliveryDocument, DeliveryId } from '../../shared/webhooks/delivery.ts';

/**
 * The deliveries that this process has in hand, one lane per endpoint: queued → in flight → completing → forgotten. A
 * delivery in hand is not taken again. Lanes are served round robin, each with a limit, so that a slow or dead endpoint's
 * backlog stands before nobody.
 */
export interface LanesOptions {
  /** Posts in flight to one healthy endpoint. */
  readonly perEndpoint: number;
  /** Whether an endpoint's last post failed: then one post at a time finds out whether it is back. */
  isFailing(endpoint: EndpointId): boolean;
}

interface Lane {
  readonly endpoint: EndpointId;
  readonly queue: DeliveryDocument[];
  inFlight: number;
  completing: number;
  /** Whether it stands in the round. */
  listed: boolean;
}

/** Posts in flight at a time, all endpoints together: a socket and some 20 KB each. */
export const IN_FLIGHT_MAX = 512;
/** From here on every endpoint gets one slot, so that a few accounts with slow receivers cannot fill all. */
const IN_FLIGHT_CROWDED = IN_FLIGHT_MAX / 2;
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
  #round: Lane[] = [];
  #queued = 0;
  #inFlight = 0;
  #completing = 0;

  constructor(options: LanesOptions) {
    this.#options = options;
  }

  get queued(): number {
    return this.#queued;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  endpoints(): Iterable<EndpointId> {
    return this.#lanes.keys();
  }

  /** Deliveries in hand of the endpoints that fit, whatever their stage. */
  inHand(fits: (endpoint: EndpointId) => boolean): number {
    let count = 0;
    for (const lane of this.#lanes.values()) {
      if (fits(lane.endpoint)) count += lane.queue.length + lane.inFlight + lane.completing;
    }
    return count;
  }

  /** How many of the endpoint's oldest due deliveries to read for its queue to be full; 0 while it has enough. */
  wanted(endpoint: EndpointId): number {
    const lane = this.#lanes.get(endpoint);
    const full = this.#slots(endpoint) * QUEUED_PER_SLOT;
    if (lane === undefined) return full;
    // Those in hand are still due in the store, and are read again before the new ones.
    return lane.queue.length < full / 4 ? full + lane.inFlight + lane.completing : 0;
  }

  /** Puts a due delivery at its lane's end. Returns false when it is in hand already or the lane is full. */
  add(delivery: DeliveryDocument): boolean {
    const { _id, endpoint } = delivery;
    if (this.#inHand.has(_id)) return false;
    const lane = this.#lanes.get(endpoint) ?? { endpoint, queue: [], inFlight: 0, completing: 0, listed: false };
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
    this.#list(lane);
    return true;
  }

  /** The next delivery to post, which is in flight from now on; undefined when there is none that may. */
  next(): DeliveryDocument | undefined {
    while (this.#inFlight < IN_FLIGHT_MAX && this.#completing < COMPLETING_MAX) {
      const lane = this.#round.shift();
      if (lane === undefined) return undefined;
      lane.listed = false;
      if (lane.inFlight >= this.#slots(lane.endpoint)) continue; // Listed again when one of its posts ends.
      const delivery = lane.queue.shift();
      if (delivery === undefined) continue;
      this.#queued--;
      lane.inFlight++;
      this.#inFlight++;
      this.#list(lane);
      return delivery;
    }
    return undefined;
  }

  /** The post is over; the delivery stays in hand until its completion is written. */
  posted({ endpoint }: DeliveryDocument): void {
    const lane = this.#lanes.get(endpoint);
    if (lane === undefined) return;
    lane.inFlight--;
    this.#inFlight--;
    lane.completing++;
    this.#completing++;
    this.#list(lane);
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
    return this.#inFlight >= IN_FLIGHT_CROWDED || this.#options.isFailing(endpoint) ? 1 : this.#options.perEndpoint;
  }

  #list(lane: Lane): void {
    if (lane.listed || lane.queue.length === 0) return;
    lane.listed = true;
    this.#round.push(lane);
  }

  #dropEmpty(lane: Lane): void {
    if (lane.queue.length + lane.inFlight + lane.completing > 0) return;
    this.#lanes.delete(lane.endpoint);
    if (lane.listed) this.#round = this.#round.filter((other) => other !== lane);
  }
}
