import { LeasedWorker, type LeasedWorkerOptions } from '../../shared/leases/leased-worker.ts';
import { crashPoint } from '../../shared/runtime/crash-point.ts';
import type { EndpointId } from '../../shared/runtime/ids.ts';
import { errorFields } from '../../shared/runtime/log.ts';
import type { SecretBox } from '../../shared/runtime/secret-box.ts';
import type { AddressGuard } from '../../shared/webhooks/address-guard.ts';
import type { DeliveryDocument } from '../../shared/webhooks/delivery.ts';
import {
  type Completion,
  completeDeliveries,
  findDueInRange,
  findDueOf,
  promoteRetries,
} from '../../shared/webhooks/delivery-store.ts';
import { disableEndpoint, findEndpoints, noteHealth } from '../../shared/webhooks/endpoint-store.ts';
import { signature } from '../../shared/webhooks/sign.ts';
import { Completer } from './complete.ts';
import { createFigures, type Figures } from './figures.ts';
import { DueFinder } from './find-due.ts';
import { Health } from './health.ts';
import { isSuccess, judge } from './judge.ts';
import { Lanes } from './lanes.ts';
import { Poster, type PostResult } from './post.ts';
import { type Target, Targets } from './targets.ts';

export interface WebhookWorkerOptions extends LeasedWorkerOptions {
  readonly box: SecretBox;
  readonly guard: AddressGuard;
  /** For one post as a whole. */
  readonly timeoutMs: number;
  /** Posts in flight to one endpoint. */
  readonly perEndpoint: number;
  /** From 0 to 1. */
  random(): number;
}

const IDLE_MS = 100;
/** From one round's start to the next: what comes in between is read together. */
const GAP_MS = 40;
const RETRY_LOOK_MS = 250;
const RETRIES_PER_LOOK = 500;
const USER_AGENT = 'Harkara-Webhooks/1.0';

/**
 * Posts the due deliveries of the endpoints in its partitions. A round finds what is due and puts it into lanes; posts
 * start as lanes allow, and each delivery is completed by one update, in groups. After a crash, what was in hand is due still.
 */
export class WebhookWorker extends LeasedWorker<EndpointId> {
  readonly #options: WebhookWorkerOptions;
  readonly #lanes: Lanes;
  readonly #targets: Targets;
  readonly #finder: DueFinder;
  readonly #poster: Poster;
  readonly #health: Health;
  readonly #completer: Completer;
  readonly #figures: Figures;
  readonly #running = new Set<Promise<void>>();
  /**
   * The partitions owned when the round began. What a read brings of a partition that was taken since may be older than the last
   * holder's completions.
   */
  #owned: ReadonlySet<number> = new Set();
  #retriesLookedMs = Number.NEGATIVE_INFINITY;

  constructor(options: WebhookWorkerOptions) {
    super(options, { name: 'webhooks', idleMs: IDLE_MS, gapMs: { more: GAP_MS, idle: GAP_MS }, hears: ['deliveries'] });
    const { db, clock, log, box, guard, timeoutMs } = options;
    this.#options = options;
    this.#figures = createFigures(options.metrics);
    this.#poster = new Poster({
      guard,
      clock,
      timeoutMs,
      onConnected: (host, address) => this.#lanes.connected(host, address),
    });
    this.#completer = new Completer({ log, write: (completions) => completeDeliveries(db, completions) });
    this.#targets = new Targets({ clock, log, box, guard, findEndpoints: (ids) => findEndpoints(db, ids) });
    this.#health = new Health({
      log,
      noteFailingSince: (id, since) => noteHealth(db, id, since),
      disable: (id, reason) => disableEndpoint(db, id, reason),
    });
    this.#lanes = new Lanes({
      perEndpoint: options.perEndpoint,
      isFailing: (endpoint) => this.#targets.get(endpoint)?.failingSince !== undefined,
      hostOf: (endpoint) => this.#targets.get(endpoint)?.hostname,
      nowMs: () => clock.monotonicMs(),
    });
    this.#finder = new DueFinder({
      findInRange: (range, limit) => findDueInRange(db, range, limit),
      findOf: (endpoints, limit) => findDueOf(db, endpoints, limit),
      owns: (endpoint) => this.#owned.has(this.partitions.of(endpoint)) && this.partitions.owns(endpoint),
      wanted: (endpoint) => this.#lanes.wanted(endpoint),
      take: (delivery) => this.#lanes.add(delivery),
    });
  }

  protected hasInHand(fits: (endpoint: EndpointId) => boolean): boolean {
    return this.#lanes.inHand(fits) > 0;
  }

  protected override drain(): Promise<void> {
    this.#lanes.letGo(() => true);
    return Promise.allSettled(this.#running).then(() => this.#health.settled());
  }

  /** What is in flight ends as a failed try. */
  protected override cutOff(): Promise<void> {
    return this.#poster.close();
  }

  protected override giveUp(): void {
    this.#completer.giveUp();
  }

  protected async round(): Promise<'more' | 'idle'> {
    const { clock, db } = this.#options;
    const startedMs = clock.monotonicMs();
    // One worker does it for all: which endpoint a retry belongs to does not matter.
    if (this.partitions.first && startedMs - this.#retriesLookedMs >= RETRY_LOOK_MS) {
      const promoted = await promoteRetries(db, clock.now(), RETRIES_PER_LOOK);
      // A full look is followed by another one at once.
      if (promoted < RETRIES_PER_LOOK) this.#retriesLookedMs = startedMs;
    }
    this.#lanes.letGo((endpoint) => !this.partitions.owns(endpoint));
    this.#lanes.forgetCompleted();
    this.#owned = this.partitions.owned();
    const found = await this.#finder.round();
    await this.#targets.refresh(this.#lanes.endpoints());
    this.#lanes.review();
    this.#pump();
    this.#figures.now({
      queued: this.#lanes.queued,
      inFlight: this.#lanes.inFlight,
      shares: this.partitions.held,
    });
    return found > 0 ? 'more' : 'idle';
  }

  #pump(): void {
    while (!this.stopping) {
      const delivery = this.#lanes.next();
      if (delivery === undefined) return;
      const running: Promise<void> = this.#deliver(delivery).finally(() => this.#running.delete(running));
      this.#running.add(running);
    }
  }

  /** From the lane to the stored completion. Never rejects. */
  async #deliver(delivery: DeliveryDocument): Promise<void> {
    try {
      const completion = await this.#attempt(delivery).finally(() => this.#lanes.posted(delivery));
      if (completion !== undefined) crashPoint('webhook:posted');
      this.#pump();
      if (completion !== undefined) await this.#completer.complete(completion);
      this.#lanes.completed(delivery);
      this.#pump();
    } catch (error) {
      // It stays in hand: posted again and again would be worse than a log that lacks an entry until the next start.
      this.#options.log.error('completion_failed', { delivery: delivery._id, ...errorFields(error) });
    }
  }

  /** Posts one delivery; undefined when that is not (any more) for this process to do. */
  async #attempt(delivery: DeliveryDocument): Promise<Completion | undefined> {
    const { clock, log, random } = this.#options;
    const target = this.#targets.get(delivery.endpoint);
    if (target === undefined || !this.partitions.owns(delivery.endpoint)) return undefined;
    if (!target.active) {
      log.info('delivery_discarded', { delivery: delivery._id, endpoint: target.id });
      return { id: delivery._id, state: 'discarded' };
    }
    const startedAt = clock.now();
    const posted = await this.#post(target, delivery, startedAt);
    const now = clock.now();
    this.#figures.post(posted.result, posted.durationMs);
    this.#health.note(target, posted.result, isSuccess(posted.result), now);
    const completion = judge(delivery, posted, { startedAt, now, random: random() });
    if (completion.state === 'exhausted') {
      log.info('delivery_exhausted', { delivery: delivery._id, endpoint: target.id, host: target.host });
    }
    return completion;
  }

  async #post(target: Target, { eventId, body: text }: DeliveryDocument, at: Date): Promise<PostResult> {
    if (target.problem !== undefined) return { result: target.problem, durationMs: 0 };
    const body = Buffer.from(text);
    const seconds = Math.floor(at.getTime() / 1_000);
    const keys = target.keys.filter(({ expiresAt }) => expiresAt === undefined || expiresAt > at).map(({ key }) => key);
    return this.#poster.post({
      origin: target.origin,
      path: target.path,
      headers: [
        'content-type',
        'application/json',
        'user-agent',
        USER_AGENT,
        'webhook-id',
        eventId,
        'webhook-timestamp',
        String(seconds),
        'webhook-signature',
        signature(keys, eventId, seconds, body),
      ],
      body,
    });
  }
}
