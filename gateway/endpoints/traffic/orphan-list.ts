import type { Db, Filter, FindCursor } from 'mongodb';
import type { OrphanDocument } from '../../../shared/messages/settlement/orphan.ts';

/** The place of an orphan in the list: when it ends, in milliseconds, and its id. */
export type Place = `${number} ${string}`;

export function isPlace(text: string): text is Place {
  return /^\d{1,15} [\x21-\x7e]{1,80}$/.test(text);
}

export function placeOf({ expiresAt, _id }: OrphanDocument): Place {
  return `${expiresAt.getTime()} ${_id}`;
}

/** Newest first: all live equally long, so the index of their end has them in the order in which they came. */
export function findOrphans(
  db: Db,
  { carrier, after }: { readonly carrier: string | undefined; readonly after: Place | undefined },
): FindCursor<OrphanDocument> {
  const filter: Filter<OrphanDocument> = {
    ...(carrier === undefined ? {} : { carrier }),
    ...(after === undefined ? {} : behind(after)),
  };
  return db.collection<OrphanDocument>('orphans').find(filter).sort({ expiresAt: -1, _id: -1 });
}

/** `$lte` bounds the index, and `$or` leaves out what has the same time and was shown. */
function behind(place: Place): Filter<OrphanDocument> {
  const blank = place.indexOf(' ');
  const expiresAt = new Date(Number(place.slice(0, blank)));
  return {
    expiresAt: { $lte: expiresAt },
    $or: [{ expiresAt: { $lt: expiresAt } }, { _id: { $lt: place.slice(blank + 1) } }],
  };
}
