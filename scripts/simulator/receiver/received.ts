import { Webhook } from 'standardwebhooks';

export interface ReceivedWebhook {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly path: string;
  /** The webhook-id header, or empty. */
  readonly id: string;
  /** How often this id came to this path, from 1. */
  readonly tries: number;
  readonly signature: SignatureVerdict;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The body's JSON object, otherwise empty. */
  readonly json: Readonly<Record<string, unknown>>;
  /** The answer's HTTP status; 0 if the connection was broken. */
  readonly status: number;
}

/** Characters of bodies kept in all; the oldest posts are forgotten first. */
const MAX_CHARACTERS = 64_000_000;

/** The last posts, oldest first, limited in number and size. */
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

/** Paths whose secrets are remembered; the oldest are forgotten first. */
const MAX_PATHS = 10_000;

/** Checks signatures with a customer's library (`standardwebhooks`) and the secrets of the path and of all paths. */
export class Signatures {
  readonly #everywhere = new Map<string, Webhook>();
  readonly #byPath = new Map<string, Map<string, Webhook>>();

  /** Trusts `secret` (`whsec_…`) on one path or on all. Throws for an invalid secret. May be repeated. */
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

  /** `no secret`: the post is signed, but no secret is known to check it with. */
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
    // The library throws for a wrong key, an old timestamp or a missing header alike.
    return false;
  }
}
