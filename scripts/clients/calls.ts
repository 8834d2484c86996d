import type { Contract, Operation, Parameter } from '../../gateway/api/contract.ts';
import type { Schema } from '../../gateway/http/fields/field.ts';

/** The customers' calls in groups, with their types and those of the events, for a client in any language. */
export interface Api {
  /** By name: `sms`, `messages`, … */
  readonly groups: ReadonlyMap<string, readonly Call[]>;
  readonly types: ReadonlyMap<string, Schema>;
}

export interface Call {
  /** Within its group: `get`. */
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly about: string;
  /** Path parameters. */
  readonly parts: readonly string[];
  /** The query's type, and whether it may be left out. */
  readonly query?: { readonly type: string; readonly optional: boolean };
  /** Possible types of the body. */
  readonly bodies: readonly string[];
  /** No member of the body is required. */
  readonly bodyOptional: boolean;
  /** Takes an Idempotency-Key. */
  readonly once: boolean;
  /** The call sets `dry_run`. */
  readonly dryRun: boolean;
  readonly answer:
    | { readonly kind: 'json'; readonly type: string }
    /** `entries`: the page's member that holds them. */
    | { readonly kind: 'pages'; readonly type: string; readonly entry: string; readonly entries: string }
    | { readonly kind: 'file' };
}

/** Reads the operations with an `x-call` from the gateway's OpenAPI document. */
export function apiOf(contract: Contract): Api {
  const groups = new Map<string, Call[]>();
  const queries = new Map<string, Schema>();
  for (const [path, methods] of Object.entries(contract.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const [group, name] = operation['x-call']?.split('.') ?? [];
      if (group === undefined || name === undefined) continue;
      const calls = groups.get(group) ?? [];
      calls.push(...callsOf(contract, queries, { name, method: method.toUpperCase(), path, operation }));
      groups.set(group, calls);
    }
  }
  const schemas = { ...contract.components.schemas, ...eventsOf(contract) };
  const calls = [...groups.values()].flat();
  const tried = new Set(calls.flatMap(({ dryRun, bodies }) => (dryRun ? bodies : [])));
  const used = new Map<string, Schema>(queries);
  const use = (name: string): void => {
    const schema = schemas[name];
    if (schema === undefined || used.has(name)) return;
    const offered = tried.has(name) ? withoutDryRun(schema) : schema;
    used.set(name, offered);
    for (const [, other = ''] of JSON.stringify(offered).matchAll(/"#\/components\/schemas\/(\w+)"/g)) use(other);
  };
  for (const { bodies, answer } of calls) {
    for (const body of bodies) use(body);
    if (answer.kind !== 'file') use(answer.type);
  }
  for (const name of ['WebhookEvent', 'Problem']) use(name);
  return { groups, types: used };
}

/** Query parameters for browsers and operators: session, viewed account, test mode, file format. */
const NOT_FOR_KEYS = ['user', 'account', 'mode', 'format'];

interface Declared {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

/** An operation with a dry run becomes two calls, because its answers have two types. */
function callsOf(
  contract: Contract,
  queries: Map<string, Schema>,
  { name, method, path, operation }: Declared,
): Call[] {
  const parameters = (operation.parameters ?? []).map((one) =>
    '$ref' in one ? contract.components.parameters[nameOf(one.$ref)] : one,
  );
  const given = (place: string) => parameters.filter((one) => one?.in === place).filter((one) => one !== undefined);
  const body = operation.requestBody?.content?.['application/json']?.schema;
  const bodies = body === undefined ? [] : (body.oneOf ?? [body]).map(({ $ref = '' }) => nameOf($ref));
  const success = operation.responses['200'];
  const content = success === undefined || '$ref' in success ? {} : (success.content ?? {});
  const answer = content['application/json']?.schema;
  const asked = given('query').filter((one) => !NOT_FOR_KEYS.includes(one.name));
  const query = `${capitalised(operation.operationId)}Query`;
  if (asked.length > 0) queries.set(query, queryOf(asked));
  const call = {
    name,
    method,
    path,
    about: `${operation.summary}. \`${method} ${path}\`${operation['x-scope'] ? `, scope: ${operation['x-scope']}` : ''}.`,
    parts: given('path').map((one) => one.name),
    ...(asked.length > 0 && { query: { type: query, optional: asked.every((one) => one.required !== true) } }),
    bodies,
    bodyOptional: bodies.every((one) => {
      const { required = [], allOf = [] } = contract.components.schemas[one] ?? {};
      return required.length + allOf.length === 0;
    }),
    once: given('header').some((one) => one.name === 'Idempotency-Key'),
    dryRun: false,
  };
  if (answer?.$ref === undefined) return [{ ...call, answer: { kind: 'file' } }];
  const type = nameOf(answer.$ref);
  const { properties = {}, oneOf = [] } = contract.components.schemas[type] ?? {};
  if ('next_cursor' in properties && asked.some((one) => one.name === 'cursor')) {
    const [entries = '', list] = Object.entries(properties).find(([, one]) => one.items?.$ref !== undefined) ?? [];
    return [{ ...call, answer: { kind: 'pages', type, entry: nameOf(list?.items?.$ref ?? ''), entries } }];
  }
  const forms = oneOf.map(({ $ref = '' }) => nameOf($ref));
  const isDry = (form: string) => contract.components.schemas[form]?.properties?.dry_run !== undefined;
  const [done, dry] = [forms.find((form) => !isDry(form)), forms.find(isDry)];
  if (done === undefined || dry === undefined) return [{ ...call, answer: { kind: 'json', type } }];
  return [
    { ...call, answer: { kind: 'json', type: done } },
    {
      ...{ ...call, name: `${name}DryRun`, once: false, dryRun: true, answer: { kind: 'json', type: dry } },
      about: `${operation.summary}: a dry run, which says what it would cost. Nothing is sent, nothing is paid.`,
    },
  ];
}

/** A remark that clients need not show, because they encode by themselves. */
const FOR_HANDS = ' A plus sign must be written as `%2B`.';

function queryOf(parameters: readonly Parameter[]): Schema {
  return {
    type: 'object',
    properties: Object.fromEntries(
      parameters.map(({ name, description, schema }) => [
        name,
        { ...schema, description: description.replace(FOR_HANDS, '') },
      ]),
    ),
    required: parameters.filter((one) => one.required).map(({ name }) => name),
  };
}

function withoutDryRun({ properties: { dry_run: _, ...properties } = {}, ...schema }: Schema): Schema {
  return { ...schema, properties };
}

const EVENT_ID: Schema = {
  type: 'string',
  description: 'The same on each attempt of a post (its header `webhook-id`): ignore ids that you have seen.',
};

/** Webhooks have the event's id in a header, lists have it in the event: clients always show it in the event. */
function eventsOf({ webhooks, components: { schemas } }: Contract): Record<string, Schema> {
  const posted = Object.entries(webhooks).map(([event, { post }]) => {
    const name = nameOf(post.requestBody.content?.['application/json']?.schema.$ref ?? '');
    return { event, name, schema: schemas[name] ?? {} };
  });
  const union = (events: readonly { readonly name: string }[]): Schema => ({
    oneOf: events.map(({ name }) => ({ $ref: `#/components/schemas/${name}` })),
  });
  const listed = schemas.Event?.properties?.event?.enum ?? [];
  return {
    ...Object.fromEntries(
      posted.map(({ name, schema: { properties, required = [], ...schema } }) => [
        name,
        { ...schema, properties: { event_id: EVENT_ID, ...properties }, required: ['event_id', ...required] },
      ]),
    ),
    Event: union(posted.filter(({ event }) => listed.includes(event))),
    WebhookEvent: union(posted),
  };
}

export function nameOf(ref: string): string {
  return ref.split('/').at(-1) ?? '';
}

export function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** The type's description, and which of its fields exclude each other: `Either message, or template_id.` */
export function aboutOf(name: string, { description, allOf = [] }: Schema): string {
  const choices = allOf
    .map(({ oneOf = [] }) => oneOf.map(({ required = [] }) => `\`${required.join('` and `')}\``))
    .filter((choice) => choice.length > 1 && name.endsWith('Request'))
    .map((choice) => `Either ${choice.join(', or ')}.`);
  return [description, ...choices].filter((words) => words).join(' ');
}

/** Wraps at spaces to lines of at most `most` characters. */
export function lines(text: string, most: number): string[] {
  const all: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + word.length >= most) {
      all.push(line);
      line = '';
    }
    line += line === '' ? word : ` ${word}`;
  }
  return [...all, line];
}
