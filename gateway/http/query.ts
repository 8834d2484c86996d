import type { Request } from 'express';
import { parseOffsetTime } from '../../shared/platform/runtime/iso-time.ts';
import { type FieldProblems, refuseUnknown } from './field-problems.ts';

/**
 * The only reader of query strings; Express's own is off. As strict as bodies: unknown parameters, repeated
 * parameters and invalid UTF-8 are problems. A misspelt filter would otherwise show everything.
 */
export function parseQuery<Name extends string>(
  req: Request,
  known: readonly Name[],
  problems: FieldProblems,
): Readonly<Partial<Record<Name, string>>> {
  const start = req.url.indexOf('?');
  const given = new URLSearchParams(start === -1 ? '' : req.url.slice(start));
  refuseUnknown(Object.fromEntries(given), known, problems);
  const values: Partial<Record<Name, string>> = {};
  for (const name of known) {
    const [value, ...more] = given.getAll(name);
    if (value === undefined) continue;
    if (more.length > 0) problems.add(name, 'conflict', 'It is given more than once.');
    else if (value.includes('\ufffd')) problems.add(name, 'invalid_text', 'It must be UTF-8, percent-encoded.');
    else values[name] = value;
  }
  return values;
}

/** One of several words. */
export function parseQueryChoice<const Word extends string>(
  name: string,
  text: string | undefined,
  words: readonly Word[],
  problems: FieldProblems,
): Word | undefined {
  if (text === undefined) return undefined;
  const known = words.find((word) => word === text);
  return known ?? problems.add(name, 'invalid_value', `It must be one of ${words.join(', ')}.`);
}

/** An ISO 8601 time with an offset, since 1970. Ids have no earlier times, and nothing of ours is older. */
export function parseQueryTime(name: string, text: string | undefined, problems: FieldProblems): Date | undefined {
  if (text === undefined) return undefined;
  const time = parseOffsetTime(text);
  if (time !== undefined) return time.at.getTime() < 0 ? new Date(0) : time.at;
  const hint = text.includes(' ') ? ' Write + as %2B in a query.' : '';
  problems.add(
    name,
    'invalid_time',
    `It must be an ISO 8601 date-time with an offset, for example 2027-01-31T18:00:00Z.${hint}`,
  );
  return undefined;
}
