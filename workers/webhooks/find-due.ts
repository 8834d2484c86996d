import type { EndpointId } from '../../shared/runtime/ids.ts';
import type { DeliveryDocument } from '../../shared/webhooks/delivery.ts';
import type { EndpointRange } from '../../shared/webhooks/delivery-store.ts';

export interface DueFinderOptions {
  findInRange(range: EndpointRange, limit: number): Promise<readonly DeliveryDocument[]>;
  findOf(endpoint: EndpointId, limit: number): Promise<readonly DeliveryDocument[]>;
  /** Whether this process posts to the endpoint. */
  owns(endpoint: EndpointId): boolean;
  /** How many to read for an endpoint; 0 when it has enough in hand. */
  wanted(endpoint: EndpointId): number;
  /** Takes a delivery in hand; false when it is there already or there is no room. */
  take(delivery: DeliveryDocument): boolean;
}

/** Deliveries per read of the walk. Most endpoints have one or two due: a page serves a hundred of them. */
const PAGE = 256;
/** From so many in one page on an endpoint is heavy: a read of its own costs less than to walk over them again and again. */
const HEAVY = 64;
/** How many rounds a large backlog of somebody else's endpoint is walked around before it is looked at again. */
const FOREIGN_ROUNDS = 200;

/**
 * Finds due deliveries by walking the index `{endpoint, due}` in pages. An endpoint with a backlog (`HEAVY`) is *heavy*: the
 * walk goes around it (one read per gap between heavy ones), and it is read by itself, only when its lane wants more. So a
 * round costs one read while there is little, and neither a backlog of a million nor many of a hundred that wait for slow
 * receivers are walked over.
 */
export class DueFinder {
  readonly #options: DueFinderOptions;
  /** Heavy endpoints, with the rounds that those of others are still left alone. */
  readonly #heavy = new Map<EndpointId, number>();

  constructor(options: DueFinderOptions) {
    this.#options = options;
  }

  /** One round; returns how many deliveries were taken in hand. */
  async round(): Promise<number> {
    const heavy = [...this.#heavy.keys()].sort();
    const taken = await Promise.all([
      ...['', ...heavy].map((after, i) => this.#walk(after, heavy[i])),
      ...heavy.map((endpoint) => this.#refill(endpoint)),
    ]);
    return taken.reduce((sum, count) => sum + count, 0);
  }

  async #walk(after: string, before: EndpointId | undefined): Promise<number> {
    let taken = 0;
    let from = after;
    for (;;) {
      const page = await this.#options.findInRange({ after: from, before }, PAGE);
      taken += this.#take(page);
      for (const endpoint of heavyIn(page)) this.#heavy.set(endpoint, FOREIGN_ROUNDS);
      const last = page.at(-1)?.endpoint;
      if (page.length < PAGE || last === undefined) return taken;
      // The page may have cut the last endpoint short: go on before it, so that the next page has all of it.
      const previous = page.findLast(({ endpoint }) => endpoint !== last)?.endpoint;
      from = previous ?? last;
    }
  }

  async #refill(endpoint: EndpointId): Promise<number> {
    if (!this.#options.owns(endpoint)) {
      const rounds = this.#heavy.get(endpoint) ?? 0;
      if (rounds > 0) this.#heavy.set(endpoint, rounds - 1);
      else this.#heavy.delete(endpoint);
      return 0;
    }
    const limit = this.#options.wanted(endpoint);
    if (limit === 0) return 0;
    const due = await this.#options.findOf(endpoint, limit);
    if (due.length < limit && due.length < HEAVY) this.#heavy.delete(endpoint);
    return this.#take(due);
  }

  #take(due: readonly DeliveryDocument[]): number {
    let taken = 0;
    for (const delivery of due) if (this.#options.owns(delivery.endpoint) && this.#options.take(delivery)) taken++;
    return taken;
  }
}

function heavyIn(page: readonly DeliveryDocument[]): readonly EndpointId[] {
  const counts = new Map<EndpointId, number>();
  for (const { endpoint } of page) counts.set(endpoint, (counts.get(endpoint) ?? 0) + 1);
  return [...counts].flatMap(([endpoint, count]) => (count >= HEAVY ? [endpoint] : []));
}
