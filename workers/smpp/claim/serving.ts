import type { Db } from 'mongodb';
import { readBindReports } from '../../../shared/carriers/bind-report.ts';
import { type CarrierDocument, carrierLease } from '../../../shared/carriers/carrier.ts';
import {
  type Availabilities,
  availabilityOf,
  isWorthWaiting,
  mayTake,
} from '../../../shared/carriers/routing/availability.ts';
import { MAX_CARRIERS } from '../../../shared/carriers/routing/route.ts';
import { listRoutes } from '../../../shared/carriers/routing/store.ts';
import { placementOf, RouteTable } from '../../../shared/carriers/routing/table.ts';
import type { MessageDocument } from '../../../shared/messages/document/message.ts';
import type { Daytime } from '../../../shared/messages/document/routing.ts';
import { heldEpochs } from '../../../shared/platform/leases/lease.ts';
import type { Clock } from '../../../shared/platform/runtime/clock.ts';

/**
 * By the routes and the state of the other carriers. One per process, read again every second: a carrier takes over for
 * another, and gives back, within a second or two, without rewriting messages.
 */
export class Serving {
  readonly #db: Db;
  readonly #clock: Clock;
  #table = new RouteTable([], []);
  #availabilities: Availabilities = new Map();
  readonly #unheldSince = new Map<string, Date>();
  /** The paths of each carrier by its breaker's state, until the next refresh. */
  #paths = new Map<string, readonly string[]>();

  constructor({ db, clock }: { readonly db: Db; readonly clock: Clock }) {
    this.#db = db;
    this.#clock = clock;
  }

  /** Rejects with the store's error. The earlier result then stays in use. */
  async refresh(carriers: readonly CarrierDocument[]): Promise<void> {
    const routes = await listRoutes(this.#db);
    // A single carrier has no other to give paths to.
    const availabilities = carriers.length < 2 ? new Map() : await this.#readAvailabilities(carriers);
    this.#table = new RouteTable(routes, carriers);
    this.#availabilities = availabilities;
    this.#paths = new Map();
  }

  /** The paths that a bound carrier takes from now. `as`: `up` while its breaker is closed. */
  paths(carrier: string, as: 'up' | 'tripped'): readonly string[] {
    const key = `${carrier}/${as}`;
    const known = this.#paths.get(key);
    if (known !== undefined) return known;
    const now = this.#clock.now();
    const paths = [...this.#table.served].flatMap(([path, carriers]) => {
      if (!carriers.includes(carrier)) return [];
      return mayTake(path, carriers, carrier, as, this.#availabilities, now) ? path : [];
    });
    this.#paths.set(key, paths.sort());
    return paths;
  }

  /** The path of the next carrier after a refusal. Undefined after too many, or if no other takes it soon. */
  next(message: MessageDocument): string | undefined {
    const { path, claim, attempts = [] } = message;
    if (claim === undefined || attempts.length + 1 >= MAX_CARRIERS) return undefined;
    const next = this.#table.after(path, claim.carrier);
    if (next === undefined) return undefined;
    // If routes changed since the accept, maintenance will move the message to the path that they say now.
    const served = this.#table.served.has(next)
      ? next
      : placementOf(this.#table, { ...message, attempts: [...attempts, claim] }).path;
    const carriers = this.#table.served.get(served) ?? [];
    return isWorthWaiting(carriers, this.#availabilities, this.#clock.now()) ? next : undefined;
  }

  daytimeOf(message: MessageDocument): Daytime | undefined {
    return this.#table.daytimeOf(message);
  }

  async #readAvailabilities(carriers: readonly CarrierDocument[]): Promise<Availabilities> {
    const now = this.#clock.now();
    const leases = carriers.map(({ _id }) => carrierLease(_id));
    const [epochs, reports] = await Promise.all([heldEpochs(this.#db, leases, now), readBindReports(this.#db)]);
    return new Map(
      carriers.map((carrier) => {
        const epoch = epochs.get(carrierLease(carrier._id));
        const since = epoch === undefined ? (this.#unheldSince.get(carrier._id) ?? now) : undefined;
        if (since === undefined) this.#unheldSince.delete(carrier._id);
        else this.#unheldSince.set(carrier._id, since);
        return [carrier._id, availabilityOf(carrier, epoch, reports.get(carrier._id), now, since)];
      }),
    );
  }
}
