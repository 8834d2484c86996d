import type { EndpointDocument } from '../../shared/events/webhooks/endpoint.ts';
import { noTarget, openTarget, type PostTarget, type TargetDeps } from '../../shared/events/webhooks/target.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import { FreshCache } from '../../shared/platform/runtime/fresh-cache.ts';
import type { EndpointId } from '../../shared/platform/runtime/ids.ts';

/** An endpoint as last read. If nothing can be posted (`problem`), a try fails at once, and the schedule repeats it. */
export interface Target extends PostTarget {
  /** `judge.ts` updates both between two reads. */
  active: boolean;
  failingSince: Date | undefined;
}

export interface TargetsOptions extends TargetDeps {
  readonly clock: Clock;
  findEndpoints(ids: readonly EndpointId[]): Promise<readonly EndpointDocument[]>;
}

/** The worker learns of a disabled endpoint or a rotated secret within this time, of an enabled endpoint at once. */
const FRESH_MS = 2_000;
const ENDPOINTS_MAX = 10_000;

export class Targets {
  readonly #options: TargetsOptions;
  readonly #cache: FreshCache<EndpointId, Target>;
  #wanted: ReadonlyMap<EndpointId, Target> = new Map();
  #refreshed = false;

  constructor(options: TargetsOptions) {
    this.#options = options;
    this.#cache = new FreshCache({
      clock: options.clock,
      freshMs: FRESH_MS,
      maxEntries: ENDPOINTS_MAX,
      readMany: (ids) => this.#read(ids),
      // An inactive endpoint may be enabled or registered again. What is due from then on must not be discarded.
      isBrief: ({ active }) => !active,
    });
  }

  /** Whether endpoints were read after the deliveries in hand were found: then inactive ones' may be discarded. */
  get refreshed(): boolean {
    return this.#refreshed;
  }

  /** Call it before deliveries are looked for. */
  outdate(): void {
    this.#refreshed = false;
  }

  get(id: EndpointId): Target | undefined {
    return this.#wanted.get(id) ?? this.#cache.last(id);
  }

  /** Call it when the endpoint is disabled in the store: it may be enabled at any time. */
  forget(id: EndpointId): void {
    this.#cache.forget(id);
  }

  async refresh(ids: Iterable<EndpointId>): Promise<void> {
    this.#wanted = await this.#cache.getMany(ids);
    this.#refreshed = true;
  }

  /** An endpoint that no longer exists counts as disabled. */
  async #read(ids: readonly EndpointId[]): Promise<ReadonlyMap<EndpointId, Target>> {
    const targets = new Map(ids.map((id) => [id, gone(id)]));
    for (const endpoint of await this.#options.findEndpoints(ids)) {
      const { status, failingSince } = endpoint;
      targets.set(endpoint._id, { ...openTarget(endpoint, this.#options), active: status === 'active', failingSince });
    }
    return targets;
  }
}

function gone(id: EndpointId): Target {
  return { ...noTarget(id), active: false, failingSince: undefined };
}
