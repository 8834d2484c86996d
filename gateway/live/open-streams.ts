import type { Requester } from '../http/context.ts';
import type { LiveStream } from './stream.ts';

/** A key, or a signed-in user: as many tabs as a person looks at, and what browsers have not closed yet. */
const PER_CALLER_MAX = 12;
const PER_ACCOUNT_MAX = 100;
/** All streams of one process. Each takes a connection and some 20 KB. */
const PROCESS_MAX = 2_000;

/** The streams that are open in this process. All end when the process begins to stop: nothing waits for them. */
export class OpenStreams {
  readonly #streams = new Map<LiveStream, { readonly account: string | undefined; readonly caller: string }>();
  readonly #stopping: AbortSignal;

  constructor(stopping: AbortSignal) {
    this.#stopping = stopping;
    stopping.addEventListener('abort', () => {
      for (const stream of this.#streams.keys()) stream.end();
    });
  }

  /** Whether the caller may open one more. */
  hasRoomFor({ account, who }: Requester): boolean {
    if (this.#streams.size >= PROCESS_MAX) return false;
    let [ofCaller, ofAccount] = [0, 0];
    for (const open of this.#streams.values()) {
      if (open.caller === who.id) ofCaller++;
      if (account !== undefined && open.account === account._id) ofAccount++;
    }
    return ofCaller < PER_CALLER_MAX && ofAccount < PER_ACCOUNT_MAX;
  }

  add(stream: LiveStream, { account, who }: Requester): void {
    this.#streams.set(stream, { account: account?._id, caller: who.id });
    if (this.#stopping.aborted) stream.end();
  }

  delete(stream: LiveStream): void {
    this.#streams.delete(stream);
  }
}
