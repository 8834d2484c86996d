import type { EndpointRange, Stored } from '../../shared/events/webhooks/delivery.ts';
import type { EndpointId } from '../../shared/platform/runtime/ids.ts';

export interface DueFinderOptions {
  findInRange(range: EndpointRange, limit: number): Promise<readonly Stored[]>;
  findOf(endpoints: readonly EndpointId[], limit: number): Promise<readonly Stored[]>;
  owns(endpoint: EndpointId): boolean;
  wanted(endpoint: EndpointId): number;
  /** Takes a document: one delivery, or a group. False when it is already held or there is no room. */
  take(delivery: Stored): boolean;
}

/** Deliveries per read of the walk. Most endpoints have one or two due, so a page serves a hundred of them. */
const PAGE = 256;
/** An endpoint with this many deliveries in a full page is heavy: it costs less to read it apart. */
const HEAVY = 8;
/**
 * On a page that is not full, an endpoint is heavy with this many deliveries that cannot be taken (already held, or the
 * queue is full). Such a page has all that is due, so what can be taken is gone from the next one. For endpoints of
 * other processes `HEAVY` counts on these pages too.
 */
const HEAVY_HELD = 32;
/** If the last round read at most this many, an endpoint with fewer than `HEAVY_HELD` untakable ones is not heavy. */
const LITTLE = PAGE / 2;
/** For how many rounds the walk skips a heavy endpoint of another process before it looks at it again. */
const FOREIGN_ROUNDS = 200;
/** Limits of the walk in one round: gaps between heavy endpoints (a page each), and further pages. */
const GAPS = 32;
const FURTHER_PAGES = 4;
/** Remembered endpoints that recently had something due, read apart while a walk is spread over rounds. */
const RECENT_MAX = 1_024;
const RECENT_AT_ONCE = 128;

interface Read {
  readonly due: number;
  readonly taken: number;
}

const NOT_READ: Read = { due: 0, taken: 0 };

/**
 * Finds due deliveries by walking the index `{endpoint, due}` in pages. An endpoint with a backlog (`HEAVY`,
 * `HEAVY_HELD`) is *heavy*: the walk skips it, and it is read apart, only when its queue wants more. So a round costs
 * one read while little is due, and deliveries that wait for slow receivers are not read again and again. A walk too
 * long for one round is spread over several; meanwhile each round also reads endpoints that recently had something due.
 */
export class DueFinder {
  readonly #options: DueFinderOptions;
  /** Heavy endpoints. If other processes hold one: for how many more rounds the walk skips it. */
  readonly #heavy = new Map<EndpointId, number>();
  /** Endpoints in the order in which a delivery was last taken from them. */
  readonly #recent = new Set<EndpointId>();
  #lastDue = 0;
  /** The endpoint after which the walk continues; empty at the beginning. */
  #position = '';

  constructor(options: DueFinderOptions) {
    this.#options = options;
  }

  get underway(): boolean {
    return this.#position !== '';
  }

  /** Returns how many deliveries were taken. */
  async round(): Promise<number> {
    const heavy = [...this.#heavy.keys()];
    const whole = this.#position === '' && heavy.length < GAPS;
    const reads = await Promise.all([
      this.#walk(heavy.sort()),
      ...(whole ? [] : this.#askRecent()),
      ...heavy.map((endpoint) => this.#refill(endpoint)),
    ]);
    const { due, taken } = sumOf(reads);
    this.#lastDue = due;
    return taken;
  }

  async #walk(heavy: readonly EndpointId[]): Promise<Read> {
    const bounds = heavy.filter((endpoint) => endpoint > this.#position);
    const gaps = [this.#position, ...bounds].slice(0, GAPS).map((after, i) => ({ after, before: bounds[i] }));
    const budget = { pages: FURTHER_PAGES };
    const walked = await Promise.all(gaps.map((gap) => this.#walkGap(gap, budget)));
    const stopped = walked.find(({ stoppedAt }) => stoppedAt !== undefined)?.stoppedAt;
    // After the last heavy endpoint the walk begins again.
    this.#position = stopped ?? gaps.at(-1)?.before ?? '';
    return sumOf(walked);
  }

  async #walkGap(
    { after, before }: EndpointRange,
    budget: { pages: number },
  ): Promise<Read & { readonly stoppedAt?: string }> {
    let [due, taken] = [0, 0];
    let from = after;
    do {
      const page = await this.#options.findInRange({ after: from, before }, PAGE);
      due += page.length;
      taken += this.#takeFrom(page, PAGE).taken;
      const last = page.at(-1)?.endpoint;
      if (page.length < PAGE || last === undefined) return { due, taken };
      // The page may lack some deliveries of its last endpoint, so the next page begins before that endpoint.
      from = page.findLast(({ endpoint }) => endpoint !== last)?.endpoint ?? last;
    } while (budget.pages-- > 0);
    return { due, taken, stoppedAt: from };
  }

  #askRecent(): readonly Promise<Read>[] {
    const { findOf, owns, wanted } = this.#options;
    const asked = [...this.#recent].filter((id) => owns(id) && !this.#heavy.has(id) && wanted(id) > 0);
    const reads: Promise<Read>[] = [];
    for (let first = 0; first < asked.length; first += RECENT_AT_ONCE) {
      const some = asked.slice(first, first + RECENT_AT_ONCE);
      const limit = some.length * HEAVY;
      reads.push(findOf(some, limit).then((due) => this.#takeFrom(due, limit)));
    }
    return reads;
  }

  async #refill(endpoint: EndpointId): Promise<Read> {
    if (!this.#options.owns(endpoint)) {
      const rounds = this.#heavy.get(endpoint) ?? 0;
      if (rounds > 0) this.#heavy.set(endpoint, rounds - 1);
      else this.#heavy.delete(endpoint);
      return NOT_READ;
    }
    const limit = this.#options.wanted(endpoint);
    if (limit === 0) return NOT_READ;
    const due = await this.#options.findOf([endpoint], limit);
    const left = this.#take(due);
    const light = due.length < HEAVY || (left.length < HEAVY_HELD && this.#lastDue <= LITTLE);
    if (due.length < limit && light) this.#heavy.delete(endpoint);
    return { due: due.length, taken: due.length - left.length };
  }

  #takeFrom(due: readonly Stored[], limit: number): Read {
    const left = this.#take(due);
    const isFull = due.length === limit;
    for (const [endpoint, count] of countsOf(isFull ? due : left)) {
      const least = isFull || !this.#options.owns(endpoint) ? HEAVY : HEAVY_HELD;
      if (count >= least) this.#heavy.set(endpoint, FOREIGN_ROUNDS);
    }
    return { due: due.length, taken: due.length - left.length };
  }

  /** Returns those that could not be taken. */
  #take(due: readonly Stored[]): readonly Stored[] {
    return due.filter((delivery) => {
      if (!this.#options.owns(delivery.endpoint) || !this.#options.take(delivery)) return true;
      this.#remember(delivery.endpoint);
      return false;
    });
  }

  #remember(endpoint: EndpointId): void {
    this.#recent.delete(endpoint);
    this.#recent.add(endpoint);
    const [oldest] = this.#recent;
    if (this.#recent.size > RECENT_MAX && oldest !== undefined) this.#recent.delete(oldest);
  }
}

function sumOf(reads: readonly Read[]): Read {
  return reads.reduce((sum, { due, taken }) => ({ due: sum.due + due, taken: sum.taken + taken }), NOT_READ);
}

function countsOf(deliveries: readonly Stored[]): ReadonlyMap<EndpointId, number> {
  const counts = new Map<EndpointId, number>();
  for (const { endpoint } of deliveries) counts.set(endpoint, (counts.get(endpoint) ?? 0) + 1);
  return counts;
}
