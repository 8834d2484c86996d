import type { Request } from 'express';
import { FieldProblems } from '../http/fields.ts';
import { LIMIT_DEFAULT, LIMIT_MAX, parseCursor, parseLimit } from '../http/page.ts';
import { parseQuery, parseQueryTime } from '../http/query.ts';
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
import type { Given, ReadRequest, RequestTable } from './request.ts';
import { TIME_PATTERN } from './times.ts';

/** Queries, declared as bodies are: the kind of a parameter gets the text that was given, so it is a `string` or a `choice`. */

/** Reads all parameters and reports every problem of the query at once. */
export function readQuery<T extends Fields>(
  { fields, rules }: Pick<RequestTable<T>, 'fields' | 'rules'>,
  req: Pick<Request, 'url'>,
  context: Reading,
): ReadRequest<T> {
  const problems = new FieldProblems();
  const query = parseQuery(req, Object.keys(fields), problems);
  const refused = new Set(problems.listed.map(({ field }) => field));
  const has = (name: string): boolean => Object.hasOwn(query, name) || refused.has(name);
  const values: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(fields)) {
    if (refused.has(name)) continue;
    const value = readField(field, query[name], name, context, problems);
    if (value !== undefined) values[name] = value;
  }
  // Each value was read by its own field.
  const given = values as Given<T>;
  for (const rule of rules) rule(given, has, problems);
  return { given, problems };
}

/** How many entries a page has. */
export const limit: Field<number> = otherwise(
  parameter(
    { type: 'integer', description: 'Entries of a page.', minimum: 1, maximum: LIMIT_MAX, default: LIMIT_DEFAULT },
    parseLimit,
  ),
  () => LIMIT_DEFAULT,
);

/** Where a page of the list named by `list` begins. */
export function cursorOf<Place extends string>(
  list: string,
  isPlace: (value: string) => value is Place,
): Field<Place | undefined> {
  return optional(
    parameter({ description: 'The `next_cursor` of the page before.' }, (text, problems) =>
      parseCursor(text, list, isPlace, problems),
    ),
  );
}

/** A time since 1970. An earlier one is taken for 1970. */
export function queryTime(description: string): Kind<Date> {
  return parameter({ description, format: 'date-time', pattern: TIME_PATTERN }, (text, problems) =>
    parseQueryTime('', text, problems),
  );
}

function parameter<Value>(
  schema: Parameters<typeof string>[0],
  parse: (text: string, problems: FieldProblems) => Value | undefined,
): Kind<Value> {
  return string(schema, (text) => {
    const problems = new FieldProblems();
    const value = parse(text, problems);
    const [problem] = problems.listed;
    // Without a problem there is a value.
    return problem === undefined ? (value as Value) : new Fault(problem.code, problem.detail);
  });
}
