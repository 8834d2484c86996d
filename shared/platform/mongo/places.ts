import { randomInt } from 'node:crypto';
import type { Db, Document } from 'mongodb';
import { isDuplicateKey } from './errors.ts';

/**
 * Limits how many things somebody may have, by places numbered from 0 (docs/decisions/0024). Each thing has a `place`,
 * unique for its owner by an index. So the write that takes a place decides whether there was room, whatever other
 * processes write; removing the thing, or its field, makes room.
 */
export interface Places {
  readonly db: Db;
  readonly collection: string;
  /** The other fields of the unique index: `{ account }`. */
  readonly owner: Document;
  readonly most: number;
  /** Frees the places of things that have ended by themselves, before anybody is refused. */
  release?(): Promise<unknown>;
}

export class AllPlacesTaken extends Error {
  readonly most: number;

  constructor({ collection, most }: Places) {
    super(`all ${most} places in ${collection} are taken`);
    this.most = most;
  }
}

/** Places that are guessed before the taken ones are read. Somebody who has few things pays for the write alone. */
const GUESSES = 2;

/** Each failed one means that another write took the place first. */
const TRIES_MAX = 100;

/**
 * Calls `write` with places until it takes one: inserts or updates one document so that `place` is set. Throws
 * `AllPlacesTaken`, and whatever `write` throws; also a duplicate key of another unique index.
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

/** A random one of the free places, because simultaneous writes would all try the first. */
async function freePlace(places: Places): Promise<number> {
  const free = await freePlaces(places);
  const place = free[randomInt(Math.max(free.length, 1))];
  if (place !== undefined) return place;
  if (places.release === undefined) throw new AllPlacesTaken(places);
  const { release, ...others } = places;
  await release();
  return freePlace(others);
}

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
