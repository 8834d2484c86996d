import type { IncomingMessage } from 'node:http';

/** Chunks of a body whose size does not matter: programs that write token by token send some hundred small ones. */
const FREE_PIECES = 1_000;
/** What the others must have on average, in bytes. */
const PIECE_BYTES = 16;

interface Pieces {
  count: number;
  bytes: number;
  crumbling: boolean;
}

const PIECES = new WeakMap<IncomingMessage, Pieces>();

/**
 * For each piece of a body as Node's parser finds it: whether the body comes in crumbs, thousands of chunks of a few bytes.
 * Each costs the parser 3 µs and a buffer; a packet holds 10,900 of one byte. From then on pieces are dropped, and the
 * connection is read no further (json-body.ts refuses the request).
 */
export function isCrumbling(req: IncomingMessage, piece: unknown): boolean {
  if (!(piece instanceof Uint8Array) || req.headers['transfer-encoding'] === undefined) return false;
  const pieces = PIECES.get(req) ?? { count: 0, bytes: 0, crumbling: false };
  if (pieces.count === 0) PIECES.set(req, pieces);
  if (pieces.crumbling) return true;
  pieces.count += 1;
  pieces.bytes += piece.length;
  // This one goes through, so that whoever waits for the body looks.
  pieces.crumbling = pieces.count > FREE_PIECES && pieces.bytes < pieces.count * PIECE_BYTES;
  return false;
}

/** Whether pieces of this body are dropped. */
export function cameInCrumbs(req: IncomingMessage): boolean {
  return PIECES.get(req)?.crumbling === true;
}
