import type { Request } from 'express';
import { parseOffsetTime } from '../../../shared/platform/runtime/clock.ts';
import { FieldProblems, refuseUnknown } from '../field-problems.ts';
import {
  Fault,
  type Field,
  type Fields,
  type Kind,
  optional,
  otherwise,
  type Reading,
  readField,
  string,
} from './field.ts';
import type { Given, ReadRequest, Rule } from './request.ts';
import { TIME_WITH_OFFSET } from './times.ts';

/**
 * The only reader of query strings; Express's own is off. As strict as for bodies: unknown and repeated parameters and
 * invalid UTF-8 are problems. Otherwise a misspelt filter would show everything.
 */
export function readQuery<T extends Fields>(
  table: T,
  req: Pick<Request, 'url'>,
  context: Reading,
  rules: readonly Rule<T>[] = [],
): ReadRequest<T> {
  const problems = new FieldProblems();
  const start = req.url.indexOf('?');
  const given = new Map<string, string>();
  const repeated = new Set<string>();
  for (const [name, text] of new URLSearchParams(start === -1 ? '' : req.url.slice(start))) {
    if (given.has(name)) repeated.add(name);
    else given.set(name, text);
  }
  refuseUnknown(given.keys(), Object.keys(table), problems);
  const values: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(table)) {
    const text = given.get(name);
    if (repeated.has(name)) problems.add(name, 'conflict', 'It is given more than once.');
    else if (text?.includes('\ufffd')) problems.add(name, 'invalid_text', 'It must be UTF-8, percent-encoded.');
    else {
      const read = readField(field, text, name, context, problems);
      if (read !== undefined) values[name] = read;
    }
  }
  // Each value was read by its own field.
  const read = values as Given<T>;
  for (const rule of rules) rule(read, (name) => given.has(name), problems);
  return { given: read, problems };
}

const LIMIT_MAX = 500;
export const LIMIT_DEFAULT = 50;

/** For `reads` of a list: this many entries of a page count as one request. */
export function readsPer(entriesPerRequest: number): (query: { readonly limit: number }) => number {
  return ({ limit: asked }) => Math.ceil(asked / entriesPerRequest);
}

export const limit: Field<number> = otherwise(entries('Entries of a page.', LIMIT_DEFAULT), () => LIMIT_DEFAULT);

export function entries(description: string, shown?: number): Kind<number> {
  return wholeOf(description, 1, LIMIT_MAX, shown);
}

/** `shown`: the default that the contract shows. */
export function wholeOf(description: string, minimum: number, maximum: number, shown?: number): Kind<number> {
  const preset = shown === undefined ? {} : { default: shown };
  return string({ type: 'integer', description, minimum, maximum, ...preset }, (text) => {
    if (!/^\d{1,6}$/.test(text)) return new Fault('invalid_value', 'It must be a whole number.');
    const value = Number(text);
    const isWithin = value >= minimum && value <= maximum;
    return isWithin ? value : new Fault('out_of_range', `It must be from ${minimum} to ${maximum}.`);
  });
}

/**
 * A page's `next_cursor`: the place of its last entry in the list named by `list`. Opaque, but neither secret nor
 * signed: a made-up cursor either has the wrong form and is refused, or shows the caller's own data.
 */
export function cursorOf<Place extends string>(list: string, isPlace: (value: string) => value is Place) {
  return optional(
    string({ description: 'The `next_cursor` of the page before.', pattern: '^[A-Za-z0-9_-]+$' }, (text) => {
      const place = Buffer.from(text, 'base64url')
        .toString('utf8')
        .slice(list.length + 1);
      if (isPlace(place) && cursorText(list, place) === text) return place;
      return new Fault('invalid_value', 'It must be the `next_cursor` of an earlier page of this list.');
    }),
  );
}

/** Not before 1970: ids have no earlier times, and nothing of ours is older. */
export function queryTime(description: string): Kind<Date> {
  return string({ description, format: 'date-time', pattern: TIME_WITH_OFFSET }, (text) => {
    const time = parseOffsetTime(text);
    if (time !== undefined) return time.at.getTime() < 0 ? new Date(0) : time.at;
    const hint = text.includes(' ') ? ' Write + as %2B in a query.' : '';
    return new Fault(
      'invalid_time',
      `It must be an ISO 8601 date-time with an offset, for example 2027-01-31T18:00:00Z.${hint}`,
    );
  });
}

const CHANGE_ID = /^[A-Za-z0-9_-]{5,80}$/;

export function changeId(description: string): Kind<string> {
  return string({ description, pattern: CHANGE_ID.source }, (text) =>
    CHANGE_ID.test(text) ? text : new Fault('invalid_value', 'It must be the id of a change.'),
  );
}

/** Lists are answered in pages, newest first: `{data, next_cursor, has_more}`. */

/** `next`: the place of the last entry, undefined when nothing can follow. */
export function pageOf<Entry>(list: string, data: readonly Entry[], next: string | undefined) {
  return { data, next_cursor: next === undefined ? null : cursorText(list, next), has_more: next !== undefined };
}

/** One more entry than `limit` was found if something follows. */
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
 * Merges messages that are paid for and not stored yet into a page of stored ones, which has `limit` entries unless the
 * list ends. Of an entry in both the stored one is taken: it was stored in between and may have moved on.
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

export function cursorText(list: string, place: string): string {
  return Buffer.from(`${list}:${place}`, 'utf8').toString('base64url');
}
