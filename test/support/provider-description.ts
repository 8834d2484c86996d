import { execFileSync } from 'node:child_process';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

/**
 * Judges the traffic with the chat-app provider by its own OpenAPI description, which we may not copy, so a path leads
 * to it. Even its own samples fail its schemas: each part of an `allOf` forbids the others' members, and JSON Schema
 * ignores `discriminator`. Here the parts of an `allOf` are merged, and the discriminator chooses.
 */
export interface ProviderDescription {
  /** The description's faults of a request to this path, a line each: `/interactive/type must be equal to …`. */
  requestFaults(path: string, body: unknown): readonly string[];
  callbackFaults(body: unknown): readonly string[];
  samples(path: string): readonly (readonly [name: string, body: unknown])[];
}

type Json = Readonly<Record<string, unknown>>;

export const MESSAGES = '/{Version}/{Phone-Number-ID}/messages';
/** The first schema of callbacks; all later ones belong to callbacks too. */
const CALLBACKS = 'WebhookPayload';
/** Only schemas that contain themselves are nested deeper. */
const DEPTH_MAX = 24;

/** Uses Python's YAML reader, which CI machines have (`python3-yaml`). */
export function readProviderDescription(file: string): ProviderDescription {
  const program = 'import json, sys, yaml; json.dump(yaml.safe_load(open(sys.argv[1])), sys.stdout, default=str)';
  const text = execFileSync('python3', ['-c', program, file], { encoding: 'utf8', maxBuffer: 64 * 1_048_576 });
  const description: Json = JSON.parse(text);
  const schemas = object(object(description.components).schemas);
  const ajv = new Ajv2020({ allErrors: true, strict: false, validateFormats: false });
  const compiled = new Map<string, ValidateFunction>();
  const ofRequests: Resolve = (name) => object(schemas[name]);
  // Their references name schemas of requests: `TextMessage`, where their own is `TextMessage_2`.
  const own = Object.keys(schemas).slice(Object.keys(schemas).indexOf(CALLBACKS));
  const ofCallbacks: Resolve = (name) =>
    object(schemas[own.find((one) => one === name || one.replace(/_\d+$/, '') === name) ?? name]);
  const contentOf = (path: string): Json => {
    const body = at(description, 'paths', path, 'post', 'requestBody', 'content', 'application/json');
    if (body === undefined) throw new Error(`the description has no POST ${path}`);
    return body;
  };
  const faults = (place: string, schema: Json, resolve: Resolve, body: unknown): readonly string[] => {
    let validate = compiled.get(place);
    if (validate === undefined) {
      validate = ajv.compile(usable(schema, resolve, 0));
      compiled.set(place, validate);
    }
    if (validate(body)) return [];
    const told = (validate.errors ?? [])
      // Faults inside a failing `if` describe it.
      .filter(({ keyword }) => keyword !== 'if')
      .map(({ instancePath, message, params }) => {
        const named = params.additionalProperty ?? params.allowedValues?.join(', ') ?? '';
        return `${instancePath.replaceAll(/\/\d+/g, '/N')} ${message}${named === '' ? '' : `: ${named}`}`;
      });
    return [...new Set(told)];
  };
  return {
    requestFaults: (path, body) => faults(path, object(contentOf(path).schema), ofRequests, body),
    callbackFaults: (body) => {
      const changes = list(object(body).entry).flatMap((entry) => list(entry.changes));
      return changes.flatMap(({ field, value }) => {
        const name = field === 'messages' ? schemaOfValue(object(value)) : undefined;
        const found = name === undefined ? [] : faults(name, ofCallbacks(name), ofCallbacks, value);
        return found.map((fault) => `${name}${fault}`);
      });
    },
    samples: (path) =>
      Object.entries(object(contentOf(path).examples)).map(([name, sample]) => [name, object(sample).value] as const),
  };
}

/** The schema for a change of the field `messages`. For other fields the description only has groups. */
function schemaOfValue({ statuses, messages }: Json): string {
  if (statuses !== undefined) return 'StatusMessageValue';
  return list(messages)[0]?.type === 'system' ? 'IncomingMessageValueSystem' : 'IncomingMessageValueGeneral';
}

type Resolve = (name: string) => Json;

/** A schema with its references filled in, as JSON Schema means it. */
function usable(schema: Json, resolve: Resolve, depth: number): Json {
  if (depth > DEPTH_MAX) return {};
  const { $ref } = schema;
  if (typeof $ref === 'string') return usable(referred($ref, resolve), resolve, depth + 1);
  const { allOf, discriminator, oneOf, properties, items, ...rest } = schema;
  const own: Json = {
    ...rest,
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(object(properties)).map(([name, one]) => [name, usable(object(one), resolve, depth + 1)]),
          ),
        }),
    ...(items === undefined ? {} : { items: usable(object(items), resolve, depth + 1) }),
  };
  const choice = object(discriminator).mapping;
  if (choice !== undefined) return chosen(own, discriminatorOf(schema, resolve));
  const one = list(oneOf).map((option) => usable(option, resolve, depth + 1));
  const whole = [own, ...list(allOf).map((part) => usable(withoutChoice(part, resolve), resolve, depth + 1))];
  return { ...whole.reduce(merged), ...(one.length > 0 && { oneOf: one }) };
}

/** The base of an `allOf` names its own kinds, which would lead back here. */
function withoutChoice(part: Json, resolve: Resolve): Json {
  const { discriminator: _, ...rest } = typeof part.$ref === 'string' ? referred(part.$ref, resolve) : part;
  return rest;
}

interface Choice {
  readonly property: string;
  readonly kinds: ReadonlyMap<string, Json>;
}

/** Prefers the listed schemas: the mapping of callbacks names those of sends. */
function discriminatorOf(schema: Json, resolve: Resolve): Choice {
  const { propertyName, mapping } = object(schema.discriminator);
  const property = String(propertyName);
  const options = list(schema.oneOf).map((option) => usable(option, resolve, 0));
  const listed = options.flatMap((option) => {
    const words = at(option, 'properties', property)?.enum;
    return Array.isArray(words) ? words.map((word) => [String(word), option] as const) : [];
  });
  if (listed.length > 0) return { property, kinds: new Map(listed) };
  const mapped = Object.entries(object(mapping)).map(([word, $ref]) => [word, usable({ $ref }, resolve, 0)] as const);
  return { property, kinds: new Map(mapped) };
}

function chosen(own: Json, { property, kinds }: Choice): Json {
  const branches = [...kinds].map(([word, then]) => ({
    if: { properties: { [property]: { const: word } }, required: [property] },
    then,
  }));
  return { ...own, allOf: [{ properties: { [property]: { enum: [...kinds.keys()] } } }, ...branches] };
}

/** Merges two parts of an `allOf`. Members of both must satisfy both. */
function merged(one: Json, other: Json): Json {
  const properties: Record<string, unknown> = { ...object(one.properties) };
  for (const [name, value] of Object.entries(object(other.properties))) {
    properties[name] = name in properties ? merged(object(properties[name]), object(value)) : value;
  }
  const required = [...words(one.required), ...words(other.required)];
  const closed = one.additionalProperties === false || other.additionalProperties === false;
  return {
    ...one,
    ...other,
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required: [...new Set(required)] }),
    ...(closed && { additionalProperties: false }),
  };
}

function referred($ref: string, resolve: Resolve): Json {
  return resolve($ref.slice($ref.lastIndexOf('/') + 1));
}

function at(value: Json, ...path: readonly string[]): Json | undefined {
  let place: unknown = value;
  for (const step of path) place = object(place)[step];
  return place === undefined ? undefined : object(place);
}

function object(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

function list(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.map(object) : [];
}

function words(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
