import type { Completion } from '../../shared/events/webhooks/delivery-store.ts';
import { isStoreTrouble } from '../../shared/platform/mongo/errors.ts';
import { Grouper } from '../../shared/platform/runtime/grouper.ts';
import { errorFields, type Log } from '../../shared/platform/runtime/log.ts';

const GROUP_MAX = 200;
/**
 * How long completions are gathered into one group. Nothing waits for them: the endpoint's next post has already
 * begun.
 */
const GATHER_MS = 15;
/** Pause before a group is written again while the store is not available. */
const TROUBLE_PAUSE_MS = 250;

export interface CompleterOptions {
  readonly log: Log;
  write(completions: readonly Completion[]): Promise<void>;
}

/** Why the store refused a completion. */
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

  /** Stops the retries, because the process ends. The next process posts those deliveries again. */
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
