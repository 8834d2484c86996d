/** Submits without an answer when the connection ended. */
export interface LostSubmits<Context> {
  /** Written: the carrier may have them. */
  readonly unanswered: readonly Context[];
  /** Never reached the socket: the carrier cannot have them. */
  readonly unwritten: readonly Context[];
}

interface Submit<Context> {
  readonly context: Context;
  readonly sentMs: number;
}

/** A late answer is still worth something: it settles an unknown. */
const LATE_MS = 600_000;
const MAX_LATE = 10_000;

/** The submits of a session that wait for their answers, by sequence number: in time, or late. */
export class UnansweredSubmits<Context> {
  readonly #timely = new Map<number, Submit<Context>>();
  readonly #late = new Map<number, Submit<Context>>();

  has(sequence: number): boolean {
    return this.#timely.has(sequence) || this.#late.has(sequence);
  }

  add(sequence: number, context: Context, sentMs: number): void {
    this.#timely.set(sequence, { context, sentMs });
  }

  /** The one that is answered now; undefined for a second answer, or one to a request of long ago. */
  take(sequence: number): { readonly context: Context } | undefined {
    const submit = this.#timely.get(sequence) ?? this.#late.get(sequence);
    this.#timely.delete(sequence);
    this.#late.delete(sequence);
    return submit;
  }

  /** Those that have waited for `timeoutMs` become late and are told; the late ones are forgotten in the end. */
  age(nowMs: number, timeoutMs: number, onTimeout: (context: Context) => void): void {
    for (const [sequence, submit] of this.#timely) {
      if (nowMs - submit.sentMs < timeoutMs) break; // In order of sending.
      this.#timely.delete(sequence);
      this.#late.set(sequence, submit);
      onTimeout(submit.context);
    }
    for (const [sequence, submit] of this.#late) {
      if (nowMs - submit.sentMs < LATE_MS && this.#late.size <= MAX_LATE) break;
      this.#late.delete(sequence);
    }
  }

  /** At the connection's end: no answer comes any more. */
  lose(unwritten: ReadonlySet<number>): LostSubmits<Context> {
    const lost = { unanswered: [] as Context[], unwritten: [] as Context[] };
    for (const [sequence, { context }] of this.#timely) {
      (unwritten.has(sequence) ? lost.unwritten : lost.unanswered).push(context);
    }
    this.#timely.clear();
    this.#late.clear();
    return lost;
  }
}
