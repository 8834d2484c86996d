import { EVENTS } from '../../shared/events/catalogue.ts';
import type { Schema } from '../fields/field.ts';
import { FIELD_CODES } from '../http/field-codes.ts';
import { PROBLEMS, type ProblemRule } from '../http/problem.ts';
import type { Contract, MediaType, Operation, Parameter, Reference, Response } from './contract.ts';
import { code, escapeHtml, prose, row, table } from './html.ts';
import { STYLE } from './style.ts';

/**
 * Renders the contract, the events and the catalogue of problems as one HTML page for people. Pure; called once, at
 * the start.
 */
export function renderPage(contract: Contract): string {
  const { info, tags } = contract;
  const groups = tags.map(({ name, description }) => ({ name, description, operations: operationsOf(contract, name) }));
  const links = groups.map(
    ({ name, operations }) => `<p>${escapeHtml(name)}</p><ul>${operations.map(operationLink).join('')}</ul>`,
  );
  const sections = groups.map(
    ({ name, description, operations }) =>
      `<h2>${escapeHtml(name)}</h2><p>${prose(description)}</p>${operations.map((one) => operationSection(contract, one)).join('')}`,
  );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapeHtml(info.title)}: HTTP API</title><style>${STYLE}</style></head>
<body><nav aria-label="Operations"><strong>${escapeHtml(info.title)}</strong>${links.join('')}<p><a href="#events-of-webhooks">Events of webhooks</a></p><p><a href="#problems">Problems</a></p><p><a href="/openapi.json">OpenAPI 3.1</a></p></nav>
<main><h1>HTTP API</h1>${paragraphs(info.description)}${sections.join('')}${eventSection()}${problemSection()}</main></body></html>
`;
}

function paragraphs(text: string): string {
  return text
    .split('\n\n')
    .map((paragraph) => `<p>${prose(paragraph)}</p>`)
    .join('');
}

interface Placed {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

function operationsOf({ paths }: Contract, tag: string): Placed[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.tags.includes(tag))
      .map(([method, operation]) => ({ method, path, operation })),
  );
}

function operationLink({ operation }: Placed): string {
  return `<li><a href="#${escapeHtml(operation.operationId)}">${escapeHtml(operation.summary)}</a></li>`;
}

function operationSection(contract: Contract, { method, path, operation }: Placed): string {
  const { operationId, summary, description, parameters = [], requestBody, responses } = operation;
  const scope = operation['x-scope'];
  const success = Object.entries(responses).find(([status]) => status === '200');
  return `<section id="${escapeHtml(operationId)}"><h3><code><span class="method">${method}</span> ${escapeHtml(path)}</code></h3>
<p>${escapeHtml(summary)}. ${prose(description ?? '')}${scope === undefined ? '' : ` <span class="soft">Scope: ${code(scope)}</span>`}</p>
${parameterTable(contract, parameters)}${requestBody === undefined ? '' : bodyPart(contract, 'Request', requestBody)}${success === undefined ? '' : bodyPart(contract, 'Answer', responseOf(contract, success[1]))}
<p class="soft">Problems: ${operation['x-problems'].map((slug) => `<a href="#problem-${slug}">${code(slug)}</a>`).join(', ') || 'none of its own'}</p></section>`;
}

function parameterTable(contract: Contract, parameters: readonly (Parameter | Reference)[]): string {
  if (parameters.length === 0) return '';
  const rows = parameters.map((given) => {
    const { name, in: place, description, required, schema } = parameterOf(contract, given);
    return row(code(name), `${place}${required === true ? ', required' : ''}`, typeOf(schema), prose(description));
  });
  return `<h4>Parameters</h4>${table(['Name', 'In', 'Type', ''], rows)}`;
}

function bodyPart(contract: Contract, title: string, { content = {} }: Response): string {
  return Object.entries(content)
    .map(([mediaType, { schema, examples }]) => {
      const shapes = schema.oneOf ?? [schema];
      const tables = shapes.map((shape) => fieldTable(contract, shape));
      return `<h4>${title} <span class="soft">${escapeHtml(mediaType)}</span></h4>${tables.join('')}${exampleParts(examples)}`;
    })
    .join('');
}

function fieldTable(contract: Contract, shape: Schema): string {
  const rows = fieldRows(contract, shape, '', 0);
  const said = resolve(contract, shape).description;
  const intro = said === undefined ? '' : `<p>${prose(said)}</p>`;
  return rows.length === 0 ? intro : `${intro}${table(['Field', 'Type', ''], rows)}`;
}

/** Deeper than any of our bodies. Also ends a schema that contains itself. */
const DEPTH_MAX = 4;

/** The rows of members follow the row of their owner and are named by their place: `data[].to`. */
function fieldRows(contract: Contract, shape: Schema, place: string, depth: number): string[] {
  const { properties = {}, required = [] } = resolve(contract, shape);
  return Object.entries(properties).flatMap(([name, given]) => {
    const schema = resolve(contract, given);
    const own = place + name;
    const must = required.includes(name) ? ', required' : '';
    const rows = [row(code(own), typeOf(schema) + must, prose(schema.description ?? '') + limits(schema))];
    if (depth === DEPTH_MAX) return rows;
    const inner = schema.items ?? schema;
    return [...rows, ...fieldRows(contract, inner, schema.items === undefined ? `${own}.` : `${own}[].`, depth + 1)];
  });
}

function limits({ enum: values, default: preset, const: only, minimum, maximum }: Schema): string {
  const said = [
    values === undefined ? '' : `One of ${values.map(code).join(', ')}.`,
    only === undefined ? '' : `Always ${code(JSON.stringify(only))}.`,
    preset === undefined ? '' : `Default ${code(JSON.stringify(preset))}.`,
    minimum === undefined || maximum === undefined ? '' : `${minimum} to ${maximum}.`,
  ];
  return said.map((text) => (text === '' ? '' : ` ${text}`)).join('');
}

function typeOf({ type, format, items, oneOf }: Schema): string {
  if (oneOf !== undefined && type === undefined) return oneOf.map(typeOf).join(' or ');
  const name = Array.isArray(type) ? type.join(' or ') : String(type ?? 'object');
  if (items !== undefined) return `${name} of ${typeOf(items)}`;
  return format === undefined ? name : `${name} (${format})`;
}

function exampleParts(examples: MediaType['examples'] = {}): string {
  return Object.entries(examples)
    .map(
      ([name, { value }]) =>
        `<p class="soft">${escapeHtml(name)}</p><pre>${escapeHtml(JSON.stringify(value, null, 2))}</pre>`,
    )
    .join('');
}

function eventSection(): string {
  const events = Object.entries(EVENTS).map(([name, { channels, when }]) =>
    row(code(name), channels.map(code).join(', '), escapeHtml(when)),
  );
  return `<h2 id="events-of-webhooks">Events of webhooks</h2>${table(['event', 'channel', ''], events)}`;
}

function problemSection(): string {
  const rules: [string, ProblemRule][] = Object.entries(PROBLEMS);
  const problems = rules.map(
    ([slug, { number, status, title, advice, retryable }]) =>
      `<tr id="problem-${slug}"><td>${code(slug)}</td><td>${status}</td><td>${number}</td><td>${retryable ? 'yes' : 'no'}</td><td>${escapeHtml(title)}. ${prose(advice)}</td></tr>`,
  );
  const fields = Object.entries(FIELD_CODES).map(([name, meaning]) => row(code(name), prose(meaning)));
  return `<h2 id="problems">Problems</h2>${table(['code', 'HTTP', 'status_code', 'retryable', ''], problems)}
<h3>Codes of fields</h3>${table(['code', ''], fields)}`;
}

function resolve({ components }: Contract, schema: Schema): Schema {
  return schema.$ref === undefined ? schema : (components.schemas[nameOf(schema.$ref)] ?? schema);
}

function parameterOf({ components }: Contract, given: Parameter | Reference): Parameter {
  return '$ref' in given ? found(components.parameters[nameOf(given.$ref)], given) : given;
}

function responseOf({ components }: Contract, given: Response | Reference): Response {
  return '$ref' in given ? found(components.responses[nameOf(given.$ref)], given) : given;
}

function found<T>(value: T | undefined, { $ref }: Reference): T {
  if (value === undefined) throw new Error(`the contract has no ${$ref}`);
  return value;
}

function nameOf(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1);
}
