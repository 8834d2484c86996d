import type { Contract, Parameter, Reference, Response } from '../../api/contract.ts';
import type { Schema } from '../../http/fields/field.ts';
import { constraintsOf, typeOf } from './constraints.ts';
import { code, escapeHtml, prose } from './html.ts';

/** The fields of a body. A body of several forms has a list for each, under the form's name. */
export function fieldLists(contract: Contract, given: Schema): string {
  const schema = schemaOf(contract, given);
  const forms = schema.oneOf?.filter(({ $ref }) => $ref !== undefined) ?? [];
  if (schema.type !== undefined || forms.length === 0) return introOf(schema) + fieldList(contract, schema);
  const lists = forms.map(
    (form) =>
      `<p class="form">${code(nameOf(form.$ref ?? ''))}</p>${introOf(schemaOf(contract, form))}${fieldList(contract, schemaOf(contract, form))}`,
  );
  return `<p>One of these forms:</p>${lists.join('')}`;
}

/** Not of what is only said to be the body or the answer of an operation: it stands there. */
function introOf({ description = '' }: Schema): string {
  return description === '' || /^The (body|answer) of `/.test(description) ? '' : `<p>${prose(description)}</p>`;
}

function fieldList(contract: Contract, schema: Schema): string {
  const items = fieldItems(contract, schema.items ?? schema, schema.items === undefined ? '' : '[].', 0);
  const choices = choicesOf(schema);
  const more = choices.length === 0 ? '' : `<p>${choices.join(' ')}</p>`;
  return items.length === 0 ? more : `<dl class="fields">${items.join('')}</dl>${more}`;
}

/** Deeper than any of our bodies. Also ends a schema that contains itself. */
const DEPTH_MAX = 5;

/** The members of a field follow it and are named by their place: `data[].to`. */
function fieldItems(contract: Contract, given: Schema, place: string, depth: number): string[] {
  const { properties = {}, required = [] } = schemaOf(contract, given);
  return Object.entries(properties).flatMap(([name, one]) => {
    const schema = {
      ...schemaOf(contract, one),
      ...(one.description !== undefined && { description: one.description }),
    };
    const own = place + name;
    const item = fieldItem(own, schemaWithItems(contract, schema), required.includes(name));
    if (depth === DEPTH_MAX) return [item];
    const inner = schema.items ?? schema;
    return [item, ...fieldItems(contract, inner, schema.items === undefined ? `${own}.` : `${own}[].`, depth + 1)];
  });
}

function schemaWithItems(contract: Contract, schema: Schema): Schema {
  return schema.items === undefined ? schema : { ...schema, items: schemaOf(contract, schema.items) };
}

/** Also shows a parameter, whose `where` is its place in the request. */
export function fieldItem(name: string, schema: Schema, required: boolean, where?: string): string {
  const { items } = schema;
  const ofEntries = items === undefined || items.type === 'object' ? [] : constraintsOf(items);
  const phrases = [
    ...constraintsOf(schema),
    ...(ofEntries.length === 0 ? [] : [`each entry: ${ofEntries.join(', ')}`]),
  ];
  const kind = [where, typeOf(schema)]
    .filter((word) => word !== undefined)
    .map(escapeHtml)
    .join(', ');
  const must = required ? ' <strong>required</strong>' : '';
  const limits = phrases.length === 0 ? '' : `<dd class="limits">${sentence(phrases)}</dd>`;
  return `<div><dt>${code(name)} <span class="soft">${kind}</span>${must}</dt><dd>${prose(schema.description ?? '')}</dd>${limits}</div>`;
}

/** No phrase begins with an HTML tag, so its first letter can be made a capital. */
function sentence(phrases: readonly string[]): string {
  const text = phrases.join('; ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** Which fields exclude each other: `allOf` of pairs (gateway/http/fields/request.ts). */
function choicesOf({ allOf = [] }: Schema): string[] {
  return allOf
    .map(({ oneOf = [] }) => oneOf.map(({ required = [] }) => required.map(code).join(' and ')))
    .filter((choice) => choice.length > 1)
    .map((choice) => `Either ${choice.join(', or ')}.`);
}

/** What `$ref`s of the contract lead to. A reference that leads nowhere is an error of the document. */

function schemaOf({ components }: Contract, given: Schema): Schema {
  return given.$ref === undefined ? given : found(components.schemas[nameOf(given.$ref)], given.$ref);
}

export function parameterOf({ components }: Contract, given: Parameter | Reference): Parameter {
  return '$ref' in given ? found(components.parameters[nameOf(given.$ref)], given.$ref) : given;
}

export function responseOf({ components }: Contract, given: Response | Reference): Response {
  return '$ref' in given ? found(components.responses[nameOf(given.$ref)], given.$ref) : given;
}

/** `SendRequest` of `#/components/schemas/SendRequest`. */
function nameOf(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1);
}

function found<T>(value: T | undefined, ref: string): T {
  if (value === undefined) throw new Error(`the contract has no ${ref}`);
  return value;
}
