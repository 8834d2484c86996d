import type { FieldProblems } from './field-problems.ts';

/** Lists are answered in pages, newest first: `{data, next_cursor, has_more}`. */
const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 500;

/** The number of entries on a page. */
export function parseLimit(text: string | undefined, problems: FieldProblems): number {
  if (text === undefined) return LIMIT_DEFAULT;
  const limit = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(limit)) problems.add('limit', 'invalid_value', 'It must be a whole number.');
  else if (limit < 1 || limit > LIMIT_MAX) problems.add('limit', 'out_of_range', `It must be from 1 to ${LIMIT_MAX}.`);
  return limit;
}

/**
 * Parses a page's `next_cursor`: the place of its last entry in the list named by `list`. It is opaque to callers,
 * but neither secret nor signed. A made-up cursor either has the wrong form and is refused, or shows the caller's own
 * data.
 */
export function parseCursor<Place extends string>(
  text: string | undefined,
  list: string,
  isPlace: (value: string) => value is Place,
  problems: FieldProblems,
): Place | undefined {
  if (text === undefined) return undefined;
  const place = Buffer.from(text, 'base64url')
    .toString('utf8')
    .slice(list.length + 1);
  if (isPlace(place) && cursorOf(list, place) === text) return place;
  problems.add('cursor', 'invalid_value', 'It must be the `next_cursor` of an earlier page of this list.');
  return undefined;
}

/** `next`: the place of the last entry. Undefined when nothing can follow. */
export function pageOf(list: string, data: readonly object[], next: string | undefined): object {
  return { data, next_cursor: next === undefined ? null : cursorOf(list, next), has_more: next !== undefined };
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
