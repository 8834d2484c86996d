import { randomInt } from 'node:crypto';
import type { Db, Document } from 'mongodb';
import { isDuplicateKey } from './errors.ts';

/**
 * How many things of a kind somebody may have, as places that are numbered from 0 (docs/decisions/0024). Each thing has its place in
 * the field `place`, and a unique index on the owner's fields and `place` lets no two things have the same. So the write that takes
 * a place decides whether there was room, whatever other processes write at the same time; removing the thing, or its field, makes
 * room.
 */
export interface Places {
  readonly db: Db;
  readonly collection: string;
  /** Whose things: the other fields of the unique index, `{ account }`. */
  readonly owner: Document;
  /** How many things the owner may have. */
  readonly most: number;
  /** Frees the places of things that have ended by themselves. Called when all places are taken, before anybody is refused. */
  release?(): Promise<unknown>;
}

/** The owner has as many things of the kind as it may have. */
export class AllPlacesTaken extends Error {
  readonly most: number;

  constructor({ collection, most }: Places) {
    super(`all ${most} places in ${collection} are taken`);
    this.most = most;
  }
}

/** Places that are guessed before the taken ones are read. Somebody who has few things pays for the write alone. */
const GUESSES = 2;

/** Most tries. Each failed one means that another write took the place first. */
const TRIES_MAX = 100;

/**
 * Calls `write` with places until it takes one: it inserts or updates one document so that `place` is set. Throws `AllPlacesTaken`,
 * and whatever `write` throws; also its duplicate key, when it is of another unique index.
 */
export async function takePlace<T>(places: Places, write: (place: number) => Promise<T>): Promise<T> {
  let otherKey = 0;
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const place = tries < GUESSES ? randomInt(places.most) : await freePlace(places);
    try {
      return await write(place);
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      // Not every server says of which index. Once, the place may have become free again just now.
      if (!(await isTaken(places, place)) && ++otherKey > 1) throw error;
    }
  }
  throw new Error(`no place in ${places.collection} in ${TRIES_MAX} tries`);
}

/** A place that was free at the time of the read: any of them, because simultaneous writes would all try the first. */
async function freePlace(places: Places): Promise<number> {
  const free = await freePlaces(places);
  const place = free[randomInt(Math.max(free.length, 1))];
  if (place !== undefined) return place;
  if (places.release === undefined) throw new AllPlacesTaken(places);
  const { release, ...others } = places;
  await release();
  return freePlace(others);
}

/** The places that nobody had at the time of the read. */
export async function freePlaces({ db, collection, owner, most }: Places): Promise<readonly number[]> {
  // The index alone answers this.
  const found = await db
    .collection<{ readonly place: number }>(collection)
    .find({ ...owner, place: { $gte: 0, $lt: most } }, { projection: { _id: 0, place: 1 } })
    .toArray();
  const taken = new Set(found.map(({ place }) => place));
  return Array.from({ length: most }, (_, place) => place).filter((place) => !taken.has(place));
}

async function isTaken({ db, collection, owner }: Places, place: number): Promise<boolean> {
  const found = await db.collection(collection).findOne({ ...owner, place }, { projection: { place: 1 } });
  return found !== null;
}
