import { z } from 'zod';
import { EVENT_NAMES, EVENTS } from '../../shared/events/catalogue.ts';
import type { Schema } from '../http/fields/field.ts';
import { requestSchema } from '../http/fields/request.ts';
import { PROBLEMS, type ProblemSlug } from '../http/problem.ts';
import { API, COMMON_SHAPES, COMPONENTS, contentOf, valuesOf } from './about.ts';
import {
  type Contract,
  componentsOf,
  exampleOf,
  type Operation,
  type Parameter,
  type Reference,
  type Response,
  schemaOf,
} from './contract.ts';
import { type Endpoint, hasBody } from './endpoint.ts';
import { EVENT_SHAPES } from './event-shapes.ts';
import { capitalised } from './shapes.ts';

/** The OpenAPI document: what holds for the whole API (about.ts), and the declarations of the endpoints. */
export function openapiOf(endpoints: readonly Endpoint[]): Contract {
  const shapes = [...COMMON_SHAPES, ...endpoints.flatMap(({ answer }) => answer ?? [])];
  const requests = endpoints.flatMap(formsOf).map(([name, table]) => [name, requestSchema({ ...table, rules: [] })]);
  const paths: Record<string, Record<string, Operation>> = {};
  for (const one of endpoints) {
    paths[one.path] ??= {};
    Object.assign(paths[one.path] ?? {}, { [one.method]: operationOf(one) });
  }
  const schemas = withMeanings({ ...componentsOf(shapes), ...Object.fromEntries(requests) }, endpoints);
  return { ...API, paths: withLinks(paths, schemas), components: { ...COMPONENTS, schemas } };
}

/** Schemas without a description get one: whose body, answer or event they are. */
function withMeanings(schemas: Readonly<Record<string, Schema>>, endpoints: readonly Endpoint[]) {
  const meanings = new Map<string | undefined, string>();
  for (const one of endpoints) {
    for (const [name] of formsOf(one)) meanings.set(name, `The body of ${placeOf(one)}: ${one.summary}.`);
    const name = one.answer && z.globalRegistry.get(one.answer)?.id;
    if (!meanings.has(name)) meanings.set(name, `The answer of ${placeOf(one)}: ${one.summary}.`);
  }
  for (const name of EVENT_NAMES) meanings.set(z.globalRegistry.get(EVENT_SHAPES[name])?.id, EVENTS[name].when);
  return mapped(schemas, (schema, name) => {
    const description = schema.description ?? meanings.get(name);
    return { ...(description !== undefined && { description }), ...schema };
  });
}

/** Links from a POST to the GETs whose path takes only ids of that POST's answer. */
function withLinks(paths: Contract['paths'], schemas: Readonly<Record<string, Schema>>): Contract['paths'] {
  const targets = Object.entries(paths).flatMap(([path, methods]) => {
    const wanted = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
    return wanted.length === 0 || !methods.get ? [] : [{ operationId: methods.get.operationId, path, wanted }];
  });
  const propertiesOf = ({ $ref, oneOf = [], properties }: Schema): readonly string[] => {
    const meant = schemas[$ref?.split('/').at(-1) ?? ''];
    return [...Object.keys(properties ?? {}), ...[...(meant ? [meant] : []), ...oneOf].flatMap(propertiesOf)];
  };
  const linksOf = (from: string, answer: Operation['responses'][string] | undefined) => {
    const schema = answer && 'content' in answer ? answer.content?.['application/json']?.schema : undefined;
    const made = propertiesOf(schema ?? {}).filter((name) => !from.includes(`{${name}}`));
    const next = targets.filter(
      ({ path, wanted }) => isOperators(path) === isOperators(from) && wanted.every((name) => made.includes(name)),
    );
    return next.map(({ operationId, wanted }) => {
      const parameters = Object.fromEntries(wanted.map((name) => [name, `$response.body#/${name}`]));
      return [operationId, { operationId, parameters }] as const;
    });
  };
  const withOwn = (path: string, method: string, operation: Operation): Operation => {
    const links = method !== 'post' ? [] : linksOf(path, operation.responses['200']);
    if (links.length === 0) return operation;
    const success = { ...operation.responses['200'], links: Object.fromEntries(links) };
    return { ...operation, responses: { ...operation.responses, 200: success } };
  };
  return mapped(paths, (methods, path) => mapped(methods, (operation, method) => withOwn(path, method, operation)));
}

function isOperators(path: string): boolean {
  return path.startsWith('/v2/admin/');
}

function mapped<Of, To>(all: Readonly<Record<string, Of>>, change: (one: Of, name: string) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(all).map(([name, one]) => [name, change(one, name)]));
}

function placeOf({ method, path }: Endpoint): string {
  return `\`${method.toUpperCase()} ${path}\``;
}

function operationOf(one: Endpoint): Operation {
  const { id, call, tag, summary, description, confirmed, fieldScopes, openapi = {} } = one;
  const scope = scopeOf(one);
  const problems = problemsOf(one);
  const parameters = parametersOf(one);
  const operation = {
    operationId: id,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    ...(call !== undefined && { 'x-call': call }),
    ...(scope !== undefined && { 'x-scope': scope }),
    ...(one.test !== undefined && { 'x-test': true as const }),
    ...(confirmed && { 'x-confirmed': confirmed }),
    ...(fieldScopes && { 'x-field-scopes': fieldScopes }),
    ...(needsNothing(one) && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(hasBody(one) && { requestBody: bodyOf(one) }),
    responses: { 200: successOf(one), ...problemResponses(problems), default: PROBLEM },
    'x-problems': problems,
  };
  return merged(operation, openapi);
}

function merged<T extends object>(base: T, more: object): T {
  const all: Record<string, unknown> = Object.fromEntries(Object.entries(base));
  for (const [name, value] of Object.entries(more)) {
    const before = all[name];
    if (Array.isArray(before) && Array.isArray(value)) all[name] = [...before, ...value];
    else all[name] = isPlain(before) && isPlain(value) ? merged(before, value) : value;
  }
  return all as T; // `more` only adds to it
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isAuthenticated({ scopes, signedIn }: Endpoint): boolean {
  return scopes !== undefined || signedIn !== undefined;
}

function needsNothing(one: Endpoint): boolean {
  return !isAuthenticated(one) && one.needs === undefined;
}

/** `send and read, or manage`; `none: the session itself`. */
function scopeOf({ scopes, signedIn, needs }: Endpoint): string | undefined {
  if (scopes !== undefined) {
    return scopes.map((scope) => (typeof scope === 'string' ? scope : scope.join(' and '))).join(', or ');
  }
  const instead = needs ?? (signedIn && 'the session itself');
  return instead && `none: ${instead}`;
}

function parametersOf({ params = {}, query = {}, action, ownIdempotency }: Endpoint): (Parameter | Reference)[] {
  const path = Object.entries(params).map(([name, shape]) => inPath(name, shape));
  const { properties = {}, required = [] } = requestSchema({ fields: query, either: [], rules: [] });
  const takesKey = action !== undefined || ownIdempotency === true;
  const asked = Object.entries(properties).map(([name, { description = '', example, ...schema }]) => ({
    name,
    in: 'query',
    description,
    ...(required.includes(name) && { required: true }),
    schema,
    ...(example !== undefined && { example: String(example) }),
  }));
  return [...path, ...asked, ...(takesKey ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : [])];
}

function inPath(name: string, shape: z.ZodString): Parameter {
  const { description = '', ...schema } = schemaOf(shape);
  return { name, in: 'path', required: true, description, schema, example: String(exampleOf(shape)) };
}

function formsOf({ id, body, forms = {} }: Endpoint) {
  return Object.entries({ ...(body && { [`${capitalised(id)}Request`]: body }), ...forms });
}

function bodyOf(one: Endpoint) {
  const oneOf = formsOf(one).map(([name]) => ({ $ref: `#/components/schemas/${name}` }));
  const schema = oneOf.length === 1 ? { ...oneOf[0] } : { oneOf };
  const examples = one.examples?.body && valuesOf(one.examples.body);
  return { required: true, content: { 'application/json': { schema, ...(examples && { examples }) } } };
}

function successOf(one: Endpoint): Response {
  const content = one.answer && { 'application/json': contentOf(one.answer, one.examples?.answer) };
  const names = isAuthenticated(one) ? ['X-Request-Id', 'RateLimit', 'RateLimit-Policy'] : ['X-Request-Id'];
  const headers = Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
  return { description: 'Success', ...(content && { content }), headers };
}

function problemsOf(one: Endpoint): readonly ProblemSlug[] {
  const { path, problems = [], scopes, signedIn, confirmed, action, test } = one;
  const takesBody = hasBody(one) || (one.method === 'post' && one.respond === undefined);
  const of = (isSo: boolean, ...slugs: readonly ProblemSlug[]) => (isSo ? slugs : []);
  const isRead = isAuthenticated(one);
  return [
    ...new Set<ProblemSlug>([
      ...problems,
      ...of(!needsNothing(one), 'invalid_request', 'internal_error', 'store_unavailable'),
      ...of(takesBody && !needsNothing(one), 'malformed_body', 'body_too_large', 'unsupported_media_type'),
      ...of(action !== undefined, 'idempotency_in_flight', 'idempotency_key_reused'),
      ...of(scopes !== undefined, 'key_missing', 'scope_missing'),
      ...of(scopes !== undefined && test === undefined && !path.startsWith('/v2/admin/'), 'live_key_needed'),
      ...of(signedIn !== undefined, 'session_missing', 'session_ended'),
      ...of(isRead, 'key_invalid', 'key_revoked', 'key_expired', 'ip_not_allowed', 'auth_failures_limited'),
      ...of(isRead, 'rate_limited'),
      ...of(confirmed === true, 'confirmation_required'),
    ]),
  ];
}

const PROBLEM = { $ref: '#/components/responses/Problem' } as const;

function problemResponses(problems: readonly ProblemSlug[]): Record<string, typeof PROBLEM> {
  return Object.fromEntries(problems.map((slug) => [PROBLEMS[slug].status, PROBLEM]));
}
