import type { SignatureVerdict } from './signatures.ts';

/** A post that the receiver got. */
export interface ReceivedWebhook {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly path: string;
  /** The webhook-id header. Empty without one. */
  readonly id: string;
  /** How often this id came to this path: 1 for the first time. */
  readonly tries: number;
  readonly signature: SignatureVerdict;
  /** The names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The body if it is a JSON object, otherwise empty. */
  readonly json: Readonly<Record<string, unknown>>;
  /** The HTTP status of the answer. 0 when the connection was broken. */
  readonly status: number;
}

/** The most characters of bodies that are kept. When there are more, the oldest posts are forgotten. */
const MAX_CHARACTERS = 64_000_000;

/** The last posts, oldest first. Their number and their size are limited. */
export class Received {
  readonly #limit: number;
  #posts: ReceivedWebhook[] = [];
  #head = 0;
  #characters = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(post: ReceivedWebhook): void {
    this.#posts.push(post);
    this.#characters += post.body.length;
    while (this.#posts.length - this.#head > this.#limit || this.#characters > MAX_CHARACTERS) {
      this.#characters -= this.#posts[this.#head]?.body.length ?? 0;
      this.#head += 1;
    }
    if (this.#head > this.#limit) {
      this.#posts = this.#posts.slice(this.#head);
      this.#head = 0;
    }
  }

  all(): ReceivedWebhook[] {
    return this.#posts.slice(this.#head);
  }
}
