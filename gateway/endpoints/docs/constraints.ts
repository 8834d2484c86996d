import type { Schema } from '../../http/fields/field.ts';
import { code } from './html.ts';

/** Everything that a schema demands of a value besides its type, as short phrases of HTML. */
export function constraintsOf(schema: Schema): string[] {
  const { enum: values, const: only, default: preset, format, pattern, uniqueItems } = schema;
  return [
    values === undefined ? '' : `one of ${values.map((value) => code(String(value))).join(', ')}`,
    only === undefined ? '' : `always ${code(JSON.stringify(only))}`,
    preset === undefined ? '' : `default ${code(JSON.stringify(preset))}`,
    range(schema.minimum, schema.maximum, ''),
    range(schema.minLength, schema.maxLength, 'character'),
    range(schema.minItems, schema.maxItems, schema.type === 'object' ? 'member' : 'entry'),
    uniqueItems === true ? 'no entry twice' : '',
    format === undefined ? '' : (FORMATS[format] ?? `format ${code(format)}`),
    // A format says the same in words.
    pattern === undefined || format !== undefined ? '' : `pattern ${code(pattern)}`,
    schema.additionalProperties === true && schema.properties !== undefined ? 'may have further members' : '',
  ].filter((phrase) => phrase !== '');
}

const FORMATS: Readonly<Record<string, string>> = {
  'date-time': 'a time as ISO 8601 has it, with its offset from UTC',
  date: 'a day, <code>2026-11-22</code>',
  uri: 'an address (URI)',
  email: 'an e-mail address',
};

function range(from: number | undefined, to: number | undefined, noun: string): string {
  if (from === undefined && to === undefined) return '';
  const of = (count: number): string => (noun === '' ? '' : ` ${count === 1 ? noun : pluralOf(noun)}`);
  if (to === undefined) return `at least ${number(from ?? 0)}${of(from ?? 0)}`;
  if (from === undefined) return `at most ${number(to)}${of(to)}`;
  return from === to ? `exactly ${number(to)}${of(to)}` : `${number(from)} to ${number(to)}${of(to)}`;
}

function pluralOf(noun: string): string {
  return noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`;
}

function number(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 20 });
}

/** `string`, `list of integer`, `SendResult or SendDryRun`. */
export function typeOf(schema: Schema): string {
  const { type, items, oneOf, $ref } = schema;
  if ($ref !== undefined) return 'object';
  if (oneOf !== undefined && type === undefined) return [...new Set(oneOf.map(typeOf))].join(' or ');
  const names = typeof type === 'string' ? [type] : (type ?? ['any']);
  return names
    .map((name) => (name === 'array' && items !== undefined ? `list of ${typeOf(items)}` : name))
    .join(' or ');
}
