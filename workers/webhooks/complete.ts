import { isStoreTrouble } from '../../shared/mongo/errors.ts';
import { Grouper } from '../../shared/runtime/grouper.ts';
import { errorFields, type Log } from '../../shared/runtime/log.ts';
import type { Completion } from '../../shared/webhooks/delivery-store.ts';

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

/**
 * Writes completions in groups. Retries until they are stored, because a delivery without its completion is posted
 * again.
 */
export class Completer {
  readonly #options: CompleterOptions;
  readonly #group: Grouper<Completion, true>;
  #givenUp = false;

  constructor(options: CompleterOptions) {
    this.#options = options;
    this.#group = new Grouper({ maxItems: GROUP_MAX, gatherMs: GATHER_MS, run: (group) => this.#write(group) });
  }

  /** Resolves when the completion is stored. Rejects when the store refuses it, or is not available after `giveUp`. */
  async complete(completion: Completion): Promise<void> {
    await this.#group.add(completion);
  }

  /** Stops the retries, because the process ends. The next process posts those deliveries again. */
  giveUp(): void {
    this.#givenUp = true;
  }

  async #write(group: readonly Completion[]): Promise<true[]> {
    for (;;) {
      try {
        await this.#options.write(group);
        return group.map(() => true);
      } catch (error) {
        if (!isStoreTrouble(error) || this.#givenUp) throw error;
        this.#options.log.warn('completions_wait', { count: group.length, ...errorFields(error) });
        await new Promise((resolve) => setTimeout(resolve, TROUBLE_PAUSE_MS));
      }
    }
  }
}
