import type { IncomingMessage } from 'node:http';
import { Crumbs } from '../../shared/runtime/crumbs.ts';

const CRUMBS = new WeakMap<IncomingMessage, Crumbs>();

/**
 * For each piece of a body as Node's parser finds it: whether it is to be dropped, because the body comes in crumbs. The
 * connection is read no further then (json-body.ts refuses the request).
 */
export function isCrumbling(req: IncomingMessage, piece: unknown): boolean {
  if (!(piece instanceof Uint8Array) || req.headers['transfer-encoding'] === undefined) return false;
  let crumbs = CRUMBS.get(req);
  if (crumbs === undefined) {
    crumbs = new Crumbs();
    CRUMBS.set(req, crumbs);
  }
  if (crumbs.tooMany) return true;
  // The one too many goes through, so that whoever waits for the body looks.
  crumbs.add(piece.length);
  return false;
}

/** Whether pieces of this body are dropped. */
export function cameInCrumbs(req: IncomingMessage): boolean {
  return CRUMBS.get(req)?.tooMany === true;
}
