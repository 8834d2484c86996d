import { hash, randomBytes } from 'node:crypto';
import { publicUrl } from '../../platform/config/gateway-url.ts';
import type { Config } from '../../platform/config/settings.ts';
import type { OneTimeLink, UserDocument } from './user.ts';

const TOKEN_BYTES = 32;
const HOUR_MS = 3_600_000;
const INVITATION_MS = 7 * 24 * HOUR_MS;
const RESET_MS = HOUR_MS;

/** A new link for a user, with the token that only its reader gets. */
export function newLink(
  user: Pick<UserDocument, 'password'>,
  now: Date,
): { readonly token: string; readonly link: OneTimeLink } {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const purpose = user.password === undefined ? 'invitation' : 'reset';
  const expiresAt = new Date(now.getTime() + (purpose === 'invitation' ? INVITATION_MS : RESET_MS));
  return { token, link: { hash: hashToken(token), purpose, expiresAt } };
}

/** No salt or stretching: 256 random bits cannot be guessed. */
export function hashToken(token: string): string {
  return hash('sha256', token, 'hex');
}

/** Browsers send nothing of what stands behind `#`, so the token is in no log and no Referer, and no preview of the link spends it. */
export function linkUrl(config: Pick<Config, 'publicUrl' | 'host' | 'port'>, token: string): string {
  return `${publicUrl(config)}/dashboard/link#${token}`;
}
