import type { FieldProblems } from './fields.ts';

/** Lists are answered in pages, newest first: `{data, next_cursor, has_more}`. */
const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 500;

/** Entries of one page. */
export function parseLimit(text: string | undefined, problems: FieldProblems): number {
  if (text === undefined) return LIMIT_DEFAULT;
  const limit = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(limit)) problems.add('limit', 'invalid_value', 'It must be a whole number.');
  else if (limit < 1 || limit > LIMIT_MAX) problems.add('limit', 'out_of_range', `It must be from 1 to ${LIMIT_MAX}.`);
  return limit;
}

/**
 * What a page's `next_cursor` stands for: the place of its last entry in the list that `list` names. Opaque to callers, but
 * no secret and not signed: a made-up one is refused for its form, and one of good form shows the caller's own data only.
 */
export function parseCursor<Place extends string>(
  text: string | undefined,
  list: string,
  isPlace: (value: string) => value is Place,
  problems: FieldProblems,
): Place | undefined {
  if (text === undefined) return undefined;
  const place = Buffer.from(text, 'base64url')
    .toString('latin1')
    .slice(list.length + 1);
  if (isPlace(place) && cursorOf(list, place) === text) return place;
  problems.add('cursor', 'invalid_value', 'It must be the `next_cursor` of an earlier page of this list.');
  return undefined;
}

/** `next`: the place of the last entry; undefined when nothing can follow. */
export function pageOf(list: string, data: readonly object[], next: string | undefined): object {
  return { data, next_cursor: next === undefined ? null : cursorOf(list, next), has_more: next !== undefined };
}

function cursorOf(list: string, place: string): string {
  return Buffer.from(`${list}:${place}`, 'latin1').toString('base64url');
}
