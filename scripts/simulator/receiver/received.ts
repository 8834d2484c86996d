import { Webhook } from 'standardwebhooks';

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

type SignatureVerdict = 'valid' | 'INVALID' | 'unsigned' | 'no secret';

/** The most paths whose secrets are remembered. When there are more, the oldest path is forgotten. */
const MAX_PATHS = 10_000;

/**
 * Checks signatures with the library that a customer would use (`standardwebhooks`). Tries the secrets of the post's path and
 * those that are trusted on every path.
 */
export class Signatures {
  readonly #everywhere = new Map<string, Webhook>();
  readonly #byPath = new Map<string, Map<string, Webhook>>();

  /**
   * Trusts `secret` (`whsec_…`) for one path, or for all paths. Throws when it is not a secret. Repeating the call changes
   * nothing.
   */
  trust(secret: string, path?: string): void {
    if (!/^whsec_[A-Za-z0-9+/]+=*$/.test(secret))
      throw new RangeError('a webhook secret begins with whsec_ and goes on in base64');
    const webhook = new Webhook(secret);
    if (path === undefined) {
      this.#everywhere.set(secret, webhook);
      return;
    }
    const known = this.#byPath.get(path) ?? new Map<string, Webhook>();
    known.set(secret, webhook);
    this.#byPath.set(path, known);
    if (this.#byPath.size <= MAX_PATHS) return;
    for (const oldest of this.#byPath.keys()) {
      this.#byPath.delete(oldest);
      return;
    }
  }

  /** Returns `no secret` if the post is signed, but there is no secret to check it with. */
  check(path: string, headers: Readonly<Record<string, string>>, body: Buffer): SignatureVerdict {
    if (headers['webhook-signature'] === undefined) return 'unsigned';
    const candidates = [...(this.#byPath.get(path)?.values() ?? []), ...this.#everywhere.values()];
    if (candidates.length === 0) return 'no secret';
    return candidates.some((candidate) => verifies(candidate, headers, body)) ? 'valid' : 'INVALID';
  }
}

function verifies(webhook: Webhook, headers: Readonly<Record<string, string>>, body: Buffer): boolean {
  try {
    webhook.verify(body, { ...headers }, { jsonParse: false });
    return true;
  } catch {
    // The library throws for every problem: a wrong key, an old timestamp, a missing header. All of them mean that the signature
    // is not valid.
    return false;
  }
}
