import { z } from 'zod';

/**
 * Builders of answer shapes. A shape is a zod schema, from which types, the contract's schemas and examples follow
 * (contract.ts). Shapes named in the contract have `.meta({ id })`. `example` is the value that examples show.
 */
interface TextRules {
  readonly example?: string;
  readonly pattern?: string;
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
}

interface NumberRules {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly example?: number;
}

/** `pattern` is JSON Schema's: without `^` and `$` it may match anywhere. */
export function text(description?: string, { pattern, minLength, maxLength, ...more }: TextRules = {}): z.ZodString {
  let shape = z.string();
  if (pattern !== undefined) shape = shape.regex(new RegExp(pattern));
  if (minLength !== undefined) shape = shape.min(minLength);
  if (maxLength !== undefined) shape = shape.max(maxLength);
  return shape.meta({ description, ...more });
}

/** UTC, to the second. */
export function time(description?: string, example?: string): z.ZodString {
  const pattern = '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\+00:00$';
  return text(description, { format: 'date-time', pattern, ...(example !== undefined && { example }) });
}

/** An id of shared/platform/runtime/ids.ts. `kind` is its prefix: `msg`. */
export function id(kind: string, description?: string, example?: string): z.ZodString {
  const pattern = `^${kind}_[0-9a-hjkmnp-tv-z]{26}$`;
  return text(description, { pattern, ...(example !== undefined && { example }) });
}

export function whole(description?: string, rules: NumberRules = {}): z.ZodInt {
  return within(z.int(), description, rules);
}

export function decimal(description?: string, rules: NumberRules = {}): z.ZodNumber {
  return within(z.number(), description, rules);
}

function within<Shape extends z.ZodNumber>(shape: Shape, description: string | undefined, rules: NumberRules): Shape {
  const { minimum, maximum, example } = rules;
  let limited = shape;
  if (minimum !== undefined) limited = limited.min(minimum);
  if (maximum !== undefined) limited = limited.max(maximum);
  return limited.meta({ description, example });
}

export function flag(description?: string, example?: boolean): z.ZodBoolean {
  return z.boolean().meta({ description, example });
}

type Told<Fields> = readonly [fields: Fields] | readonly [description: string, fields: Fields];

export function named<Fields extends z.ZodRawShape>(name: string, ...told: Told<Fields>) {
  const [description, fields] = told.length === 1 ? [undefined, told[0]] : told;
  return z.strictObject(fields).meta({ id: name, ...(description !== undefined && { description }) });
}

/** The answer to a change: `status` and what was changed. */
export function success<Fields extends z.ZodRawShape>(name: string, ...told: Told<Fields>) {
  const [description, fields] = told.length === 1 ? [undefined, told[0]] : told;
  const all = { status: z.literal('success'), ...fields };
  return description === undefined ? named(name, all) : named(name, description, all);
}

/** A page of a list (http/fields/query.ts). */
export function pageShape<Entry extends z.ZodType>(name: string, entry: Entry, description?: string) {
  const fields = pageFields(z.array(entry));
  return description === undefined ? named(name, fields) : named(name, description, fields);
}

export function pageFields<Entry extends z.ZodType>(data: z.ZodArray<Entry>) {
  return {
    data,
    next_cursor: text('Send it as `cursor` to get the next page; null at the end.').nullable(),
    has_more: flag('Whether there may be more.'),
  };
}

export function capitalised(word: string): string {
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}
