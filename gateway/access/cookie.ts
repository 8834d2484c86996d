import type { IncomingMessage } from 'node:http';
import { isSessionId, type SessionId } from '../../shared/platform/runtime/ids.ts';

/** What the cookie holds: `<id>.<secret>`. */
export interface CookieText {
  readonly id: SessionId;
  readonly secret: string;
}

/**
 * The session's cookie. Behind TLS its name has the prefix `__Host-`: browsers then take it over TLS from this host only, so no
 * neighbouring host can plant one (RFC 6265bis §4.1.3). They refuse that prefix over plain HTTP.
 */
export class SessionCookie {
  readonly #name: string;
  readonly #attributes: string;

  constructor(publicUrl: string) {
    const secure = publicUrl.startsWith('https:');
    this.#name = secure ? '__Host-harkara' : 'harkara';
    this.#attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  }

  /** Undefined when the request has no such cookie. The cookie may still have the wrong form. */
  read(req: IncomingMessage): string | undefined {
    return cookieOf(req, this.#name);
  }

  /** Has no `Max-Age`, so it ends with the browser; the server ends it earlier. */
  write({ id, secret }: CookieText): readonly string[] {
    return ['Set-Cookie', `${this.#name}=${id}.${secret}; ${this.#attributes}`];
  }

  erase(): readonly string[] {
    return ['Set-Cookie', `${this.#name}=; ${this.#attributes}; Max-Age=0`];
  }
}

/** What a cookie holds. */
export function cookieOf({ headers }: IncomingMessage, name: string): string | undefined {
  const start = `${name}=`;
  // Requests of programs have no cookie at all.
  if (headers.cookie?.includes(start) !== true) return undefined;
  const found = headers.cookie.split(';').find((pair) => pair.trimStart().startsWith(start));
  return found?.trim().slice(start.length);
}

export function parseCookie(text: string): CookieText | undefined {
  const [, id, secret] = /^([^.]+)\.([0-9a-f]{64})$/.exec(text) ?? [];
  return id !== undefined && secret !== undefined && isSessionId(id) ? { id, secret } : undefined;
}
