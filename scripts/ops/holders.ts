import type { Db } from 'mongodb';
import type { LeaseDocument } from '../../shared/leases/lease.ts';
import { isGone, parseIdentity, thisProcess } from '../../shared/runtime/process-identity.ts';

/**
 * The epochs of those of the named leases that are held at `now` (this machine's time, so within the error of clocks), by name. One
 * of a process of this machine that has ended is held by nobody.
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
