import type { Contract, MediaType, Operation, Parameter, Reference, Response } from '../../api/contract.ts';
import type { Schema } from '../../http/fields/field.ts';
import { PROBLEMS, type ProblemRule } from '../../http/problem.ts';
import { code, codeBlock, escapeHtml, link, prose } from './html.ts';
import { LANGUAGES, type Sample } from './samples.ts';

export interface Placed {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

export function operationsOf({ paths }: Contract, tag: string): Placed[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.tags.includes(tag))
      .map(([method, operation]) => ({ method, path, operation })),
  );
}

/** Request and answer on one side, samples on the other. */
export function operationSection(contract: Contract, placed: Placed): string {
  const { method, path, operation } = placed;
  const { operationId, summary, description, requestBody } = operation;
  const id = escapeHtml(operationId);
  const answer = bodiesOf(contract, operation)[0];
  const request = Object.entries(requestBody?.content ?? {})[0];
  return `<section class="operation" id="${id}" aria-labelledby="${id}-name">
<h3 id="${id}-name"><a href="#${id}">${escapeHtml(summary)}</a></h3>
<p class="route"><span class="method ${method}">${method.toUpperCase()}</span> ${code(path)}</p>
<div class="columns"><div class="told">
${description === undefined ? '' : `<p>${prose(description)}</p>`}${scopePart(operation)}${parameterPart(contract, operation)}${bodyPart(contract, 'Request', request)}${bodyPart(contract, 'Answer 200', answer)}${problemPart(operation)}
</div><div class="samples">
${requestSamples(contract, placed)}${answerSamples(answer?.[1], 'Answer 200')}
</div></div></section>`;
}

function scopePart({ 'x-scope': scope, 'x-confirmed': confirmed, 'x-call': call }: Operation): string {
  if (scope === undefined) return '';
  if (!needsPermission(scope))
    return `<p class="scope">Needs no key but ${escapeHtml(scope.slice(NO_PERMISSION.length))}.</p>`;
  const who = scope === 'owner' ? 'Only for owners who are signed in.' : `Scope: <strong>${escapeHtml(scope)}</strong>`;
  const again = confirmed ? ' In a session, the password must have been shown within the last 10 minutes.' : '';
  const called = call === undefined ? '' : ` · <a href="/docs/clients">in the clients</a> ${code(call)}`;
  return `<p class="scope">${who}${again}${called}</p>`;
}

/** `none: name and password`: what is needed instead. */
const NO_PERMISSION = 'none: ';

function needsPermission(scope: string | undefined): boolean {
  return scope !== undefined && !scope.startsWith(NO_PERMISSION);
}

function parameterPart(contract: Contract, { parameters = [] }: Operation): string {
  if (parameters.length === 0) return '';
  const items = parameters.map((given) => {
    const { name, in: place, description, required, schema } = parameterOf(contract, given);
    return fieldItem(name, { ...schema, description }, required === true, place);
  });
  return `<h4>Parameters</h4><dl class="fields">${items.join('')}</dl>`;
}

type NamedBody = readonly [mediaType: string, body: MediaType];

function bodiesOf(contract: Contract, { responses }: Operation): NamedBody[] {
  const { '200': success } = responses;
  return success === undefined ? [] : Object.entries(responseOf(contract, success).content ?? {});
}

function bodyPart(contract: Contract, title: string, body: NamedBody | undefined): string {
  if (body === undefined) return '';
  const [mediaType, { schema }] = body;
  return `<h4>${title} <span class="soft">${escapeHtml(mediaType)}</span></h4>${fieldLists(contract, schema)}`;
}

function problemPart({ 'x-problems': slugs }: Operation): string {
  if (slugs.length === 0) return '';
  const rules: Readonly<Record<string, ProblemRule>> = PROBLEMS;
  const statuses = [...new Set(slugs.map((slug) => rules[slug]?.status ?? 500))].sort((a, b) => a - b);
  const rows = statuses.map((status) => {
    const links = slugs
      .filter((slug) => rules[slug]?.status === status)
      .map((slug) => link(`/docs#problem-${slug}`, code(slug)));
    return `<div><dt>${status}</dt><dd>${links.join(', ')}</dd></div>`;
  });
  return `<h4>Other answers <span class="soft">application/problem+json</span></h4><dl class="statuses">${rows.join('')}</dl>`;
}

function requestSamples(contract: Contract, placed: Placed): string {
  const examples = Object.values(placed.operation.requestBody?.content ?? {})[0]?.examples ?? {};
  const bodies = Object.entries(examples);
  const mayTry = placed.operation['x-test'] === true;
  if (bodies.length === 0) return sampleBlock(sampleOf(contract, placed), 'Request', mayTry);
  return bodies
    .map(([name, { value }]) => sampleBlock({ ...sampleOf(contract, placed), body: value }, `Request: ${name}`, mayTry))
    .join('');
}

const ANSWERS: Readonly<Record<string, Sample['answers']>> = {
  'application/json': 'json',
  'application/octet-stream': 'file',
};

/** With the examples of its parameters in the path. */
function sampleOf(contract: Contract, { method, path, operation }: Placed): Sample {
  const parameters = (operation.parameters ?? []).map((given) => parameterOf(contract, given));
  const filled = path.replaceAll(
    /\{(\w+)\}/g,
    (name, wanted) => parameters.find((one) => one.name === wanted)?.example ?? name,
  );
  const query = parameters
    .filter((one) => one.in === 'query' && one.required === true)
    .map(({ name, example = '' }) => `${name}=${encodeURIComponent(example)}`);
  return {
    method,
    path: query.length === 0 ? filled : `${filled}?${query.join('&')}`,
    key: needsPermission(operation['x-scope']),
    answers: ANSWERS[bodiesOf(contract, operation)[0]?.[0] ?? ''] ?? 'text',
  };
}

/** The first language is shown; a script makes tabs of all, and a form for test keys (client/docs/docs.ts). */
function sampleBlock(sample: Sample, title: string, mayTry: boolean): string {
  const shown = Object.entries(LANGUAGES).map(([language, print], index) => {
    const block = codeBlock(print(sample), `${title}, ${language}`);
    return `<details data-language="${language}"${index === 0 ? ' open' : ''}><summary>${language}</summary>${block}</details>`;
  });
  const { method, path, body } = sample;
  const content = body === undefined ? '' : ` data-body="${escapeHtml(JSON.stringify(body, null, 2))}"`;
  const request = mayTry ? ` data-method="${method.toUpperCase()}" data-path="${escapeHtml(path)}"${content}` : '';
  return `<div class="sample"${request}><p class="sample-name"><span>${escapeHtml(title)}</span></p>${shown.join('')}</div>`;
}

export function answerSamples(body: MediaType | undefined, title: string): string {
  return Object.entries(body?.examples ?? {})
    .map(([name, { value }]) => {
      const label = `${title}: ${name}`;
      const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
      return `<div class="sample"><p class="sample-name"><span>${escapeHtml(label)}</span></p>${codeBlock(text, label)}</div>`;
    })
    .join('');
}

export function fieldLists(contract: Contract, given: Schema): string {
  const schema = schemaOf(contract, given);
  const forms = schema.oneOf?.filter(({ $ref }) => $ref !== undefined) ?? [];
  if (schema.type !== undefined || forms.length === 0) return introOf(schema) + fieldList(contract, schema);
  const lists = forms.map(
    (form) =>
      `<p class="form-name">${code(nameOf(form.$ref ?? ''))}</p>${introOf(schemaOf(contract, form))}${fieldList(contract, schemaOf(contract, form))}`,
  );
  return `<p>One of these forms:</p>${lists.join('')}`;
}

/** Omits a description that only says whose body or answer it is. */
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

/** Members follow their field and are named by place: `data[].to`. */
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

/** `where`: a parameter's place in the request. */
function fieldItem(name: string, schema: Schema, required: boolean, where?: string): string {
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

/** Fields that exclude each other: `allOf` of pairs (gateway/http/fields/request.ts). */
function choicesOf({ allOf = [] }: Schema): string[] {
  return allOf
    .map(({ oneOf = [] }) => oneOf.map(({ required = [] }) => required.map(code).join(' and ')))
    .filter((choice) => choice.length > 1)
    .map((choice) => `Either ${choice.join(', or ')}.`);
}

/** Resolves the contract's `$ref`s. One without a target is an error of the document. */

function schemaOf({ components }: Contract, given: Schema): Schema {
  return given.$ref === undefined ? given : found(components.schemas[nameOf(given.$ref)], given.$ref);
}

function parameterOf({ components }: Contract, given: Parameter | Reference): Parameter {
  return '$ref' in given ? found(components.parameters[nameOf(given.$ref)], given.$ref) : given;
}

function responseOf({ components }: Contract, given: Response | Reference): Response {
  return '$ref' in given ? found(components.responses[nameOf(given.$ref)], given.$ref) : given;
}

function nameOf(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1);
}

function found<T>(value: T | undefined, ref: string): T {
  if (value === undefined) throw new Error(`the contract has no ${ref}`);
  return value;
}

/** All that a schema demands besides the type, as short phrases of HTML. */
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
    // The format says the same in words.
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

export function typeOf(schema: Schema): string {
  const { type, items, oneOf, $ref } = schema;
  if ($ref !== undefined) return 'object';
  if (oneOf !== undefined && type === undefined) return [...new Set(oneOf.map(typeOf))].join(' or ');
  const names = typeof type === 'string' ? [type] : (type ?? ['any']);
  return names
    .map((name) => (name === 'array' && items !== undefined ? `list of ${typeOf(items)}` : name))
    .join(' or ');
}
