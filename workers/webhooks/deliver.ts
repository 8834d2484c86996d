import type { Clock } from '../../shared/runtime/clock.ts';
import { crashPoint } from '../../shared/runtime/crash-point.ts';
import type { EndpointId } from '../../shared/runtime/ids.ts';
import { errorFields, type Log } from '../../shared/runtime/log.ts';
import type { DeliveryDocument } from '../../shared/webhooks/delivery.ts';
import type { Completion } from '../../shared/webhooks/delivery-store.ts';
import type { Poster, PostResult } from '../../shared/webhooks/posting/post.ts';
import { signedPost } from '../../shared/webhooks/posting/signed-post.ts';
import { isAcknowledged } from '../../shared/webhooks/result-words.ts';
import type { Completer } from './complete.ts';
import type { EndpointQueues } from './endpoint-queues.ts';
import type { Health } from './health.ts';
import { judge } from './judge.ts';
import type { WebhookMetrics } from './metrics.ts';
import type { Target, Targets } from './targets.ts';

export interface DelivererOptions {
  readonly queues: EndpointQueues;
  readonly targets: Targets;
  readonly poster: Poster;
  readonly completer: Completer;
  readonly health: Health;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: WebhookMetrics;
  /** Whether this process currently posts to the endpoint. */
  owns(endpoint: EndpointId): boolean;
  /** From 0 to 1. */
  random(): number;
}

/**
 * Takes a delivery from its queue to the stored result: signs and posts it, judges the answer, and completes it by
 * one update. Each step that frees a place starts the next delivery.
 */
export class Deliverer {
  readonly #options: DelivererOptions;
  readonly #running = new Set<Promise<void>>();
  #closed = false;

  constructor(options: DelivererOptions) {
    this.#options = options;
  }

  /** Starts all posts that the queues allow now. */
  pump(): void {
    while (!this.#closed) {
      const delivery = this.#options.queues.next();
      if (delivery === undefined) return;
      const running: Promise<void> = this.#deliver(delivery).finally(() => this.#running.delete(running));
      this.#running.add(running);
    }
  }

  /** Starts no more posts. */
  close(): void {
    this.#closed = true;
  }

  /** Resolves when no post is in flight and all results are stored. Call it after `close`. */
  async drained(): Promise<void> {
    await Promise.all(this.#running);
    await this.#options.health.settled();
  }

  /** Never rejects. */
  async #deliver(delivery: DeliveryDocument): Promise<void> {
    const { queues, completer, log } = this.#options;
    try {
      const completion = await this.#attempt(delivery).finally(() => queues.posted(delivery));
      if (completion !== undefined) crashPoint('webhook:posted');
      this.pump();
      if (completion !== undefined) await completer.complete(completion);
      queues.completed(delivery);
      this.pump();
    } catch (error) {
      // The delivery is not posted again before the next start. Posting it again and again would be worse than a missing attempt in
      // the delivery log.
      log.error('completion_failed', { delivery: delivery._id, ...errorFields(error) });
      queues.refused(delivery);
      this.pump();
    }
  }

  /** Posts one delivery. Undefined when this process must not post it, or not yet. */
  async #attempt(delivery: DeliveryDocument): Promise<Completion | undefined> {
    const { clock, health, log, metrics, owns, queues, random, targets } = this.#options;
    const target = targets.get(delivery.endpoint);
    if (target === undefined || !owns(delivery.endpoint)) return undefined;
    if (!target.active) {
      // The endpoint may have been enabled before the delivery was due. The delivery stays due, and is found again.
      if (!targets.refreshed) return undefined;
      log.info('delivery_discarded', { delivery: delivery._id, endpoint: target.id });
      return { id: delivery._id, state: 'discarded' };
    }
    const startedAt = clock.now();
    const posted = await this.#post(target, delivery, startedAt);
    const now = clock.now();
    metrics.post(posted.result, posted.durationMs);
    const isSuccess = isAcknowledged(posted.result);
    queues.answered(delivery, isSuccess ? posted.durationMs : undefined);
    health.note(target, posted.result, isSuccess, now);
    const completion = judge(delivery, posted, { startedAt, now, random: random() });
    if (completion.state === 'exhausted') {
      log.info('delivery_exhausted', { delivery: delivery._id, endpoint: target.id, host: target.host });
    }
    return completion;
  }

  async #post(target: Target, delivery: DeliveryDocument, at: Date): Promise<PostResult> {
    if (target.problem !== undefined) return { result: target.problem, durationMs: 0 };
    return this.#options.poster.post(signedPost(target, delivery, at));
  }
}
