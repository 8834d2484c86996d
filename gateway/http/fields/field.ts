import assert from 'node:assert/strict';
import type { NumberRules } from '../../../shared/money/accounts/number-check.ts';
import type { Config } from '../../../shared/platform/config/settings.ts';
import { inSlices } from '../../../shared/platform/runtime/turns.ts';
import { isObject, type JsonObject } from '../context.ts';
import type { FieldProblem } from '../field-codes.ts';
import { type FieldProblems, refuseUnknown, wrongType } from '../field-problems.ts';

/**
 * A request field is declared once. Its kind says how JSON becomes a value and what docs/openapi.json shows.
 * `required`, `optional` and `withDefault` say what happens when the field is left out. A table of fields makes a
 * request (request.ts).
 */
export interface Field<Value> {
  readonly schema: Schema;
  readonly required: boolean;
  read(value: unknown, name: string, reading: Reading): Value | undefined | Promise<Value | undefined>;
  absent(name: string, reading: Reading): Value | undefined;
}

/** JSON Schema as OpenAPI 3.1 defines it, limited to what our contract uses. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}

/** The context in which the fields of one request are read. */
export interface Reading {
  readonly problems: FieldProblems;
  /** The account's rules for recipients. */
  readonly account: NumberRules;
  readonly now: Date;
  readonly config: Pick<Config, 'maxSegments' | 'validityHours'>;
}

/**
 * `read` returns undefined for a wrong value and adds the reason to `problems`. `name` is the field's place: `to`,
 * `recipients[3].to`.
 */
export interface Kind<Value> {
  readonly schema: Schema;
  read(value: unknown, name: string, reading: Reading): Value | undefined;
}

/** A list so long that it must be read in slices. Only for fields of the body itself, not for members of entries. */
export interface LongKind<Value> {
  readonly schema: Schema;
  read(value: unknown, name: string, reading: Reading): Promise<Value | undefined>;
}

export type Fields = Readonly<Record<string, Field<unknown>>>;
type ValueOf<F> = F extends Field<infer Value> ? Value : never;

/** The values that a table of fields is read into. Optional fields may be absent. */
export type Values<T extends Fields> = {
  readonly [Name in keyof T as undefined extends ValueOf<T[Name]> ? never : Name]: ValueOf<T[Name]>;
} & {
  readonly [Name in keyof T as undefined extends ValueOf<T[Name]> ? Name : never]?: Exclude<
    ValueOf<T[Name]>,
    undefined
  >;
};

export function required<Value>(kind: Kind<Value> | LongKind<Value>): Field<Value> {
  const absent = (name: string, { problems }: Reading) => problems.add(name, 'missing_field', 'It is required.');
  return { ...kind, required: true, absent };
}

export function optional<Value>(kind: Kind<Value> | LongKind<Value>): Field<Value | undefined> {
  return { ...kind, required: false, absent: () => undefined };
}

export function withDefault<Value>(kind: Kind<Value>, preset: Value): Field<Value> {
  return { ...kind, schema: { ...kind.schema, default: preset }, required: false, absent: () => preset };
}

/** For a default that depends on the request, or that the contract does not show. */
export function otherwise<Value>(kind: Kind<Value>, absent: (reading: Reading) => Value): Field<Value> {
  return { ...kind, required: false, absent: (_name, reading) => absent(reading) };
}

/** Why a text is not a valid value of the field. */
export class Fault {
  readonly code: FieldProblem['code'];
  readonly detail: string;

  constructor(code: FieldProblem['code'], detail: string) {
    this.code = code;
    this.detail = detail;
  }
}

/** A string, converted by `parse`. Strict about types: null, numbers and objects are problems. */
export function string<Value>(schema: Schema, parse: (text: string, reading: Reading) => Value | Fault): Kind<Value> {
  return {
    schema: { type: 'string', ...schema },
    read(value, name, reading) {
      const { problems } = reading;
      if (typeof value !== 'string') {
        return problems.add(name, 'wrong_type', `It must be a string, not ${wrongType(value)}.`);
      }
      const parsed = parse(value, reading);
      return parsed instanceof Fault ? problems.add(name, parsed.code, parsed.detail) : parsed;
    },
  };
}

export function choice<const Value extends string>(values: readonly Value[], description?: string): Kind<Value> {
  const fault = new Fault('invalid_value', `It must be one of ${values.join(', ')}.`);
  return string(
    { ...(description && { description }), enum: values },
    (text) => values.find((value) => value === text) ?? fault,
  );
}

export function boolean(description: string): Kind<boolean> {
  return {
    schema: { type: 'boolean', description },
    read(value, name, { problems }) {
      if (typeof value === 'boolean') return value;
      return problems.add(name, 'wrong_type', `It must be true or false, not ${wrongType(value)}.`);
    },
  };
}

/** A JSON number within the limits of the schema. */
export function number(schema: Required<Pick<Schema, 'description' | 'minimum' | 'maximum'>>): Kind<number> {
  const { minimum, maximum } = schema;
  return {
    schema: { type: 'number', ...schema },
    read(value, name, { problems }) {
      if (typeof value !== 'number') {
        return problems.add(name, 'wrong_type', `It must be a number, not ${wrongType(value)}.`);
      }
      if (value >= minimum && value <= maximum) return value;
      return problems.add(name, 'out_of_range', `It must be from ${minimum} to ${maximum}.`);
    },
  };
}

type ListSchema = Pick<Schema, 'description' | 'minItems' | 'maxItems'>;

/**
 * `compare` gets all entries that were read (undefined for bad ones) and reports problems that concern several of
 * them.
 */
export function list<Value>(
  item: Kind<Value>,
  limits: ListSchema,
  compare?: (entries: readonly (Value | undefined)[], name: string, problems: FieldProblems) => void,
): Kind<readonly Value[]> {
  const schema = { type: 'array', ...limits, items: item.schema };
  return {
    schema,
    read(value, name, reading) {
      const before = reading.problems.count;
      const entries = entriesOf(value, schema, name, reading.problems).map((entry, index) =>
        item.read(entry, `${name}[${index}]`, reading),
      );
      compare?.(entries, name, reading.problems);
      return reading.problems.count > before ? undefined : entries.filter((entry) => entry !== undefined);
    },
  };
}

/** Like `list`, for thousands of entries: pauses between slices, so that the event loop can do other work. */
export function longList<Value>(item: Kind<Value>, limits: ListSchema): LongKind<readonly Value[]> {
  const schema = { type: 'array', ...limits, items: item.schema };
  return {
    schema,
    async read(value, name, reading) {
      const before = reading.problems.count;
      const good: Value[] = [];
      await inSlices(entriesOf(value, schema, name, reading.problems), (entry, index) => {
        const read = item.read(entry, `${name}[${index}]`, reading);
        if (read !== undefined) good.push(read);
      });
      return reading.problems.count > before ? undefined : good;
    },
  };
}

/** How many entries of a list that is too long are still checked, so that the caller learns of more problems at once. */
const READ_OF_TOO_MANY = 10;

function entriesOf(value: unknown, schema: Schema, name: string, problems: FieldProblems): readonly unknown[] {
  const { items, minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema;
  if (!Array.isArray(value)) {
    problems.add(name, 'wrong_type', `It must be an array of ${items?.type}s, not ${wrongType(value)}.`);
    return [];
  }
  if (value.length >= minItems && value.length <= maxItems) return value;
  const allowed = maxItems < Number.POSITIVE_INFINITY ? `${minItems} to ${maxItems} are` : `at least ${minItems} is`;
  problems.add(name, 'wrong_count', `It has ${value.length} entries; ${allowed} allowed.`);
  return value.slice(0, READ_OF_TOO_MANY);
}

/** An entry of a list that has members of its own. */
export function object<T extends Fields>(fields: T): Kind<Values<T>> {
  const names = Object.keys(fields);
  const members = Object.entries(fields);
  const form = `It must be an object with ${names.map((name) => `\`${name}\``).join(' and ')}`;
  return {
    schema: objectSchema(fields),
    read(value, name, reading) {
      const { problems } = reading;
      if (!isObject(value)) return problems.add(name, 'wrong_type', `${form}, not ${wrongType(value)}.`);
      const before = problems.count;
      refuseUnknown(value, names, problems, `${name}.`);
      const values: Record<string, unknown> = {};
      for (const [member, field] of members) {
        const read = readField(field, value, member, `${name}.${member}`, reading);
        assert(!(read instanceof Promise), 'a long list inside an entry');
        if (read !== undefined) values[member] = read;
      }
      // Without a problem every required member is present, and each value was read by its own field.
      return problems.count > before ? undefined : (values as Values<T>);
    },
  };
}

export function readField(field: Field<unknown>, from: JsonObject, member: string, name: string, reading: Reading) {
  if (!Object.hasOwn(from, member)) return field.absent(name, reading);
  const value = from[member];
  // Many programs write null for what they do not set.
  if (value === null && !field.required) {
    return reading.problems.add(name, 'wrong_type', 'It must not be null: leave out what you do not set.');
  }
  return field.read(value, name, reading);
}

export function objectSchema(fields: Fields): Schema {
  const all = Object.entries(fields);
  return {
    type: 'object',
    properties: Object.fromEntries(all.map(([name, { schema }]) => [name, schema])),
    required: all.filter(([, field]) => field.required).map(([name]) => name),
    additionalProperties: false,
  };
}
