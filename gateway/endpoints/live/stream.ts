import type { ServerResponse } from 'node:http';
import type { ProblemSlug } from '../../http/problem.ts';

/**
 * Bytes. A caller is disconnected when an event has a new value, its last value is unread, and more than this is unread in all.
 * Browsers open the stream again and then get all current values.
 */
const UNREAD_MAX = 65_536;
/** Milliseconds until a browser opens the stream again after it ended. */
const AGAIN_MS = 3_000;

/**
 * One open answer of the type text/event-stream (HTML Living Standard, 9.2 Server-sent events). Its head has been written.
 * `onClose` is called once, when the caller has gone or it was ended.
 */
export class LiveStream {
  readonly #res: ServerResponse;
  #open = true;
  /** Names of which the caller has not read a value yet. */
  readonly #unread = new Set<string>();

  constructor(res: ServerResponse, onClose: () => void) {
    this.#res = res;
    res.once('close', () => {
      this.#open = false;
      onClose();
    });
    // A caller of a stream that ends its side has gone. Callers of other requests may still wait for an answer (http/server.ts).
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

  /** A comment line: proxies close connections on which nothing comes, and a caller who has gone is noticed. */
  beat(): void {
    this.#write(':\n\n');
  }

  /** With a problem: the caller may not listen any longer and should not try again. */
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
