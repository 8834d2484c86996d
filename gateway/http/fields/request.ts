import assert from 'node:assert/strict';
import { z } from 'zod';
import { isObject, type JsonObject } from '../context.ts';
import { FieldProblems, refuseUnknown } from '../field-problems.ts';
import {
  custom,
  Fault,
  type Fields,
  type Kind,
  object,
  type Reading,
  readField,
  type Schema,
  schemaOf,
  Unread,
  type Values,
} from './field.ts';

/** The fields that an endpoint accepts. Known names, checks and the schema in the API's document all follow from it. */
export interface RequestTable<T extends Fields> {
  readonly fields: T;
  /** Pairs of fields; a request must have exactly one of each pair. */
  readonly either: readonly Either[];
  readonly rules: readonly Rule<T>[];
}

interface Either {
  /** The two names. If both are missing, the first one is reported. */
  readonly names: readonly [string, string];
  /** If both are given, this one is refused without being read. */
  readonly surplus: string;
}

/** `given` lacks fields that could not be read; `has` knows whether they were given. */
export type Rule<T extends Fields> = (given: Given<T>, has: (name: string) => boolean, problems: FieldProblems) => void;

/** The values that could be read. A required field that is absent has been reported as a problem. */
export type Given<T extends Fields> = Partial<Values<T>>;

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

export async function readRequest<T extends Fields>(
  { fields, either, rules }: RequestTable<T>,
  body: JsonObject,
  context: Reading,
): Promise<ReadRequest<T>> {
  const problems = new FieldProblems();
  const has = (name: string): boolean => Object.hasOwn(body, name);
  refuseUnknown(Object.keys(body), Object.keys(fields), problems);
  const unread = either.map((pair) => surplusOf(pair, has, problems));
  const values: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(fields)) {
    if (unread.includes(name)) continue;
    const read = readField(field, has(name) ? body[name] : undefined, name, context, problems);
    const value = read instanceof Unread ? await read.read(name, context, problems) : read;
    if (value !== undefined) values[name] = value;
  }
  // Each value was read by its own field.
  const given = values as Given<T>;
  for (const rule of rules) rule(given, has, problems);
  return { given, problems };
}

/** A field that is a request in itself: an object with fields, pairs and rules. Its problems are named below it. */
export function nested<T extends Fields>(table: RequestTable<T>): Kind<Values<T>> {
  const { fields, either, rules } = table;
  const members = object(fields);
  return z
    .unknown()
    .meta({ ...requestSchema({ fields, either, rules: [] }) })
    .transform((given, { issues }) => {
      const has = (name: string): boolean => isObject(given) && Object.hasOwn(given, name);
      const read = members.safeParse(given);
      if (!isObject(given)) {
        issues.push(...((read.error?.issues ?? []) as z.core.$ZodRawIssue[]));
        return z.NEVER;
      }
      const problems = new FieldProblems();
      const unread = either.map((pair) => surplusOf(pair, has, problems));
      for (const issue of read.error?.issues ?? []) {
        if (!unread.includes(String(issue.path[0]))) issues.push(issue as z.core.$ZodRawIssue);
      }
      for (const rule of rules) rule(read.data ?? {}, has, problems);
      for (const { field, code, detail } of problems.listed) {
        issues.push(custom(new Fault(code, detail), given, [field]));
      }
      return read.data ?? z.NEVER;
    }) as Kind<unknown> as Kind<Values<T>>;
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

/** Call it only after a request with problems was refused. */
export function whole<T extends Fields>({ given, problems }: ReadRequest<T>): Values<T> {
  assert(problems.count === 0, 'a request with problems is not refused');
  return given as Values<T>;
}

export function requestSchema({ fields, either }: RequestTable<Fields>): Schema {
  const choices = either.map(({ names }) => ({ oneOf: names.map((name) => ({ required: [name] })) }));
  // Always in `allOf`: beside `properties`, generators of clients take `oneOf` for a union of unnamed types.
  return { ...schemaOf(z.strictObject(fields)), ...(choices.length > 0 && { allOf: choices }) };
}
