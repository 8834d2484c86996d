/** Lists are answered in pages, newest first: `{data, next_cursor, has_more}`. */

/** `next`: the place of the last entry. Undefined when nothing can follow. */
export function pageOf<Entry>(list: string, data: readonly Entry[], next: string | undefined) {
  return { data, next_cursor: next === undefined ? null : cursorOf(list, next), has_more: next !== undefined };
}

/** A page of what was found: at most `limit` entries. One more was found when something follows. */
export function pageOfFound<Found extends { readonly _id: string }, Entry>(
  list: string,
  found: readonly Found[],
  limit: number,
  record: (one: Found) => Entry,
  placeOf: (last: Found) => string = ({ _id }) => _id,
) {
  const page = found.slice(0, limit);
  const last = found.length > limit ? page.at(-1) : undefined;
  return pageOf(list, page.map(record), last && placeOf(last));
}

/**
 * Puts what is paid for and not stored yet into a page of what is stored, which has `limit` entries unless the list ends. Of what
 * is in both the stored entry is taken: it was stored in between, and may have moved on since.
 */
export function mergePage<Entry extends { readonly _id: string }>(
  stored: readonly Entry[],
  unstored: readonly Entry[],
  order: (a: Entry, b: Entry) => number,
  limit: number,
): readonly Entry[] {
  const ids = new Set(stored.map(({ _id }) => _id));
  return [...stored, ...unstored.filter(({ _id }) => !ids.has(_id))].sort(order).slice(0, limit);
}

/** The cursor of what comes behind a place of a list. */
export function cursorOf(list: string, place: string): string {
  return Buffer.from(`${list}:${place}`, 'utf8').toString('base64url');
}
