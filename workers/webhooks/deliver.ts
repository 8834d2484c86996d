import type { Completion, DeliveryDocument, Outcome } from '../../shared/events/webhooks/delivery.ts';
import { isAcknowledged, type Poster, type PostResult } from '../../shared/events/webhooks/post.ts';
import { asPosted, signedPost } from '../../shared/events/webhooks/target.ts';
import { postSpan, postSpanKey } from '../../shared/events/webhooks/trace.ts';
import { isStoreTrouble } from '../../shared/platform/mongo/errors.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import { crashPoint } from '../../shared/platform/runtime/crash-point.ts';
import { Grouper } from '../../shared/platform/runtime/grouper.ts';
import type { EndpointId } from '../../shared/platform/runtime/ids.ts';
import { errorFields, type Log } from '../../shared/platform/runtime/log.ts';
import type { Metrics } from '../../shared/platform/runtime/metrics.ts';
import { contextOf, type Tracer, traceparent } from '../../shared/platform/runtime/tracer.ts';
import type { EndpointQueues, InHand, Post } from './endpoint-queues.ts';
import { type Health, judge } from './judge.ts';
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
  readonly tracer?: Tracer | undefined;
  owns(endpoint: EndpointId): boolean;
  random(): number;
}

/**
 * Takes due deliveries from their queue to the stored result: signs and posts the events, judges the answers, and
 * completes the document by one update when all have come. Each step that frees a place starts the next posts.
 */
export class Deliverer {
  readonly #options: DelivererOptions;
  readonly #running = new Set<Promise<void>>();
  #closed = false;

  constructor(options: DelivererOptions) {
    this.#options = options;
  }

  pump(): void {
    while (!this.#closed) {
      const post = this.#options.queues.next();
      if (post === undefined) return;
      this.#run(this.#deliver(post));
    }
  }

  /** Events of a group that were posted are completed; its other events get deliveries of their own. */
  drop(fits: (endpoint: EndpointId) => boolean): void {
    for (const begun of this.#options.queues.dropQueued(fits)) this.#run(this.#complete(begun));
  }

  close(): void {
    this.#closed = true;
  }

  /** Resolves when no post is in flight and all results are stored. Call it after `close`. */
  async drained(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
    await this.#options.health.settled();
  }

  #run(work: Promise<void>): void {
    const running: Promise<void> = work.finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Never rejects. */
  async #deliver(post: Post): Promise<void> {
    const { queues } = this.#options;
    const outcomes = await this.#attempt(post);
    if (outcomes !== undefined) crashPoint('webhook:posted');
    post.parts.forEach(({ of, index }, i) => {
      of.outcomes[index] = outcomes?.[i];
    });
    const ended = queues.posted(post);
    this.pump();
    await Promise.all(ended.map((of) => this.#complete(of)));
  }

  /** Never rejects. */
  async #complete(of: InHand): Promise<void> {
    const { queues, completer, log } = this.#options;
    const completion = completionOf(of);
    try {
      if (completion !== undefined) await completer.complete(completion);
      queues.completed(of);
    } catch (error) {
      // Not posted again before the next start: a missing attempt in the delivery log is better than endless posts.
      log.error('completion_failed', { delivery: of.stored._id, ...errorFields(error) });
      queues.refused(of);
    }
    this.pump();
  }

  /**
   * One request, whose answer counts for each of its events: they are tried again at the same time, together again.
   * Undefined when this process must not post them, or not yet. Never rejects.
   */
  async #attempt({ endpoint, parts }: Post): Promise<readonly Outcome[] | undefined> {
    const { clock, health, log, metrics, owns, random, targets } = this.#options;
    const target = targets.get(endpoint);
    if (target === undefined || !owns(endpoint)) return undefined;
    if (!target.active) {
      // The endpoint may have been enabled before the delivery was due. The delivery stays due, and is found again.
      if (!targets.refreshed) return undefined;
      return parts.map(({ delivery }) => {
        log.info('delivery_discarded', { delivery: delivery._id, endpoint: target.id });
        return { id: delivery._id, state: 'discarded' };
      });
    }
    const startedAt = clock.now();
    const posted = await this.#post(target, parts, startedAt);
    const now = clock.now();
    metrics.post(posted.result, posted.durationMs);
    health.note(target, posted.result, isAcknowledged(posted.result), now);
    const judged = { retrySeconds: target.retrySeconds, startedAt, now, random: random() };
    return parts.map(({ delivery }) => {
      const outcome = judge(delivery, posted, judged);
      if (outcome.state === 'exhausted') {
        log.info('delivery_exhausted', { delivery: delivery._id, endpoint: target.id, host: target.host });
      }
      return outcome;
    });
  }

  async #post(target: Target, [first, ...others]: Post['parts'], at: Date): Promise<PostResult> {
    if (target.problem !== undefined) return { result: target.problem, durationMs: 0 };
    const { poster, tracer } = this.#options;
    const deliveries = [first.delivery, ...others.map(({ delivery }) => delivery)] as const;
    const post = signedPost(target, asPosted(target, deliveries), at);
    const traced = deliveries.flatMap((delivery) => {
      const { message } = delivery;
      return message !== undefined && tracer?.records(message) ? [{ delivery, message }] : [];
    });
    const [only] = others.length === 0 ? traced : [];
    // The receiver's work becomes a part of the trace. Several events have no common trace.
    if (only) post.headers.push('traceparent', traceparent(contextOf(only.message, postSpanKey(only.delivery))));
    const posted = await poster.post(post);
    if (traced.length > 0)
      tracer?.add(traced.map(({ delivery, message }) => postSpan(delivery, message, target.host, posted, at)));
    return posted;
  }
}

/** Undefined when nothing was posted or decided: the delivery stays due. */
function completionOf({ stored, deliveries, outcomes }: InHand): Completion | undefined {
  if (!('items' in stored)) return outcomes[0];
  if (outcomes.every((outcome) => outcome === undefined)) return undefined;
  return {
    id: stored._id,
    attempts: deliveries.map((_, i) => {
      const attempt = outcomes[i]?.attempt;
      return attempt === undefined ? null : { at: attempt.at, result: attempt.result, durationMs: attempt.durationMs };
    }),
    apart: deliveries.flatMap((delivery, i) => (outcomes[i]?.state === 'done' ? [] : [apart(delivery, outcomes[i])])),
  };
}

/** The delivery of an event that was not acknowledged with its group: it goes on from here, or is still due. */
function apart(delivery: DeliveryDocument, outcome: Outcome | undefined): DeliveryDocument {
  if (outcome === undefined) return delivery;
  const { due: _, ...rest } = delivery;
  const { state, attempt } = outcome;
  return {
    ...rest,
    state,
    ...(outcome.state === 'waiting' ? { retryAt: outcome.retryAt } : {}),
    attempts: attempt === undefined ? [] : [attempt],
  };
}

const GROUP_MAX = 200;
/** How long completions are gathered into one group. Nothing waits: the endpoint's next post has already begun. */
const GATHER_MS = 15;
const TROUBLE_PAUSE_MS = 250;

export interface CompleterOptions {
  readonly log: Log;
  write(completions: readonly Completion[]): Promise<void>;
}

interface Refused {
  readonly reason: unknown;
}

/**
 * Writes completions in groups. Retries until they are stored, because a delivery without its completion is posted
 * again. A group that the store refuses is written one by one, so that one completion costs no other.
 */
export class Completer {
  readonly #options: CompleterOptions;
  readonly #group: Grouper<Completion, Refused | undefined>;
  #givenUp = false;

  constructor(options: CompleterOptions) {
    this.#options = options;
    this.#group = new Grouper({ maxItems: GROUP_MAX, gatherMs: GATHER_MS, run: (group) => this.#write(group) });
  }

  /** Resolves when the completion is stored. Rejects when the store refuses it, or is not available after `giveUp`. */
  async complete(completion: Completion): Promise<void> {
    const refused = await this.#group.add(completion);
    if (refused !== undefined) throw refused.reason;
  }

  /** For the end of the process: stops the retries. The next process posts those deliveries again. */
  giveUp(): void {
    this.#givenUp = true;
  }

  async #write(group: readonly Completion[]): Promise<readonly (Refused | undefined)[]> {
    for (;;) {
      try {
        await this.#options.write(group);
        return group.map(() => undefined);
      } catch (error) {
        if (!isStoreTrouble(error)) return group.length === 1 ? [{ reason: error }] : this.#writeApart(group);
        if (this.#givenUp) throw error;
        this.#options.log.warn('completions_wait', { count: group.length, ...errorFields(error) });
        await new Promise((resolve) => setTimeout(resolve, TROUBLE_PAUSE_MS));
      }
    }
  }

  async #writeApart(group: readonly Completion[]): Promise<readonly (Refused | undefined)[]> {
    const written: (Refused | undefined)[] = [];
    for (const completion of group) written.push(...(await this.#write([completion])));
    return written;
  }
}

export interface WebhookMetrics {
  post(result: number | string, durationMs: number): void;
  now(counts: { readonly queued: number; readonly inFlight: number; readonly partitions: number }): void;
}

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60];

export function createWebhookMetrics(metrics: Metrics): WebhookMetrics {
  const posts = metrics.counter('webhook_posts_total', 'Webhook posts by class of result.', ['result']);
  const seconds = metrics.histogram('webhook_post_seconds', 'Duration of webhook posts.', SECONDS);
  const inHand = metrics.gauge('webhook_deliveries', 'Due deliveries read by the workers, by stage.', ['stage']);
  const partitions = metrics.gauge('webhook_partitions', 'Partitions of the endpoints that a worker holds.');
  return {
    post(result, durationMs) {
      posts.inc({ result: resultClass(result) });
      seconds.observe(durationMs / 1_000);
    },
    now({ queued, inFlight, partitions: held }) {
      inHand.set({ stage: 'queued' }, queued);
      inHand.set({ stage: 'in_flight' }, inFlight);
      partitions.set(held);
    },
  };
}

/** `2xx` … `5xx`, or our own code. */
function resultClass(result: number | string): string {
  return typeof result === 'number' ? `${Math.floor(result / 100)}xx` : result;
}
