import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

const gunzipAsync = promisify(gunzip);

/**
 * A body as it was before it was packed. Packed answers are not asked for, yet some proxies send them: a send that was accepted
 * would be unknown. Only after all of it is there, in a thread and up to `bytesMax`: unpacked while it came in, a few bytes at a
 * time, it cost the event loop a round to the thread and a buffer for each. Any other coding stays as it is, and cannot be read.
 * Rejects when it is broken or longer.
 */
export async function unpack(body: Buffer, coding: unknown, bytesMax: number): Promise<Buffer> {
  if (coding !== 'gzip' && coding !== 'x-gzip') return body;
  return await gunzipAsync(body, { maxOutputLength: bytesMax });
}
