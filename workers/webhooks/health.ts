import type { EndpointId } from '../../shared/platform/runtime/ids.ts';
import { errorFields, type Log } from '../../shared/platform/runtime/log.ts';
import type { Target } from './targets.ts';

/**
 * Keeps an endpoint's health: since when every post has failed, and whether it is disabled for that
 * (docs/specification/decisions.md, Webhooks: 410, or five days of only failures). Writes to the store only when
 * something changes, not for each post.
 */
export interface HealthOptions {
  readonly log: Log;
  noteFailingSince(id: EndpointId, since: Date | undefined): Promise<void>;
  disable(id: EndpointId, reason: string): Promise<unknown>;
}

const GONE = 410;
const FAILING_MS_MAX = 5 * 86_400_000;

export class Health {
  readonly #options: HealthOptions;
  /** The writes, one after the other: a failure that was noted before a success must not be stored after it. */
  #writes: Promise<void> = Promise.resolve();

  constructor(options: HealthOptions) {
    this.#options = options;
  }

  /** Notes a post's result. */
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

  /** Resolves when everything that was noted is written. */
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

/** Why an endpoint must not be posted to any more; undefined while it may. */
function disableReason(result: number | string, failingSince: Date, now: Date): string | undefined {
  if (result === GONE) return 'the endpoint answered 410 Gone';
  if (now.getTime() - failingSince.getTime() < FAILING_MS_MAX) return undefined;
  return `every post has failed since ${failingSince.toISOString()}, for five days`;
}
