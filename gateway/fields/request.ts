import assert from 'node:assert/strict';
import type { JsonObject } from '../http/context.ts';
import { FieldProblems, refuseUnknown } from '../http/fields.ts';
import { type Fields, objectSchema, type Reading, readField, type Schema, type Values } from './field.ts';

/**
 * What an endpoint takes. The names it knows, its checks and its schema in docs/openapi.json follow from this table: a new field
 * is one entry here, and its use.
 */
export interface RequestTable<T extends Fields> {
  readonly fields: T;
  /** Pairs of fields of which a request has exactly one. */
  readonly either: readonly Either[];
  /** What else two fields have to do with each other. */
  readonly rules: readonly Rule<T>[];
}

export interface Either {
  /** The first is reported as missing when there is none. */
  readonly names: readonly [string, string];
  /** Which is refused, unread, when there are both. */
  readonly surplus: string;
}

/** Adds what is wrong to `problems`. A field that could not be read is undefined: only `has` knows whether it was given. */
export type Rule<T extends Fields> = (given: Given<T>, has: (name: string) => boolean, problems: FieldProblems) => void;

/** What could be read; a field that is missing here or wrong is among the problems. */
export type Given<T extends Fields> = Partial<Values<T>>;

/** A request that was read; the endpoint may add problems that it finds itself. */
export interface ReadRequest<T extends Fields> {
  readonly given: Given<T>;
  readonly problems: FieldProblems;
}

export function request<T extends Fields>(
  fields: T,
  either: readonly Either[] = [],
  rules: readonly Rule<NoInfer<T>>[] = [],
): RequestTable<T> {
  return { fields, either, rules };
}

/** Reads all fields and lists every problem of the body at once. */
export async function readRequest<T extends Fields>(
  { fields, either, rules }: RequestTable<T>,
  body: JsonObject,
  context: Omit<Reading, 'problems'>,
): Promise<ReadRequest<T>> {
  const problems = new FieldProblems();
  const reading = { ...context, problems };
  const has = (name: string): boolean => Object.hasOwn(body, name);
  refuseUnknown(body, Object.keys(fields), problems);
  const unread = either.map((pair) => surplusOf(pair, has, problems));
  const values: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(fields)) {
    if (unread.includes(name)) continue;
    const read = readField(field, body, name, name, reading);
    const value = read instanceof Promise ? await read : read;
    if (value !== undefined) values[name] = value;
  }
  // Each is what its own field read.
  const given = values as Given<T>;
  for (const rule of rules) rule(given, has, problems);
  return { given, problems };
}

function surplusOf({ names, surplus }: Either, has: (name: string) => boolean, problems: FieldProblems) {
  const [first, second] = names;
  if (has(first) && has(second)) {
    problems.add(surplus, 'conflict', `Give \`${first}\` or \`${second}\`, not both.`);
    return surplus;
  }
  if (!has(first) && !has(second)) problems.add(first, 'missing_field', `Give \`${first}\` or \`${second}\`.`);
  return undefined;
}

/** The values of a request that has no problems; those with problems are refused first. */
export function whole<T extends Fields>({ given, problems }: ReadRequest<T>): Values<T> {
  assert(problems.count === 0, 'a request with problems is not refused');
  // A required field that is not there would be a problem.
  return given as Values<T>;
}

export function requestSchema({ fields, either }: RequestTable<Fields>): Schema {
  const choices = either.map(({ names }) => ({ oneOf: names.map((name) => ({ required: [name] })) }));
  return { ...objectSchema(fields), ...(choices.length > 1 ? { allOf: choices } : choices[0]) };
}
