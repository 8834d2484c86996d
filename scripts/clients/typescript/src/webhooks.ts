import { HarkaraError } from './http.js';
import type { WebhookEvent } from './index.js';

/** The post is forged, too old, or was changed on the way. Answer 400. */
export class WebhookVerificationError extends HarkaraError {
  override readonly name = 'WebhookVerificationError';
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>> | { get(name: string): string | null };

interface VerifyOptions {
  readonly toleranceSeconds?: number;
  readonly now?: number;
}

/**
 * Returns a post's event if its signature is valid (Standard Webhooks, `v1`), otherwise throws. `body` must be the
 * bytes as they arrived, before any parsing. `headers` are those of `fetch` or `node:http`. `secret` is the endpoint's
 * `whsec_…`. Acknowledge events of unknown kinds too: `webhook.test` is posted when a test is requested.
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: Headers,
  secret: string,
  options: VerifyOptions = {},
): Promise<WebhookEvent> {
  const [event, ...others] = await verifyWebhooks(body, headers, secret, options);
  if (event !== undefined && others.length === 0) return event;
  throw new WebhookVerificationError('The post has several events: take them with verifyWebhooks.');
}

/** As `verifyWebhook`, for endpoints with `events_per_post` above 1: all events of the post. */
export async function verifyWebhooks(
  body: string | Uint8Array,
  headers: Headers,
  secret: string,
  { toleranceSeconds = 300, now = Date.now() }: VerifyOptions = {},
): Promise<WebhookEvent[]> {
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(now / 1_000 - Number(timestamp)) > toleranceSeconds) {
    throw new WebhookVerificationError('The header webhook-timestamp is not of these minutes.');
  }
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${text}`);
  const bytes = bytesOf(secret.replace(/^whsec_/, ''));
  if (bytes.length === 0) throw new WebhookVerificationError('The secret is not whsec_ and base64.');
  const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
  for (const signature of headerOf(headers, 'webhook-signature').split(' ')) {
    if (!signature.startsWith('v1,')) continue;
    // Compares in constant time.
    if (await crypto.subtle.verify('HMAC', key, bytesOf(signature.slice(3)), signed)) {
      const posted = JSON.parse(text);
      return Array.isArray(posted) ? posted : [{ ...posted, event_id: id }];
    }
  }
  throw new WebhookVerificationError('No signature of the post is of this secret.');
}

function headerOf(headers: Headers, name: string): string {
  const value = 'get' in headers && typeof headers.get === 'function' ? headers.get(name) : Reflect.get(headers, name);
  if (typeof value === 'string') return value;
  throw new WebhookVerificationError(`The post has no header ${name}.`);
}

/** Invalid base64 gives no bytes, which verify nothing. */
function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}
