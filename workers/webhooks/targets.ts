import type { Clock } from '../../shared/runtime/clock.ts';
import { FreshCache } from '../../shared/runtime/fresh-cache.ts';
import type { EndpointId } from '../../shared/runtime/ids.ts';
import { errorFields, type Log } from '../../shared/runtime/log.ts';
import type { SecretBox } from '../../shared/runtime/secret-box.ts';
import { type AddressGuard, literalAddress } from '../../shared/webhooks/address-guard.ts';
import type { EndpointDocument } from '../../shared/webhooks/endpoint.ts';
import { secretKey } from '../../shared/webhooks/sign.ts';

/**
 * An endpoint prepared for posting: its URL is parsed and its secrets are decrypted. Kept for seconds, in this
 * process only.
 */
export interface Target {
  readonly id: EndpointId;
  /** The part of the URL that may be logged. */
  readonly host: string;
  /** The host without its port. IPv6 addresses have no brackets. */
  readonly hostname: string;
  readonly origin: string;
  readonly path: string;
  readonly keys: readonly { readonly key: Buffer; readonly expiresAt?: Date }[];
  /** Why nothing can be posted (`refused_url`, `no_secret`). A try then fails at once, and the schedule repeats it. */
  readonly problem?: string;
  /** health.ts updates it between two reads. */
  active: boolean;
  failingSince: Date | undefined;
}

export interface TargetsOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly box: SecretBox;
  readonly guard: AddressGuard;
  findEndpoints(ids: readonly EndpointId[]): Promise<readonly EndpointDocument[]>;
}

/** The worker learns of a disabled endpoint or a rotated secret within this time. */
const FRESH_MS = 2_000;
/** How many other endpoints are remembered, in addition to those of the last read. */
const ENDPOINTS_MAX = 10_000;

export class Targets {
  readonly #options: TargetsOptions;
  readonly #cache: FreshCache<EndpointId, Target>;
  #wanted: ReadonlyMap<EndpointId, Target> = new Map();

  constructor(options: TargetsOptions) {
    this.#options = options;
    this.#cache = new FreshCache({
      clock: options.clock,
      freshMs: FRESH_MS,
      maxEntries: ENDPOINTS_MAX,
      readMany: (ids) => this.#read(ids),
    });
  }

  /** The endpoint as it was last read. */
  get(id: EndpointId): Target | undefined {
    return this.#wanted.get(id) ?? this.#cache.last(id);
  }

  /** Reads those of `ids` that are not fresh, by one query. */
  async refresh(ids: Iterable<EndpointId>): Promise<void> {
    this.#wanted = await this.#cache.getMany(ids);
  }

  /** An endpoint that no longer exists counts as disabled. */
  async #read(ids: readonly EndpointId[]): Promise<ReadonlyMap<EndpointId, Target>> {
    const targets = new Map(ids.map((id) => [id, gone(id)]));
    for (const endpoint of await this.#options.findEndpoints(ids)) targets.set(endpoint._id, this.#open(endpoint));
    return targets;
  }

  #open(endpoint: EndpointDocument): Target {
    const base = {
      id: endpoint._id,
      active: endpoint.status === 'active',
      failingSince: endpoint.failingSince,
    };
    if (!this.#options.guard.checkForm(endpoint.url).ok) return { ...gone(base.id), ...base, problem: 'refused_url' };
    const url = new URL(endpoint.url);
    const hostname = literalAddress(url.hostname) ?? url.hostname;
    const address = { host: url.host, hostname, origin: url.origin, path: url.pathname + url.search };
    try {
      const keys = endpoint.secrets.map(({ sealed, expiresAt }) => ({
        key: secretKey(this.#options.box.open(sealed)),
        ...(expiresAt === undefined ? {} : { expiresAt }),
      }));
      return { ...base, ...address, keys };
    } catch (error) {
      this.#options.log.error('secret_unreadable', { endpoint: base.id, ...errorFields(error) });
      return { ...base, ...address, keys: [], problem: 'no_secret' };
    }
  }
}

function gone(id: EndpointId): Target {
  return { id, host: '', hostname: '', origin: '', path: '', keys: [], active: false, failingSince: undefined };
}
