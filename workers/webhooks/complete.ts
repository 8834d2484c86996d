import { isStoreTrouble } from '../../shared/mongo/errors.ts';
import { Grouper } from '../../shared/runtime/grouper.ts';
import { errorFields, type Log } from '../../shared/runtime/log.ts';
import type { Completion } from '../../shared/webhooks/delivery-store.ts';

const GROUP_MAX = 200;
/** Nobody waits for a completion: the next post of its endpoint has begun already. */
const GATHER_MS = 15;
/** Pause before a group is written again while the store is away. */
const TROUBLE_PAUSE_MS = 250;

export interface CompleterOptions {
  readonly log: Log;
  write(completions: readonly Completion[]): Promise<void>;
}

/** Writes completions in groups. What was posted is written for as long as it takes: else it would be posted again. */
export class Completer {
  readonly #options: CompleterOptions;
  readonly #group: Grouper<Completion, true>;
  #givenUp = false;

  constructor(options: CompleterOptions) {
    this.#options = options;
    this.#group = new Grouper({ maxItems: GROUP_MAX, gatherMs: GATHER_MS, run: (group) => this.#write(group) });
  }

  /** Resolves when the completion is stored. Rejects when the store refuses it, or is away after `giveUp`. */
  async complete(completion: Completion): Promise<void> {
    await this.#group.add(completion);
  }

  /** From now on a store that is away is an error: the process ends, the next one posts again. */
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
