import { Webhook } from 'standardwebhooks';

export type SignatureVerdict = 'valid' | 'INVALID' | 'unsigned' | 'no secret';

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
