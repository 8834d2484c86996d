import { type DeliveryDocument, type Outcome, triesMade } from '../../shared/events/webhooks/delivery.ts';
import { isAcknowledged, type PostResult } from '../../shared/events/webhooks/post.ts';
import type { EndpointId } from '../../shared/platform/runtime/ids.ts';
import { errorFields, type Log } from '../../shared/platform/runtime/log.ts';
import type { Target } from './targets.ts';

interface Judged {
  readonly retrySeconds: readonly number[];
  readonly startedAt: Date;
  readonly now: Date;
  readonly random: number;
}

/** Decides what becomes of a delivery after a post that took place between `startedAt` and `now`. */
export function judge(
  delivery: DeliveryDocument,
  { result, durationMs, excerpt, retryAfter }: PostResult,
  { retrySeconds, startedAt, now, random }: Judged,
): Outcome {
  const success = isAcknowledged(result);
  const attempt = {
    at: startedAt,
    result,
    durationMs,
    ...(excerpt === undefined || success ? {} : { excerpt }),
  };
  const base = { id: delivery._id, attempt };
  if (success) return { ...base, state: 'done' };
  if (result === 410) return { ...base, state: 'discarded' };
  const retryAt = nextTry({ tries: triesMade(delivery) + 1, retryAfter, retrySeconds, now, random });
  return retryAt === undefined ? { ...base, state: 'exhausted' } : { ...base, state: 'waiting', retryAt };
}

const SECOND = 1_000;
/** The random part of a pause, in both directions, so that posts that failed together are not repeated together. */
const JITTER = 0.2;

interface FailedTry extends Pick<Judged, 'retrySeconds' | 'now' | 'random'> {
  /** Tries so far, this one included. */
  readonly tries: number;
  readonly retryAfter?: string | undefined;
}

/**
 * The time of the next try; undefined when the schedule is exhausted. `Retry-After` is followed between the schedule's
 * pause and twice that: an endpoint may ask for more time, but cannot shorten the pause or delay its backlog for days.
 */
export function nextTry({ tries, retryAfter, retrySeconds, now, random }: FailedTry): Date | undefined {
  const seconds = retrySeconds[tries - 1];
  if (seconds === undefined) return undefined;
  const baseMs = seconds * SECOND;
  const askedMs = retryAfter === undefined ? undefined : retryAfterMs(retryAfter, now);
  const pauseMs =
    askedMs === undefined
      ? baseMs * (1 - JITTER + 2 * JITTER * random)
      : Math.min(Math.max(askedMs, baseMs), 2 * baseMs);
  return new Date(now.getTime() + Math.round(pauseMs));
}

/** RFC 9110 §10.2.3: seconds, or an HTTP-date. Undefined when it is neither. */
function retryAfterMs(value: string, now: Date): number | undefined {
  const text = value.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * SECOND;
  const at = /^[A-Za-z]/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : at - now.getTime();
}

/**
 * Keeps an endpoint's health: since when every post has failed, and whether it is disabled for that
 * (docs/specification/decisions.md, Webhooks: 410, or five days of only failures). Only changes are written.
 */
interface HealthOptions {
  readonly log: Log;
  noteFailingSince(id: EndpointId, since: Date | undefined): Promise<void>;
  disable(id: EndpointId, reason: string): Promise<unknown>;
}

const GONE = 410;
const FAILING_MS_MAX = 5 * 86_400_000;

export class Health {
  readonly #options: HealthOptions;
  /** The writes, one after the other: a failure noted before a success must not be stored after it. */
  #writes: Promise<void> = Promise.resolve();

  constructor(options: HealthOptions) {
    this.#options = options;
  }

  note(target: Target, result: number | string, succeeded: boolean, now: Date): void {
    if (succeeded) {
      if (target.failingSince === undefined) return;
      target.failingSince = undefined;
      this.#options.log.info('endpoint_recovered', { endpoint: target.id, host: target.host });
      this.#write(() => this.#options.noteFailingSince(target.id, undefined));
      return;
    }
    if (target.failingSince === undefined) {
      target.failingSince = now;
      this.#options.log.info('endpoint_failing', { endpoint: target.id, host: target.host, result });
      this.#write(() => this.#options.noteFailingSince(target.id, now));
    }
    const reason = disableReason(result, target.failingSince, now);
    if (reason === undefined || !target.active) return;
    target.active = false;
    this.#options.log.warn('endpoint_disabled', { endpoint: target.id, host: target.host, reason });
    this.#write(() => this.#options.disable(target.id, reason));
  }

  async settled(): Promise<void> {
    await this.#writes;
  }

  /** A failed write is not repeated: the target is read again within seconds, and the next post notes the same. */
  #write(write: () => Promise<unknown>): void {
    this.#writes = this.#writes.then(write).then(
      () => undefined,
      (error: unknown) => this.#options.log.warn('health_not_written', errorFields(error)),
    );
  }
}

function disableReason(result: number | string, failingSince: Date, now: Date): string | undefined {
  if (result === GONE) return 'the endpoint answered 410 Gone';
  if (now.getTime() - failingSince.getTime() < FAILING_MS_MAX) return undefined;
  return `every post has failed since ${failingSince.toISOString()}, for five days`;
}
