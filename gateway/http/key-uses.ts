import type { Db } from 'mongodb';
import { addKeyUses, type KeyUse } from '../../shared/people/keys/key-use.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import { errorFields, type Log } from '../../shared/platform/runtime/log.ts';

const TELL_MS = 60_000;
/** How many keys are remembered between two reports. Uses of further keys are dropped. */
const KEYS_MAX = 20_000;
/**
 * The most keys in one command, which takes the store some 12 ms. Pauses between commands keep 20,000 keys from
 * blocking it.
 */
const GROUP_MAX = 500;
const PAUSE_MS = 200;

interface KeyUsesDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Log;
}

/** Notes when keys are used and reports it to the store once a minute and at the end. Requests never wait for it. */
export class KeyUses {
  readonly #db: Db;
  readonly #clock: Clock;
  readonly #log: Log;
  #uses = new Map<string, { at: Date; address: string; requests: number }>();

  constructor({ db, clock, log }: KeyUsesDeps) {
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

  /** Returns a function that ends the reports and sends the last one. */
  start(): () => Promise<void> {
    // Random, so that processes that started together do not report together.
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

  /** Uses that the store does not accept are lost; the key's next use is reported a minute later. */
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
