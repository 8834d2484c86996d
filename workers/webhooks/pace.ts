import type { EndpointId } from '../../shared/runtime/ids.ts';

/** How many posts in flight an endpoint begins with. A receiver of a few processes takes them. */
const FIRST_SLOTS = 8;
/** The weight of a new answer in an average. */
const PART = 0.05;
/** Answers take longer if their average is above `LONGER_TIMES` times the average with few posts in flight, plus `LONGER_MS`. */
const LONGER_TIMES = 1.5;
const LONGER_MS = 20;
/** The pace of an endpoint without an answer for this long is forgotten. */
const FORGOTTEN_MS = 60_000;

interface EndpointPace {
  slots: number;
  /** Moving average of the time that an answer takes. */
  averageMs: number;
  /**
   * The average while the endpoint may have no more in flight than at first. It is lowered when a later average is lower: the
   * first answers also wait for connections.
   */
  withFewMs: number;
  /** When it answered last. */
  lastMs: number;
}

/**
 * How many posts each endpoint may have in flight. The number grows by one for each round of answers while more deliveries wait, as
 * long as answers take no longer than with few posts in flight: then the posts do not wait for each other in the receiver. It falls
 * by one while answers take longer, because then the posts do wait for each other (TCP Vegas reads delay in this way: Brakmo and
 * Peterson 1995). After a failure it begins anew.
 */
export class Paces {
  readonly #most: number;
  /** In the order of their last answers. */
  readonly #paces = new Map<EndpointId, EndpointPace>();

  /** `most`: the most posts in flight to one endpoint. */
  constructor(most: number) {
    this.#most = most;
  }

  slots(endpoint: EndpointId): number {
    return Math.floor(this.#paces.get(endpoint)?.slots ?? this.#first);
  }

  /** A post was acknowledged after `tookMs`. `full`: the endpoint had as many in flight as it may, and more waited. */
  acknowledged(endpoint: EndpointId, tookMs: number, full: boolean, nowMs: number): void {
    const pace = this.#paces.get(endpoint) ?? {
      slots: this.#first,
      lastMs: nowMs,
      averageMs: tookMs,
      withFewMs: tookMs,
    };
    const { slots } = pace;
    pace.averageMs += (tookMs - pace.averageMs) * PART;
    if (slots === this.#first || pace.averageMs < pace.withFewMs) pace.withFewMs = pace.averageMs;
    const isLonger = pace.averageMs > pace.withFewMs * LONGER_TIMES + LONGER_MS;
    if (isLonger) pace.slots = Math.max(slots - 1 / slots, this.#first);
    else if (full) pace.slots = Math.min(slots + 1 / slots, this.#most);
    pace.lastMs = nowMs;
    this.#paces.delete(endpoint);
    this.#paces.set(endpoint, pace);
  }

  failed(endpoint: EndpointId): void {
    this.#paces.delete(endpoint);
  }

  /** Forgets endpoints that had no answer for a minute. */
  forgetIdle(nowMs: number): void {
    for (const [endpoint, { lastMs }] of this.#paces) {
      if (nowMs - lastMs <= FORGOTTEN_MS) return;
      this.#paces.delete(endpoint);
    }
  }

  get #first(): number {
    return Math.min(FIRST_SLOTS, this.#most);
  }
}
