import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { isStoreTrouble } from '../../../shared/platform/mongo/errors.ts';
import type { Clock } from '../../../shared/platform/runtime/clock.ts';
import { errorFields, type Log } from '../../../shared/platform/runtime/log.ts';
import type { ProblemSlug } from '../../http/problem.ts';

export interface Reading {
  readonly name: string;
  readonly key: string;
  read(): Promise<object>;
}

/** The value is JSON. */
type Listener = (name: string, json: string) => void;

/** From the end of one read to the next. */
const EVERY_MS = 2_000;
/** The next read waits at least this multiple of the read's duration: a twentieth of the store's time at most. */
const PAUSE = 20;
/** After a failed read. */
const FAILED_MS = 10_000;
/** After each read the hub rests for this multiple of its duration: at most a quarter of the store's time in all. */
const REST = 3;
const REST_MAX_MS = 500;

interface Watch {
  readonly reading: Reading;
  readonly listeners: Set<Listener>;
  dueMs: number;
  /** The last value told; undefined until it was read. */
  json: string | undefined;
}

/**
 * Reads each reading once, however many listen, and only while somebody does. Listeners get the current value at once
 * and then each new one.
 */
export class LiveHub {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #watches = new Map<string, Watch>();
  /** `running`: a round goes through the watches, including those added meanwhile. */
  #state: 'idle' | 'waiting' | 'running' = 'idle';
  #timer: NodeJS.Timeout | undefined;

  constructor({ clock, log }: { readonly clock: Clock; readonly log: Log }) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Returns a function that ends it. */
  watch(reading: Reading, listener: Listener): () => void {
    const { key } = reading;
    const watch = this.#watches.get(key) ?? { reading, listeners: new Set(), dueMs: 0, json: undefined };
    this.#watches.set(key, watch);
    watch.listeners.add(listener);
    if (watch.json !== undefined) listener(reading.name, watch.json);
    else if (this.#state !== 'running') this.#runIn(0);
    return () => {
      watch.listeners.delete(listener);
      if (watch.listeners.size === 0 && this.#watches.get(key) === watch) this.#watches.delete(key);
    };
  }

  #runIn(ms: number): void {
    clearTimeout(this.#timer);
    this.#state = 'waiting';
    this.#timer = setTimeout(() => void this.#round(), ms);
  }

  async #round(): Promise<void> {
    this.#state = 'running';
    for (const watch of this.#watches.values()) {
      if (watch.dueMs <= this.#clock.monotonicMs()) await this.#read(watch);
    }
    const nextMs = Math.min(...[...this.#watches.values()].map(({ dueMs }) => dueMs));
    if (this.#watches.size === 0) this.#state = 'idle';
    else this.#runIn(Math.max(0, nextMs - this.#clock.monotonicMs()));
  }

  async #read(watch: Watch): Promise<void> {
    const { reading, listeners } = watch;
    const beganMs = this.#clock.monotonicMs();
    let pauseMs = EVERY_MS;
    try {
      const json = JSON.stringify(await reading.read());
      if (json !== watch.json) {
        watch.json = json;
        for (const listener of listeners) listener(reading.name, json);
      }
    } catch (error) {
      pauseMs = FAILED_MS;
      if (!isStoreTrouble(error)) this.#log.warn('live_read_failed', { source: reading.name, ...errorFields(error) });
    }
    const endedMs = this.#clock.monotonicMs();
    const tookMs = endedMs - beganMs;
    watch.dueMs = endedMs + Math.max(pauseMs, PAUSE * tookMs);
    await sleep(Math.min(REST_MAX_MS, REST * tookMs));
  }
}

/**
 * Bytes. A caller with more unread is disconnected when an event has a new value and its last one is unread. Browsers
 * then reconnect and get all current values.
 */
const UNREAD_MAX = 65_536;
/** Milliseconds until a browser reconnects. */
const AGAIN_MS = 3_000;

/**
 * One open text/event-stream (HTML Living Standard, 9.2 Server-sent events); its head is written. `onClose` is called
 * once, when the caller has gone or it was ended.
 */
export class LiveStream {
  readonly #res: ServerResponse;
  #open = true;
  /** Events whose last value the caller has not read yet. */
  readonly #unread = new Set<string>();

  constructor(res: ServerResponse, onClose: () => void) {
    this.#res = res;
    res.once('close', () => {
      this.#open = false;
      onClose();
    });
    // A client that ends its side has gone. For other requests it may still wait for an answer (http/server.ts).
    if (res.socket?.readableEnded) this.end();
    else res.socket?.once('end', () => this.end());
    this.#write(`retry: ${AGAIN_MS}\n\n`);
  }

  /** `json` has no line breaks. */
  tell(name: string, json: string): void {
    const isBehind = this.#unread.has(name) && this.#res.writableLength > UNREAD_MAX;
    this.#unread.add(name);
    this.#write(`event: ${name}\ndata: ${json}\n\n`, isBehind, () => this.#unread.delete(name));
  }

  /** A comment line keeps proxies from closing the connection, and shows when a caller has gone. */
  beat(): void {
    this.#write(':\n\n');
  }

  /** With a problem: the caller may not listen and should not retry. */
  end(problem?: ProblemSlug): void {
    if (problem !== undefined) this.tell('end', JSON.stringify({ code: problem }));
    if (!this.#open) return;
    this.#open = false;
    this.#res.end();
  }

  #write(text: string, isBehind = false, onRead?: () => void): void {
    if (!this.#open) return;
    if (!isBehind) this.#res.write(text, onRead);
    else {
      this.#open = false;
      this.#res.destroy();
    }
  }
}
