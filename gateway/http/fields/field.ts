import { z } from 'zod';
import type { NumberRules } from '../../../shared/money/accounts/number-check.ts';
import type { Config } from '../../../shared/platform/config/settings.ts';
import { inSlices } from '../../../shared/platform/runtime/turns.ts';
import { isObject, type JsonObject } from '../context.ts';
import { type FieldProblems, refuseUnknown, wrongType } from '../field-problems.ts';
import type { FieldProblem } from '../problem.ts';

/**
 * A request field is declared once, as a zod schema. Its kind says how JSON becomes a value and what the API's document
 * shows. `required`, `optional` and `withDefault` say what an absent field means. A table of fields makes a request
 * (request.ts). Codes and texts of all problems are made here.
 */
export type Kind<Value> = z.ZodType<Value>;
/** A kind that also says what an absent field means. */
export type Field<Value> = z.ZodType<Value>;
export type Fields = Readonly<Record<string, Field<unknown>>>;

export type Values<T extends Fields> = {
  readonly [Name in keyof T as undefined extends z.output<T[Name]> ? never : Name]: z.output<T[Name]>;
} & {
  readonly [Name in keyof T as undefined extends z.output<T[Name]> ? Name : never]?: Exclude<
    z.output<T[Name]>,
    undefined
  >;
};

/** The part of JSON Schema, as OpenAPI 3.1 defines it, that our contract uses. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly example?: unknown;
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
  readonly additionalProperties?: boolean | Schema;
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}

/** What reading the fields of a request depends on. */
export interface Reading {
  readonly account: NumberRules;
  readonly now: Date;
  readonly config: Pick<Config, 'maxSegments' | 'validityHours'>;
}

/** For the value being parsed. zod hands nothing down to its schemas, and parses never overlap. */
let reading: Reading;

/** `value` is undefined when absent. A wrong value gives undefined, and its reasons are added to `problems`. */
export function readField<Value>(
  field: Field<Value>,
  value: unknown,
  name: string,
  context: Reading,
  problems: FieldProblems,
): Value | undefined {
  reading = context;
  const { success, data, error } = field.safeParse(value);
  if (success) return data;
  for (const issue of error.issues) {
    let place = name;
    // The wrong part of the value. zod's `reportInput` would tell it, but costs each parse 0.5 µs.
    let input = value;
    for (const step of issue.path) {
      place += typeof step === 'number' ? `[${step}]` : `.${String(step)}`;
      input = (input as Record<PropertyKey, unknown>)[step]; // zod came this way
    }
    if (issue.code === 'unrecognized_keys') {
      const { known } = issue as UnknownMembers; // only `object` makes such issues
      refuseUnknown(Object.keys(input as JsonObject), known, problems, `${place}.`);
    } else {
      const { code, detail } = faultOf(issue, input);
      problems.add(place, code, detail);
    }
  }
  return undefined;
}

interface UnknownMembers extends z.core.$ZodIssueUnrecognizedKeys {
  readonly known: readonly string[];
}

/** zod's message is the form that the kind demands: `It must be a string`. */
function faultOf(issue: z.core.$ZodIssue, input: unknown): Fault {
  if (issue.code === 'custom' && issue.params instanceof Fault) return issue.params;
  if (input === undefined) return new Fault('missing_field', 'It is required.');
  return new Fault('wrong_type', `${issue.message}, not ${wrongType(input)}.`);
}

export class Fault {
  readonly code: FieldProblem['code'];
  readonly detail: string;

  constructor(code: FieldProblem['code'], detail: string) {
    this.code = code;
    this.detail = detail;
  }
}

/** An issue with its text, which zod then need not look for. */
export function custom(fault: Fault, input: unknown, path: PropertyKey[] = []) {
  return { code: 'custom' as const, input, path, params: fault, message: fault.detail };
}

export function required<Value>(kind: Kind<Value>): Field<Value> {
  return kind;
}

export function optional<Value>(kind: Kind<Value>): Field<Value | undefined> {
  return notNull(kind).optional();
}

export function withDefault<Value>(kind: Kind<Value>, preset: Value): Field<Value> {
  return notNull(kind).prefault(preset);
}

/** For a default that depends on the request or that the contract does not show. */
export function otherwise<Value>(kind: Kind<Value>, absent: (reading: Reading) => Value): Field<Value> {
  return optional(kind).transform((value) => value ?? absent(reading));
}

const NULL = new Fault('wrong_type', 'It must not be null: leave out what you do not set.');

/** Many programs write null for fields that they do not set. */
function notNull<Value>(kind: Kind<Value>) {
  return z.preprocess((value, { issues }) => {
    if (value === null) issues.push(custom(NULL, value));
    return value;
  }, kind);
}

export function string<Value>(schema: Schema, parse: (text: string, reading: Reading) => Value | Fault): Kind<Value> {
  return z
    .string('It must be a string')
    .meta({ ...schema })
    .transform((text, { issues }) => {
      const parsed = parse(text, reading);
      if (!(parsed instanceof Fault)) return parsed;
      issues.push(custom(parsed, text));
      return z.NEVER;
    });
}

/** `form` ends the sentence `It must be …`. */
export function matching(
  description: string,
  pattern: RegExp,
  form: string,
  code: Fault['code'] = 'invalid_value',
): Kind<string> {
  const fault = new Fault(code, `It must be ${form}.`);
  return string({ description, pattern: pattern.source }, (text) => (pattern.test(text) ? text : fault));
}

export function choice<const Value extends string>(values: readonly Value[], description?: string): Kind<Value> {
  const fault = new Fault('invalid_value', `It must be one of ${values.join(', ')}.`);
  return string(
    { ...(description && { description }), enum: values },
    (text) => values.find((value) => value === text) ?? fault,
  );
}

export function boolean(description: string): Kind<boolean> {
  return z.boolean('It must be true or false').meta({ description });
}

const NOT_WHOLE = new Fault('wrong_type', 'It must be a whole number.');

/**
 * A JSON number within the schema's limits that `refuse` accepts. Not `z.number()`, to which 1e400 is no number:
 * JSON.parse makes it Infinity.
 */
export function number(
  schema: Required<Pick<Schema, 'description' | 'minimum' | 'maximum'>> & Pick<Schema, 'type'>,
  refuse: (value: number) => Fault | undefined = () => undefined,
): Kind<number> {
  const { minimum, maximum, type } = schema;
  const outside = new Fault('out_of_range', `It must be from ${minimum} to ${maximum}.`);
  return z
    .custom<number>((value) => typeof value === 'number', { error: 'It must be a number', abort: true })
    .meta({ type: 'number', ...schema })
    .check(({ value, issues }) => {
      const isWhole = type !== 'integer' || Number.isInteger(value);
      const fault =
        refuse(value) ?? (!isWhole ? NOT_WHOLE : value >= minimum && value <= maximum ? undefined : outside);
      if (fault !== undefined) issues.push(custom(fault, value));
    });
}

type ListSchema = Pick<Schema, 'description' | 'minItems' | 'maxItems'>;

export type AddFault = (index: number, member: string, fault: Fault) => void;

/** `compare` gets all entries (undefined for bad ones) and reports problems between them. */
export function list<Value>(
  item: Kind<Value>,
  limits: ListSchema,
  compare?: (entries: readonly (Value | undefined)[], add: AddFault) => void,
): Kind<readonly Value[]> {
  const entries = z.array(item, listForm(item)).meta({ ...limits });
  if (compare === undefined) return counted(entries, limits, entries);
  const compared = entries.superRefine(
    (values, { issues }) => {
      const bad = new Set(issues.map(({ path }) => path?.[0]));
      const good = values.map((value, index) => (bad.has(index) ? undefined : value));
      compare(good, (index, member, fault) => issues.push(custom(fault, good[index], [index, member])));
    },
    { when: ({ value }) => Array.isArray(value) },
  );
  return counted(compared, limits, compared);
}

/** Like `list`, for thousands of entries. Only for fields of the body itself, because `readRequest` reads them. */
export function longList<Value>(item: Kind<Value>, limits: ListSchema): Kind<readonly Value[]> {
  const entries = z
    .array(z.unknown(), listForm(item))
    .meta({ ...limits, items: schemaOf(item) })
    .transform((values) => new Unread(item, values));
  // Only `readRequest` sees an `Unread`, and puts the values in its place.
  return counted(z.array(item), limits, entries) as Kind<unknown> as Kind<readonly Value[]>;
}

/** Read in slices with pauses for other work of the event loop. */
export class Unread<Value> {
  readonly #item: Kind<Value>;
  readonly #entries: readonly unknown[];

  constructor(item: Kind<Value>, entries: readonly unknown[]) {
    this.#item = item;
    this.#entries = entries;
  }

  async read(name: string, context: Reading, problems: FieldProblems): Promise<readonly Value[] | undefined> {
    const before = problems.count;
    const good: Value[] = [];
    await inSlices(this.#entries, (entry, index) => {
      const read = readField(this.#item, entry, `${name}[${index}]`, context, problems);
      if (read !== undefined) good.push(read);
    });
    return problems.count > before ? undefined : good;
  }
}

/** How many entries of a list that is too long are still checked, to report more problems at once. */
const READ_OF_TOO_MANY = 10;

function counted<Value>(
  some: z.ZodType,
  { minItems = 0, maxItems = Number.POSITIVE_INFINITY }: ListSchema,
  all: Kind<Value>,
) {
  const allowed = maxItems < Number.POSITIVE_INFINITY ? `${minItems} to ${maxItems} are` : `at least ${minItems} is`;
  return z.preprocess((value, { issues }) => {
    if (Array.isArray(value) && (value.length < minItems || value.length > maxItems)) {
      issues.push(custom(new Fault('wrong_count', `It has ${value.length} entries; ${allowed} allowed.`), value));
      const first = some.safeParse(value.slice(0, READ_OF_TOO_MANY));
      for (const issue of first.error?.issues ?? []) issues.push(issue as z.core.$ZodRawIssue);
    }
    return value;
  }, all);
}

function listForm(item: Kind<unknown>): string {
  return `It must be an array of ${schemaOf(item).type}s`;
}

/** An entry of a list, or a field with a description. */
export function object<T extends Fields>(fields: T, description?: string): Kind<Values<T>> {
  const known = Object.keys(fields);
  const form = `It must be an object with ${known.map((name) => `\`${name}\``).join(' and ')}`;
  const members = z.object(fields, form).meta({ ...(description && { description }), additionalProperties: false });
  // Unknown members are reported before problems of known ones. zod goes on after `unrecognized_keys`.
  const strict = z.preprocess((value, { issues }) => {
    if (!isObject(value)) return value;
    const keys = Object.keys(value).filter((key) => !known.includes(key));
    if (keys.length > 0) issues.push({ code: 'unrecognized_keys', keys, input: value, known });
    return value;
  }, members);
  return strict as Kind<unknown> as Kind<Values<T>>;
}

export function schemaOf(kind: Kind<unknown>): Schema {
  const { $schema, ...schema } = z.toJSONSchema(kind, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      if (jsonSchema.properties !== undefined) jsonSchema.required ??= [];
    },
  });
  return schema as Schema;
}

/** The first `most` UTF-16 code units of a text, without half a surrogate pair (half an emoji) at the end. */
export function beginning(text: string, most: number): string {
  return text.length <= most ? text : text.slice(0, most).replace(/[\ud800-\udbff]$/, '');
}
