import type { Db } from 'mongodb';
import { isGone, parseIdentity, thisProcess } from '../runtime/process-identity.ts';
import type { LeaseDocument } from './lease.ts';

/**
 * The epochs of the named leases that are held at `now`, by name. `now` is this machine's time, so the result is as exact as the
 * clocks. A lease whose holder was a process of this machine that has ended is not held.
 */
export async function heldEpochs(db: Db, names: readonly string[], now: Date): Promise<ReadonlyMap<string, number>> {
  const leases = await db
    .collection<LeaseDocument>('leases')
    .find({ _id: { $in: [...names] }, until: { $gt: now } })
    .toArray();
  const here = thisProcess();
  const held = leases.filter(({ owner }) => !isGone(parseIdentity(owner), here));
  return new Map(held.map(({ _id, epoch }) => [_id, epoch]));
}
