import type { Clock } from '../../shared/runtime/clock.ts';
import type { EndpointId } from '../../shared/runtime/ids.ts';
import { errorFields, type Log } from '../../shared/runtime/log.ts';
import type { SecretBox } from '../../shared/runtime/secret-box.ts';
import { type AddressGuard, literalAddress } from '../../shared/webhooks/address-guard.ts';
import type { EndpointDocument } from '../../shared/webhooks/endpoint.ts';
import { secretKey } from '../../shared/webhooks/sign.ts';

/** An endpoint made ready for posting: its url taken apart, its secrets opened. Lives for seconds, in this process only. */
export interface Target {
  readonly id: EndpointId;
  /** What may be logged of the url. */
  readonly host: string;
  /** Without the port, IPv6 without brackets. */
  readonly hostname: string;
  readonly origin: string;
  readonly path: string;
  readonly keys: readonly { readonly key: Buffer; readonly expiresAt?: Date }[];
  /** Why nothing can be posted (`refused_url`, `no_secret`): such a try fails at once and is made again by the schedule. */
  readonly problem?: string;
  /** Kept up to date by health.ts between two readings. */
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

/** A disabled endpoint or a rotated secret is known to the worker at the latest then. */
const FRESH_MS = 2_000;

interface Reading {
  readonly target: Target;
  readonly atMs: number;
}

export class Targets {
  readonly #options: TargetsOptions;
  readonly #readings = new Map<EndpointId, Reading>();

  constructor(options: TargetsOptions) {
    this.#options = options;
  }

  get(id: EndpointId): Target | undefined {
    return this.#readings.get(id)?.target;
  }

  /** Reads in one query those of `ids` that are not fresh; forgets what is neither fresh nor asked for. An endpoint that is gone counts as disabled. */
  async refresh(ids: Iterable<EndpointId>): Promise<void> {
    const nowMs = this.#options.clock.monotonicMs();
    const wanted = new Set(ids);
    const stale: EndpointId[] = [];
    for (const id of wanted) if (!this.#isFresh(this.#readings.get(id), nowMs)) stale.push(id);
    if (stale.length === 0) return;
    for (const [id, reading] of this.#readings) {
      if (!wanted.has(id) && !this.#isFresh(reading, nowMs)) this.#readings.delete(id);
    }
    const found = new Map((await this.#options.findEndpoints(stale)).map((endpoint) => [endpoint._id, endpoint]));
    for (const id of stale) {
      const endpoint = found.get(id);
      this.#readings.set(id, { target: endpoint === undefined ? gone(id) : this.#open(endpoint), atMs: nowMs });
    }
  }

  #isFresh(reading: Reading | undefined, nowMs: number): boolean {
    return reading !== undefined && nowMs - reading.atMs < FRESH_MS;
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
