import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

const gunzipAsync = promisify(gunzip);

/**
 * Decompresses a body. We do not ask for compressed answers, but some proxies send them, and without this an accepted
 * send would be unknown. Works on the complete body, in a thread, up to `bytesMax`. Decompressing piece by piece cost
 * the event loop a round trip to the thread and a buffer for every few bytes. Other codings are left as they are and
 * cannot be read. Rejects when the body is broken or too long.
 */
export async function unpack(body: Buffer, coding: unknown, bytesMax: number): Promise<Buffer> {
  if (coding !== 'gzip' && coding !== 'x-gzip') return body;
  return await gunzipAsync(body, { maxOutputLength: bytesMax });
}
