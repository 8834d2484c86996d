import { signature } from '../sign.ts';
import type { Post } from './post.ts';
import type { PostTarget } from './target.ts';

const USER_AGENT = 'Harkara-Webhooks/1.0';

/** What is posted, and under which id. */
export interface Posted {
  /** Sent as `webhook-id`, the same on every try. */
  readonly eventId: string;
  readonly body: string;
}

/** The request of an event. Signed as Standard Webhooks says, with every secret that is valid at `at`. */
export function signedPost(
  { account, origin, path, keys, headers }: PostTarget,
  { eventId, body: text }: Posted,
  at: Date,
): Post {
  const body = Buffer.from(text);
  const seconds = Math.floor(at.getTime() / 1_000);
  const valid = keys.filter(({ expiresAt }) => expiresAt === undefined || expiresAt > at).map(({ key }) => key);
  return {
    account,
    origin,
    path,
    headers: [
      ...['content-type', 'application/json'],
      ...['user-agent', USER_AGENT],
      ...['webhook-id', eventId],
      ...['webhook-timestamp', String(seconds)],
      ...['webhook-signature', signature(valid, eventId, seconds, body)],
      ...headers,
    ],
    body,
  };
}
