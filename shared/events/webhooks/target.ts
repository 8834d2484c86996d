import { createHash, createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import type { AccountId, EndpointId } from '../../platform/runtime/ids.ts';
import { errorFields, type Log } from '../../platform/runtime/log.ts';
import type { SecretBox } from '../../platform/runtime/secret-box.ts';
import { type AddressGuard, literalAddress } from './address-guard.ts';
import { type EndpointDocument, RETRY_SECONDS, retrySecondsOf } from './endpoint.ts';
import { headerPlace, SECRET_PREFIX } from './endpoint-store.ts';
import type { Post } from './post.ts';

/** An endpoint prepared for posting: url parsed, secrets decrypted. Never kept for longer than seconds. */
export interface PostTarget {
  readonly id: EndpointId;
  /** Absent: the endpoint has gone. */
  readonly account?: AccountId;
  /** The part of the url that may be logged. */
  readonly host: string;
  /** Without the port. IPv6 addresses have no brackets. */
  readonly hostname: string;
  readonly origin: string;
  readonly path: string;
  readonly keys: readonly { readonly key: KeyObject; readonly expiresAt?: Date }[];
  readonly headers: readonly string[];
  readonly retrySeconds: readonly number[];
  /** As in `EndpointOptions`. */
  readonly eventsPerPost: number;
  readonly gatherMs: number;
  /** Why nothing can be posted (`refused_url`, `no_secret`, `no_header`). */
  readonly problem?: string;
}

export interface TargetDeps {
  readonly guard: AddressGuard;
  readonly box: SecretBox;
  readonly log: Pick<Log, 'error'>;
}

export function openTarget(endpoint: EndpointDocument, { guard, box, log }: TargetDeps): PostTarget {
  const { _id: id, account, url: text, eventsPerPost = 1, gatherMs = 0 } = endpoint;
  if (!guard.checkForm(text).ok) return { ...noTarget(id), problem: 'refused_url' };
  const url = new URL(text);
  const hostname = literalAddress(url.hostname) ?? url.hostname;
  const target: PostTarget = {
    ...noTarget(id),
    ...{ account, host: url.host, hostname, origin: url.origin, path: url.pathname + url.search },
    ...{ retrySeconds: retrySecondsOf(endpoint), eventsPerPost, gatherMs },
  };
  const { keys, errors } = openSecrets(endpoint, box);
  if (!keys.some(({ expiresAt }) => expiresAt === undefined)) {
    log.error('secret_unreadable', { endpoint: id, ...errorFields(errors[0]) });
    return { ...target, problem: 'no_secret' };
  }
  try {
    return { ...target, keys, headers: openHeaders(endpoint, box) };
  } catch (error) {
    log.error('header_unreadable', { endpoint: id, ...errorFields(error) });
    return { ...target, problem: 'no_header' };
  }
}

function openHeaders({ _id, headers = [] }: EndpointDocument, box: SecretBox): readonly string[] {
  return headers.flatMap((header) => [
    header.name,
    'value' in header ? header.value : box.open(header.sealed, headerPlace(_id)),
  ]);
}

/**
 * The keys of the secrets that can be opened, and the errors of the others: a rotation must help after the secret key
 * is lost. Only the newest has no `expiresAt`: without it nothing can be signed for long.
 */
function openSecrets(
  { _id, secrets }: Pick<EndpointDocument, '_id' | 'secrets'>,
  box: SecretBox,
): Pick<PostTarget, 'keys'> & { readonly errors: readonly unknown[] } {
  const errors: unknown[] = [];
  const keys = secrets.flatMap(({ sealed, expiresAt }) => {
    try {
      return [
        {
          key: secretKey(box.open(sealed, ['endpoints', _id, 'secrets.sealed'])),
          ...(expiresAt === undefined ? {} : { expiresAt }),
        },
      ];
    } catch (error) {
      errors.push(error);
      return [];
    }
  });
  return { keys, errors };
}

export function noTarget(id: EndpointId): PostTarget {
  const address = { host: '', hostname: '', origin: '', path: '' };
  return { id, ...address, keys: [], headers: [], retrySeconds: RETRY_SECONDS, eventsPerPost: 1, gatherMs: 0 };
}

const USER_AGENT = 'Harkara-Webhooks/1.0';

export interface Posted {
  /** Sent as `webhook-id`, the same on every try. */
  readonly eventId: string;
  readonly body: string;
}

/**
 * Several events as one post: an array, each with its id. The post's id derives from theirs, so every try of the same
 * events has it. An endpoint with `eventsPerPost` gets an array of one, too.
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

/** Signed as Standard Webhooks says, with every secret that is valid at `at`. */
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

/** Throws on any other text than `whsec_…`. */
export function secretKey(secret: string): KeyObject {
  const key = secret.startsWith(SECRET_PREFIX) ? Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64') : undefined;
  if (key === undefined || key.length === 0) throw new Error('a webhook secret must be whsec_ and base64');
  // HMAC with a KeyObject is five times as fast as with bytes (Node 24).
  return createSecretKey(key);
}

/**
 * The value of `webhook-signature` (Standard Webhooks, symmetric `v1`; github.com/standard-webhooks,
 * spec/standard-webhooks.md): for each key `v1,` and the base64 of HMAC-SHA256 over `<id>.<timestamp>.<body>`, keyed
 * with the bytes after `whsec_`; separated by spaces, so that during a rotation both secrets verify.
 * `timestampSeconds`: unix time of this try; `body`: the exact bytes sent.
 */
export function signature(keys: readonly KeyObject[], id: string, timestampSeconds: number, body: Buffer): string {
  return keys
    .map((key) => `v1,${createHmac('sha256', key).update(`${id}.${timestampSeconds}.`).update(body).digest('base64')}`)
    .join(' ');
}
