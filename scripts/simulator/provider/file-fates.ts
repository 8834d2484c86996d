import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

/**
 * What can happen to somebody who reads a file. `gone`: its id is not known any more · `lost`: its address answers 404 ·
 * `busy`: 503 · `silent`: no answer comes · `stall`: half of it comes, and then nothing · `cut`: half of it, and the connection
 * breaks · `short`, `long`: fewer and more bytes than its id promised, in chunks · `redirect`: 302 to another host.
 */
export const FILE_FATES = ['gone', 'lost', 'busy', 'silent', 'stall', 'cut', 'short', 'long', 'redirect'] as const;
export type FileFate = (typeof FILE_FATES)[number];

/** How a file was read: how many bytes were handed to the connection so far, and how that ended. */
export interface FileRead {
  readonly id: string;
  sent: number;
  ended: 'open' | 'whole' | 'cut';
}

interface Sent {
  readonly mime: string;
  readonly fate: FileFate | undefined;
  readonly size: number;
  /** Its first bytes. */
  pieces(length: number): Iterable<Buffer>;
}

/** Sends a file, not faster than it is read, or what its fate is. Keeps in `read` how far it came. */
export async function sendFile(response: ServerResponse, read: FileRead, sent: Sent): Promise<void> {
  const { mime, fate, size } = sent;
  const closed = once(response, 'close').then(() => {
    read.ended = response.writableFinished ? 'whole' : 'cut';
  });
  if (fate === 'silent') return;
  if (fate === 'lost') return void response.writeHead(404).end();
  if (fate === 'busy') return void response.writeHead(503, { 'retry-after': '7' }).end();
  if (fate === 'redirect') return void response.writeHead(302, { location: 'http://other.example/file' }).end();
  const inChunks = fate === 'short' || fate === 'long';
  response.writeHead(200, { 'content-type': mime, ...(inChunks ? {} : { 'content-length': size }) });
  for (const piece of sent.pieces(lengthBy(fate, size))) {
    if (response.destroyed) return;
    read.sent += piece.length;
    if (!response.write(piece)) await Promise.race([once(response, 'drain'), closed]);
  }
  // What was written is on its way by then.
  if (fate === 'cut') setImmediate(() => response.destroy());
  else if (fate !== 'stall') response.end();
}

function lengthBy(fate: FileFate | undefined, size: number): number {
  if (fate === 'stall' || fate === 'cut') return Math.floor(size / 2);
  if (fate === 'short') return size - 1;
  return fate === 'long' ? size + 1 : size;
}
