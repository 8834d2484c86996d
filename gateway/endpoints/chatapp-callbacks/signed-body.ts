import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Request } from 'express';

export type SignedBody =
  | { readonly kind: 'genuine'; readonly bytes: Buffer }
  | { readonly kind: 'forged' }
  | { readonly kind: 'too_large' }
  /** The connection broke before the body was complete, so nobody can be answered. */
  | { readonly kind: 'gone' };

/**
 * Reads a body and checks its signature over the raw bytes, before they are parsed: `X-Hub-Signature-256: sha256=<hex
 * HMAC-SHA256(app secret, raw body)>` (Meta's Graph API, Webhooks, "Validating payloads"). Compares in constant time.
 * If the header is missing or malformed, the body is not read.
 */
export function readSignedBody(req: Request, secret: string, limitBytes: number): Promise<SignedBody> {
  const [, hex] = /^sha256=([0-9a-f]{64})$/i.exec(String(req.headers['x-hub-signature-256'] ?? '')) ?? [];
  if (hex === undefined) return Promise.resolve({ kind: 'forged' });
  if (Number(req.headers['content-length'] ?? 0) > limitBytes) return Promise.resolve({ kind: 'too_large' });
  const signature = Buffer.from(hex, 'hex');
  const hmac = createHmac('sha256', secret);
  const chunks: Buffer[] = [];
  let bytes = 0;
  return new Promise((resolve) => {
    const end = (body: SignedBody): void => {
      req.off('data', onData).off('end', onEnd);
      resolve(body);
    };
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > limitBytes) {
        end({ kind: 'too_large' });
        return;
      }
      chunks.push(chunk);
      // Hashed chunk by chunk: 3 MB at once would hold the event loop for some 10 ms.
      hmac.update(chunk);
    };
    const onEnd = (): void => {
      const genuine = timingSafeEqual(hmac.digest(), signature);
      if (genuine) end({ kind: 'genuine', bytes: Buffer.concat(chunks) });
      else end({ kind: 'forged' });
    };
    // The connection can still break while the rest of the body is dropped.
    req.on('error', () => end({ kind: 'gone' }));
    req.on('data', onData).once('end', onEnd);
  });
}
