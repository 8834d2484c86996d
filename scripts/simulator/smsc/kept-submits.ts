import type { Submit } from '../smpp/submit.ts';

/** The most octets of user data that are kept. 10,000 ordinary segments have 1.4 MB, but one message_payload may have 64 KB. */
const MAX_OCTETS = 64_000_000;

/**
 * The last accepted messages, at most `limit`, and at most `MAX_OCTETS` of user data. They are kept in order, and by id for
 * query_sm.
 */
export class KeptSubmits {
  readonly #limit: number;
  readonly #byId = new Map<string, Submit>();
  #submits: Submit[] = [];
  #head = 0;
  #octets = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(submit: Submit): void {
    this.#submits.push(submit);
    this.#byId.set(submit.messageId, submit);
    this.#octets += submit.userData.length;
    while (this.#submits.length - this.#head > this.#limit || this.#octets > MAX_OCTETS) {
      const oldest = this.#submits[this.#head];
      if (oldest === undefined) break;
      this.#byId.delete(oldest.messageId);
      this.#octets -= oldest.userData.length;
      this.#head += 1;
    }
    if (this.#head > this.#limit) {
      this.#submits = this.#submits.slice(this.#head);
      this.#head = 0;
    }
  }

  find(messageId: string): Submit | undefined {
    return this.#byId.get(messageId);
  }

  /** All of them, oldest first. */
  all(): Submit[] {
    return this.#submits.slice(this.#head);
  }
}
