import type { Submit } from '../smpp/submit.ts';

/** The last `limit` accepted messages: in order, and by id for query_sm. */
export class KeptSubmits {
  readonly #limit: number;
  readonly #ring: Submit[] = [];
  readonly #byId = new Map<string, Submit>();
  #oldest = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(submit: Submit): void {
    if (this.#limit === 0) return;
    this.#byId.set(submit.messageId, submit);
    if (this.#ring.length < this.#limit) {
      this.#ring.push(submit);
      return;
    }
    const gone = this.#ring[this.#oldest];
    if (gone !== undefined) this.#byId.delete(gone.messageId);
    this.#ring[this.#oldest] = submit;
    this.#oldest = (this.#oldest + 1) % this.#limit;
  }

  find(messageId: string): Submit | undefined {
    return this.#byId.get(messageId);
  }

  /** Oldest first. */
  all(): Submit[] {
    return [...this.#ring.slice(this.#oldest), ...this.#ring.slice(0, this.#oldest)];
  }
}
