import type { Db } from 'mongodb';
import { isDuplicateKey } from '../mongo/errors.ts';
import type { AccountId, EndpointId } from '../runtime/ids.ts';
import type { EndpointDocument } from './endpoint.ts';

/** A limit, because each event becomes one delivery per endpoint. */
export const ENDPOINTS_PER_ACCOUNT = 10;

/**
 * The places of an account's endpoints, 0 to 9. The unique index `endpoints.place` ensures that no two endpoints of an account
 * have the same place. So the insert of an endpoint decides whether there was room, whatever is inserted at the same time, and
 * removing one makes room (docs/decisions/0029).
 */
const PLACES: readonly number[] = Array.from({ length: ENDPOINTS_PER_ACCOUNT }, (_, n) => n);

/** A place that was free at the time of the read; another process may take it first. Undefined when all were taken. */
export async function findFreePlace(db: Db, account: AccountId, id: EndpointId): Promise<number | undefined> {
  const free = await freePlaces(db, account);
  // Not always the first one: simultaneous registrations would all try the same.
  return free[Number.parseInt(id.slice(-6), 16) % free.length]; // An id is a hash.
}

/** The free places. Endpoints of earlier versions, which have no place, get theirs first. */
async function freePlaces(db: Db, account: AccountId): Promise<readonly number[]> {
  const endpoints = db.collection<EndpointDocument>('endpoints');
  for (;;) {
    const all = await endpoints
      .find({ account })
      .project<Pick<EndpointDocument, '_id' | 'place'>>({ place: 1 })
      .toArray();
    const taken = new Set(all.map(({ place }) => place));
    const free = PLACES.filter((place) => !taken.has(place));
    const without = all.find(({ place }) => place === undefined);
    const [place] = free;
    if (without === undefined || place === undefined) return free;
    try {
      await endpoints.updateOne({ _id: without._id, place: { $exists: false } }, { $set: { place } });
    } catch (error) {
      if (!isDuplicateKey(error)) throw error; // Somebody else took it.
    }
  }
}
