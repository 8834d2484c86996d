import type { Db } from 'mongodb';
import type { KeyUse } from '../../shared/keys/key-use.ts';
import { addKeyUses } from '../../shared/keys/use-store.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { errorFields, type Log } from '../../shared/runtime/log.ts';

const TELL_MS = 60_000;
/** Keys that are remembered until then; what others do is not noted. */
const KEYS_MAX = 20_000;
/** Keys of one command, and the pause to the next, so that 20,000 keys are no storm: some 12 ms of the store each. */
const GROUP_MAX = 500;
const PAUSE_MS = 200;

/** What the keys of a process do, told to the store once a minute and at the end; a request never waits for it. */
export class KeyUses {
  readonly #db: Db;
  readonly #clock: Clock;
  readonly #log: Log;
  #uses = new Map<string, { at: Date; address: string; requests: number }>();

  constructor({ db, clock, log }: { readonly db: Db; readonly clock: Clock; readonly log: Log }) {
    this.#db = db;
    this.#clock = clock;
    this.#log = log;
  }

  note(key: string, address: string): void {
    const use = this.#uses.get(key);
    if (use !== undefined) {
      use.at = this.#clock.now();
      use.address = address;
      use.requests++;
    } else if (this.#uses.size < KEYS_MAX) {
      this.#uses.set(key, { at: this.#clock.now(), address, requests: 1 });
    }
  }

  /** Begins to tell; returns what ends it and tells the rest. */
  start(): () => Promise<void> {
    // Processes that start together do not tell together.
    let timer = setTimeout(() => void tell(), TELL_MS * (0.5 + Math.random() / 2));
    let telling: Promise<void> | undefined;
    const tell = async (): Promise<void> => {
      telling = this.tell(PAUSE_MS);
      await telling;
      timer = setTimeout(() => void tell(), TELL_MS);
    };
    return async () => {
      clearTimeout(timer);
      await telling;
      clearTimeout(timer);
      await this.tell();
    };
  }

  /** What the store does not take is lost: the next minute has the key's next use. */
  async tell(pauseMs = 0): Promise<void> {
    const told: KeyUse[] = [...this.#uses].map(([key, use]) => ({ key, ...use }));
    this.#uses = new Map();
    try {
      for (let from = 0; from < told.length; from += GROUP_MAX) {
        if (from > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
        await addKeyUses(this.#db, told.slice(from, from + GROUP_MAX));
      }
    } catch (error) {
      this.#log.info('key_uses_lost', errorFields(error));
    }
  }
}
