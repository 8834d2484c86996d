import type { z } from 'zod';
import { requestSchema } from '../http/fields/request.ts';
import { PROBLEMS, type ProblemSlug } from '../http/problem.ts';
import { API, COMMON_SHAPES, COMPONENTS, contentOf, valuesOf } from './about.ts';
import type { Contract, Operation, Parameter, Reference, Response } from './contract.ts';
import { type Endpoint, hasBody } from './endpoint.ts';
import { componentsOf, exampleOf, schemaOf } from './json-schema.ts';
import { capitalised } from './shapes.ts';

/** The OpenAPI document: what is said once of the whole API (about.ts), and what the declarations of the endpoints say. */
export function openapiOf(endpoints: readonly Endpoint[]): Contract {
  const shapes = [...COMMON_SHAPES, ...endpoints.flatMap(({ answer }) => answer ?? [])];
  const requests = endpoints.flatMap(formsOf).map(([name, table]) => [name, requestSchema({ ...table, rules: [] })]);
  const paths: Record<string, Record<string, Operation>> = {};
  for (const one of endpoints) {
    paths[one.path] ??= {};
    Object.assign(paths[one.path] ?? {}, { [one.method]: operationOf(one) });
  }
  const schemas = { ...componentsOf(shapes), ...Object.fromEntries(requests) };
  return { ...API, paths, components: { ...COMPONENTS, schemas } };
}

function operationOf(one: Endpoint): Operation {
  const { id, tag, summary, description, confirmed, fieldScopes, openapi = {} } = one;
  const scope = scopeOf(one);
  const problems = problemsOf(one);
  const parameters = parametersOf(one);
  const operation = {
    operationId: id,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    ...(scope !== undefined && { 'x-scope': scope }),
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

/** Objects are merged, lists are joined, anything else is replaced. */
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

/** The forms of the body, by name. */
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

/** The problems of an endpoint: its own, and those of what it goes through. */
function problemsOf(one: Endpoint): readonly ProblemSlug[] {
  const { problems = [], scopes, signedIn, confirmed, action } = one;
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
