import type { Request } from 'express';

export type RawBody =
  | { readonly kind: 'whole'; readonly bytes: Buffer }
  | { readonly kind: 'too_large' }
  /** The connection broke before the body was complete, so nobody can be answered. */
  | { readonly kind: 'gone' };

/** Reads a body as it came. `onChunk` sees each part of it while it comes. */
export function readRawBody(
  req: Request,
  limitBytes: number,
  onChunk: (chunk: Buffer) => void = () => {},
): Promise<RawBody> {
  if (Number(req.headers['content-length'] ?? 0) > limitBytes) return Promise.resolve({ kind: 'too_large' });
  const chunks: Buffer[] = [];
  let bytes = 0;
  return new Promise((resolve) => {
    const end = (body: RawBody): void => {
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
      onChunk(chunk);
    };
    const onEnd = (): void => end({ kind: 'whole', bytes: Buffer.concat(chunks) });
    // The connection can still break while the rest of the body is dropped.
    req.on('error', () => end({ kind: 'gone' }));
    req.on('data', onData).once('end', onEnd);
  });
}
