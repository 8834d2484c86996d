import type { Db } from 'mongodb';
import type { AddressGuard } from '../../shared/events/webhooks/address-guard.ts';
import {
  complete,
  findDueInRange,
  findDueOf,
  promoteRetries,
  replayPage,
} from '../../shared/events/webhooks/delivery.ts';
import { disableEndpoint, findEndpoints, noteHealth } from '../../shared/events/webhooks/endpoint-store.ts';
import { Poster } from '../../shared/events/webhooks/post.ts';
import {
  findRunningReplays,
  noteReplayed,
  type ReplayDocument,
  stopReplay,
} from '../../shared/events/webhooks/replay.ts';
import { noTarget } from '../../shared/events/webhooks/target.ts';
import { LeasedWorker, type LeasedWorkerOptions } from '../../shared/platform/leases/leased-worker.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import type { EndpointId } from '../../shared/platform/runtime/ids.ts';
import type { Found } from '../../shared/platform/runtime/poll-loop.ts';
import type { SecretBox } from '../../shared/platform/runtime/secret-box.ts';
import type { Tracer } from '../../shared/platform/runtime/tracer.ts';
import { Completer, createWebhookMetrics, Deliverer, type WebhookMetrics } from './deliver.ts';
import { EndpointQueues } from './endpoint-queues.ts';
import { DueFinder } from './find-due.ts';
import { Health } from './judge.ts';
import { Targets } from './targets.ts';

export interface WebhookWorkerOptions extends LeasedWorkerOptions {
  readonly box: SecretBox;
  readonly guard: AddressGuard;
  readonly tracer?: Tracer | undefined;
  /** Limit of one post as a whole. */
  readonly timeoutMs: number;
  /** The most posts in flight to one host. */
  readonly perHost: number;
  random(): number;
}

const IDLE_MS = 100;
/** Shortest time between the starts of two rounds, so that deliveries that come in between are read together. */
const GAP_MS = 40;
const RETRY_LOOK_MS = 250;
const RETRIES_PER_LOOK = 500;

/**
 * Posts the due deliveries of the endpoints in its partitions. A round finds due deliveries (find-due.ts) and queues
 * them by endpoint (endpoint-queues.ts). Posts begin as the queues allow (deliver.ts, post.ts). After a crash, the
 * deliveries that were held are still due.
 */
export class WebhookWorker extends LeasedWorker<EndpointId> {
  readonly #options: WebhookWorkerOptions;
  readonly #queues: EndpointQueues;
  readonly #targets: Targets;
  readonly #finder: DueFinder;
  readonly #poster: Poster;
  readonly #completer: Completer;
  readonly #deliverer: Deliverer;
  readonly #metrics: WebhookMetrics;
  readonly #replays: Replays;
  /** The partitions owned when the round began. Of later ones, a read can be older than the last holder's writes. */
  #owned: ReadonlySet<number> = new Set();
  #retriesLookedMs = Number.NEGATIVE_INFINITY;

  constructor(options: WebhookWorkerOptions) {
    super(options, {
      name: 'webhooks',
      idleMs: IDLE_MS,
      gapMs: { more: GAP_MS, idle: GAP_MS },
      hears: ['deliveries/due'],
    });
    const { db, log } = options;
    this.#options = options;
    this.#metrics = createWebhookMetrics(options.metrics);
    this.#replays = new Replays(options);
    this.#targets = new Targets({ ...options, findEndpoints: (ids) => findEndpoints(db, ids) });
    this.#queues = new EndpointQueues({
      perHost: options.perHost,
      isFailing: (endpoint) => this.#targets.get(endpoint)?.failingSince !== undefined,
      hostOf: (endpoint) => this.#targets.get(endpoint)?.hostname,
      sizeOf: (endpoint) => this.#targets.get(endpoint) ?? noTarget(endpoint),
      now: () => options.clock.now(),
    });
    this.#finder = new DueFinder({
      findInRange: (range, limit) => findDueInRange(db, range, limit, this.#queues.groups()),
      findOf: (endpoints, limit) => findDueOf(db, endpoints, limit, this.#queues.groups()),
      owns: (endpoint) => this.#owned.has(this.partitions.of(endpoint)) && this.partitions.owns(endpoint),
      wanted: (endpoint) => this.#queues.wanted(endpoint),
      take: (due) => this.#queues.add(due),
    });
    this.#poster = new Poster(options);
    this.#completer = new Completer({ log, write: (completions) => complete(db, completions) });
    this.#deliverer = new Deliverer({
      ...options,
      queues: this.#queues,
      targets: this.#targets,
      poster: this.#poster,
      completer: this.#completer,
      metrics: this.#metrics,
      health: new Health({
        log,
        noteFailingSince: (id, since) => noteHealth(db, id, since),
        disable: async (id, reason) => {
          await disableEndpoint(db, id, reason);
          this.#targets.forget(id);
        },
      }),
      owns: (endpoint) => this.partitions.owns(endpoint),
      random: () => options.random(),
    });
  }

  protected async round(): Promise<Found> {
    await this.#promoteRetries();
    const replays = this.partitions.first && (await this.#replays.round());
    this.#deliverer.drop((endpoint) => !this.partitions.owns(endpoint));
    this.#queues.forgetCompleted();
    this.#owned = this.partitions.owned();
    this.#targets.outdate();
    const found = await this.#finder.round();
    await this.#targets.refresh(this.#queues.endpoints());
    this.#deliverer.pump();
    const { queued, inFlight } = this.#queues;
    this.#metrics.now({ queued, inFlight, partitions: this.partitions.held });
    if (found > 0 || replays) return 'more';
    // Only another round can notice that a queue has become nearly empty.
    return queued > 0 || this.#finder.underway ? 'waiting' : 'idle';
  }

  protected hasInHand(fits: (endpoint: EndpointId) => boolean): boolean {
    return this.#queues.inHand(fits) > 0;
  }

  protected override close(): void {
    this.#deliverer.close();
  }

  protected override drain(): Promise<void> {
    this.#deliverer.drop(() => true);
    return this.#deliverer.drained();
  }

  /** Posts in flight end as failed tries. Each result is written once more: the stop has no time for repeats. */
  protected override async cutOff(): Promise<void> {
    await this.#poster.close();
    this.#completer.giveUp();
  }

  /** The worker of the first partition does it for all endpoints. */
  async #promoteRetries(): Promise<void> {
    const { clock, db } = this.#options;
    const nowMs = clock.monotonicMs();
    if (!this.partitions.first || nowMs - this.#retriesLookedMs < RETRY_LOOK_MS) return;
    const promoted = await promoteRetries(db, clock.now(), RETRIES_PER_LOOK);
    // A look that found as many as it can is followed by another one at once.
    if (promoted < RETRIES_PER_LOOK) this.#retriesLookedMs = nowMs;
  }
}

const LOOK_MS = 2_000;
const TOGETHER_MAX = 10;

/**
 * Works off accounts' replays, one page of each per round, so that a long replay delays no other delivery. All state is
 * in the store; after a crash a page is repeated, which changes nothing.
 */
export class Replays {
  readonly #db: Db;
  readonly #clock: Clock;
  #nextLookMs = Number.NEGATIVE_INFINITY;

  constructor({ db, clock }: { readonly db: Db; readonly clock: Clock }) {
    this.#db = db;
    this.#clock = clock;
  }

  /** Looks every `LOOK_MS`, and in every round while there are replays. Returns whether there are. */
  async round(): Promise<boolean> {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs < this.#nextLookMs) return false;
    const running = await findRunningReplays(this.#db, TOGETHER_MAX);
    this.#nextLookMs = running.length > 0 ? nowMs : nowMs + LOOK_MS;
    if (running.length === 0) return false;
    const endpoints = await findEndpoints(
      this.#db,
      running.map(({ endpoint }) => endpoint),
    );
    const active = new Set(endpoints.filter(({ status }) => status === 'active').map(({ _id }) => _id));
    for (const replay of running) await this.#page(replay, active.has(replay.endpoint));
    return true;
  }

  async #page(replay: ReplayDocument, active: boolean): Promise<void> {
    const now = this.#clock.now();
    if (!active) return stopReplay(this.#db, replay, now);
    await noteReplayed(this.#db, replay, await replayPage(this.#db, replay, replay.before, now), now);
  }
}
