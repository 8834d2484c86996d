import type { ServerResponse } from 'node:http';

export type EndReason = 'caller_left' | 'too_slow';

/** Ends what is done for a caller who has left, and what takes too long: a step of it, or the whole. */
export class TimeLimits {
  readonly #end = new AbortController();
  readonly #whole: NodeJS.Timeout;
  readonly #left: () => void;
  readonly #res: ServerResponse;
  /** Kept, because `res.socket` is null when the answer is written. */
  readonly #connection: ServerResponse['socket'];
  #step: NodeJS.Timeout | undefined;
  #reason: EndReason | undefined;

  /** `wholeMs`: limit of the whole. */
  constructor(res: ServerResponse, wholeMs: number) {
    this.#res = res;
    this.#connection = res.socket;
    this.#left = () => {
      // `close` comes after a complete answer too.
      if (!res.writableFinished) this.#abort('caller_left');
    };
    this.#whole = setTimeout(() => this.#abort('too_slow'), wholeMs);
    // The caller left while the store was asked: `close` will not come a second time.
    if (res.closed || this.#connection?.readableEnded) this.#left();
    else res.once('close', this.#left);
    // A program that ends its side has gone. Callers of other requests may still wait for an answer (http/server.ts).
    this.#connection?.once('end', this.#left);
  }

  get signal(): AbortSignal {
    return this.#end.signal;
  }

  /** Undefined while nothing has ended it. */
  get reason(): EndReason | undefined {
    return this.#reason;
  }

  /** A step begins that may take this long. It ends the step before. */
  allow(ms: number): void {
    clearTimeout(this.#step);
    this.#step = setTimeout(() => this.#abort('too_slow'), ms);
  }

  /** The step goes on, and has its whole time again. */
  goesOn(): void {
    this.#step?.refresh();
  }

  /** Nothing is limited any more. */
  end(): void {
    clearTimeout(this.#whole);
    clearTimeout(this.#step);
    this.#res.off('close', this.#left);
    this.#connection?.off('end', this.#left);
  }

  #abort(reason: EndReason): void {
    this.#reason ??= reason;
    this.#end.abort();
  }
}
