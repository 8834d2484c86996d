import type { Clock } from '../../shared/platform/runtime/clock.ts';
import { errorFields, type Log } from '../../shared/platform/runtime/log.ts';
import type { ChatTemplateDocument, TemplateOwner } from '../../shared/templates/chat/chat-template.ts';
import type { ChatMetrics } from './metrics.ts';
import type { ProviderClient } from './provider/client.ts';
import { readTemplates } from './provider/template-list.ts';

export interface TemplatesSyncOptions {
  readonly owner: TemplateOwner;
  readonly client: ProviderClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: ChatMetrics;
  random(): number;
  /** `begunAt`: when the list was asked for. */
  replace(templates: readonly ChatTemplateDocument[], begunAt: Date): Promise<void>;
  /** Stores why the list is not available, for the operator. Undefined when it is. */
  note(trouble: string | undefined): Promise<void>;
}

/** Pause between two copies. A newly approved template is seen after it at the latest. */
const EVERY_MS = 10 * 60_000;
const AGAIN_MS = 60_000;
/** Not at the same moment for all accounts of a starting worker. */
const FIRST_WITHIN_MS = 500;
const JITTER = 0.2;

/** Copies one business account's template list, without unreadable entries. An incomplete list changes nothing. */
export class TemplatesSync {
  readonly #options: TemplatesSyncOptions;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;
  #copying = false;
  #onceMore = false;
  #begunMs = Number.NEGATIVE_INFINITY;

  constructor(options: TemplatesSyncOptions) {
    this.#options = options;
  }

  start(): void {
    this.#schedule(this.#options.random() * FIRST_WITHIN_MS);
  }

  /** Copies the list within a minute. A copy in progress may have been asked for before, so another one follows. */
  soon(): void {
    if (this.#copying) {
      this.#onceMore = true;
      return;
    }
    clearTimeout(this.#timer);
    this.#schedule(this.#untilAgainMs());
  }

  #untilAgainMs(): number {
    return Math.max(0, this.#begunMs + AGAIN_MS - this.#options.clock.monotonicMs());
  }

  /** Close the client after this. That ends a request that is in progress. */
  close(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #schedule(inMs: number): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#copying = true;
      this.#begunMs = this.#options.clock.monotonicMs();
      void this.#round().then((pauseMs) => {
        this.#copying = false;
        this.#schedule(this.#onceMore ? Math.min(pauseMs, this.#untilAgainMs()) : pauseMs);
        this.#onceMore = false;
      });
    }, inMs);
  }

  /** Never rejects. Returns the pause until the next round. */
  async #round(): Promise<number> {
    const { owner, client, clock, log, metrics, replace, note, random } = this.#options;
    const { account } = owner;
    const jitter = 1 + JITTER * (2 * random() - 1);
    try {
      const begunAt = clock.now();
      const list = await readTemplates({ owner, clock, ask: (after) => client.templates(after) });
      if (this.#stopped) return 0;
      if (typeof list === 'string') {
        log.warn('templates_not_listed', { account, reason: list });
        metrics.syncs.inc({ result: 'failed' });
        await note(list);
        return AGAIN_MS * jitter;
      }
      if (list.firstSkipped !== undefined) {
        const { name, problem } = list.firstSkipped;
        log.warn('templates_skipped', { account, count: list.skipped, template: name, reason: problem });
      }
      await replace(list.templates, begunAt);
      metrics.syncs.inc({ result: 'copied' });
      await note(undefined);
      return EVERY_MS * jitter;
    } catch (error) {
      log.warn('templates_not_stored', { account, ...errorFields(error) });
      return AGAIN_MS * jitter;
    }
  }
}
