import { createHash } from 'node:crypto';
import { signature } from '../sign.ts';
import type { Post } from './post.ts';
import type { PostTarget } from './target.ts';

const USER_AGENT = 'Harkara-Webhooks/1.0';

/** What is posted, and under which id: an event, or several. */
export interface Posted {
  /** Sent as `webhook-id`, the same on every try. */
  readonly eventId: string;
  readonly body: string;
}

/**
 * Several events as one post: an array, each with its id. The post's own id derives from them, so the same events have it at every try.
 * An endpoint that wants several gets an array of one, too.
 */
export function asPosted(
  { eventsPerPost }: Pick<PostTarget, 'eventsPerPost'>,
  events: readonly [Posted, ...Posted[]],
): Posted {
  if (eventsPerPost === 1) return events[0];
  const ids = events.map(({ eventId }) => eventId).sort();
  const bodies = events.map(({ eventId, body }) => `{"event_id":${JSON.stringify(eventId)},${body.slice(1)}`);
  return {
    eventId: `evs_${createHash('sha256').update(ids.join()).digest('hex').slice(0, 26)}`,
    body: `[${bodies.join(',')}]`,
  };
}

/** The request of an event, or of several. Signed as Standard Webhooks says, with every secret that is valid at `at`. */
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
