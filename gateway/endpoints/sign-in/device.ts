import { hash, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { UserId } from '../../../shared/platform/runtime/ids.ts';
import { cookieOf } from '../../access/cookie.ts';

/** A browser that somebody signs in with. */
export interface Device {
  /** Of this browser for this user. Two users of one browser have different ones, so the store does not tell that they share it. */
  readonly fingerprint: string;
  /** The header that has the browser remember its number. */
  readonly headers: readonly string[];
}

const NUMBER = /^[\w-]{22}$/;
const NUMBER_BYTES = 16;
/** As long as browsers keep a cookie (RFC 6265bis §5.5). */
const MAX_AGE_S = 400 * 86_400;

/**
 * Which browser it is: a random number in a cookie that is sent with requests below /v2/session alone, so that it tells of nothing but
 * signing in. Networks and names of browsers change by themselves, and a thief may have the same (docs/decisions/0045).
 */
export function deviceOf(req: IncomingMessage, publicUrl: string, user: UserId): Device {
  const secure = publicUrl.startsWith('https:');
  const name = secure ? '__Secure-harkara-device' : 'harkara-device';
  const known = cookieOf(req, name);
  const number = known !== undefined && NUMBER.test(known) ? known : randomBytes(NUMBER_BYTES).toString('base64url');
  const attributes = `Path=/v2/session; HttpOnly; SameSite=Lax; Max-Age=${MAX_AGE_S}${secure ? '; Secure' : ''}`;
  return {
    fingerprint: hash('sha256', `${user} ${number}`, 'hex'),
    headers: ['Set-Cookie', `${name}=${number}; ${attributes}`],
  };
}
