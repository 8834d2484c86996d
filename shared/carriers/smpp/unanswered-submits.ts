export interface LostSubmits<Context> {
  /** Written, so the carrier may have them. */
  readonly unanswered: readonly Context[];
  /** Never written, so the carrier cannot have them. */
  readonly unwritten: readonly Context[];
}

interface Submit<Context> {
  readonly context: Context;
  readonly sentMs: number;
}

/** How long a late answer is still accepted. It settles a message whose outcome was unknown. */
const LATE_MS = 600_000;
const MAX_LATE = 10_000;

/** The submits of a session that wait for their answers, by sequence number. */
export class UnansweredSubmits<Context> {
  readonly #timely = new Map<number, Submit<Context>>();
  readonly #late = new Map<number, Submit<Context>>();

  has(sequence: number): boolean {
    return this.#timely.has(sequence) || this.#late.has(sequence);
  }

  add(sequence: number, context: Context, sentMs: number): void {
    this.#timely.set(sequence, { context, sentMs });
  }

  /** Undefined for a second answer, and for one that came later than `LATE_MS`. */
  take(sequence: number): { readonly context: Context } | undefined {
    const submit = this.#timely.get(sequence) ?? this.#late.get(sequence);
    this.#timely.delete(sequence);
    this.#late.delete(sequence);
    return submit;
  }

  /** When the oldest submit was sent, if it has waited for `timeoutMs`. */
  overdueSinceMs(nowMs: number, timeoutMs: number): number | undefined {
    const [oldest] = this.#timely.values();
    return oldest !== undefined && nowMs - oldest.sentMs >= timeoutMs ? oldest.sentMs : undefined;
  }

  /** Submits that waited `timeoutMs` are late from then on. Forgets those that have been late too long. */
  age(nowMs: number, timeoutMs: number, onTimeout: (context: Context) => void): void {
    for (const [sequence, submit] of this.#timely) {
      if (nowMs - submit.sentMs < timeoutMs) break; // The submits are in the order of sending.
      this.#timely.delete(sequence);
      this.#late.set(sequence, submit);
      onTimeout(submit.context);
    }
    for (const [sequence, submit] of this.#late) {
      if (nowMs - submit.sentMs < LATE_MS && this.#late.size <= MAX_LATE) break;
      this.#late.delete(sequence);
    }
  }

  /** The connection has ended, so no answer can come any more. */
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
