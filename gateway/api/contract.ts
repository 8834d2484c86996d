import { z } from 'zod';
import { defined } from '../../shared/platform/runtime/defined.ts';
import type { Schema } from '../http/fields/field.ts';

/** The parts of OpenAPI 3.1 that our contract uses and the page shows. */
export interface Contract {
  readonly info: { readonly title: string; readonly summary: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly responses: Readonly<Record<string, Response>>;
  };
  /** By event name: what is posted to the customer. */
  readonly webhooks: Readonly<Record<string, { readonly post: Webhook }>>;
  readonly 'x-problems': readonly string[];
}

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly (Parameter | Reference)[];
  readonly requestBody?: Response;
  readonly responses: Readonly<Record<string, Response | Reference>>;
  /** The method's name in the clients of customers (scripts/clients): `messages.get`. */
  readonly 'x-call'?: string;
  readonly 'x-scope'?: string;
  readonly 'x-test'?: true;
  /** In a session, the password must have been shown within the last minutes. */
  readonly 'x-confirmed'?: true;
  readonly 'x-field-scopes'?: Readonly<Record<string, string>>;
  readonly 'x-problems': readonly string[];
}

interface Webhook {
  readonly summary: string;
  readonly requestBody: Response;
}

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly description: string;
  readonly required?: boolean;
  readonly schema: Schema;
  readonly example?: string;
}

export interface Response {
  readonly description?: string;
  readonly headers?: Readonly<Record<string, Reference>>;
  readonly content?: Readonly<Record<string, MediaType>>;
  /** What can be done next with the answer, by operation: `$response.body#/message_id`. */
  readonly links?: Readonly<Record<string, { readonly operationId: string; readonly parameters: object }>>;
}

export interface MediaType {
  readonly schema: Schema;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

export interface Reference {
  readonly $ref: string;
}

/** `components.schemas` of OpenAPI 3.1: named shapes, and all named ones inside them, by name. */
export function componentsOf(named: readonly z.ZodType[]): Readonly<Record<string, Schema>> {
  const { $defs = {} } = z.toJSONSchema(z.union(named), { io: 'input' });
  // zod writes the keywords of `Written` for the shapes that answers use.
  return { ...eachOf($defs as Record<string, Written>), Nothing: { description: 'No value.', type: 'null' } };
}

export function schemaOf(shape: z.ZodType): Schema {
  const { $schema, ...written } = z.toJSONSchema(shape, { io: 'input' });
  return asContract(written as Written); // as above
}

/** JSON Schema as zod writes it. */
interface Written extends Schema {
  readonly anyOf?: readonly Schema[];
  readonly propertyNames?: Schema;
  readonly example?: unknown;
}

function eachOf(written: Readonly<Record<string, Written>>): Readonly<Record<string, Schema>> {
  return Object.fromEntries(Object.entries(written).map(([name, one]) => [name, asContract(one)]));
}

/** The same schema in the contract's form, without what zod adds for itself. */
function asContract(written: Written): Schema {
  const { $ref, type, description, anyOf, oneOf = anyOf, properties, items, additionalProperties, ...more } = written;
  const { example, propertyNames, minimum, maximum, ...rules } = more;
  const own = defined({
    $ref: $ref?.replace('#/$defs/', '#/components/schemas/'),
    type: Number.isInteger(rules.const) ? 'integer' : type,
    description,
    properties: properties && eachOf(properties),
    ...rules,
    minimum: minimum === Number.MIN_SAFE_INTEGER ? undefined : minimum,
    maximum: maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum,
    items: items && asContract(items),
    additionalProperties: others(additionalProperties),
  });
  return oneOf === undefined ? own : { ...alternatives(oneOf.map(asContract)), ...own };
}

/** zod writes `{}` where anything is allowed. */
function others(written: Written['additionalProperties']): Schema['additionalProperties'] {
  if (typeof written !== 'object') return written;
  return Object.keys(written).length === 0 || asContract(written);
}

/**
 * Values of different types become one schema with a list of types, because keywords of one type do not affect others.
 * Otherwise null is a named schema: generators of clients give types only to named ones.
 */
function alternatives(members: readonly Schema[]): Schema {
  const types = members.flatMap(({ type }) => type ?? []);
  const apart = types.length === members.length && new Set(types).size === types.length;
  if (apart && !members.some((one) => 'enum' in one || 'const' in one)) {
    return Object.assign({}, ...members, { type: types });
  }
  return { oneOf: members.map((one) => (one.type === 'null' ? { $ref: '#/components/schemas/Nothing' } : one)) };
}

/**
 * The value that examples show for a shape: its `example`, or what its parts show. Objects have their required fields
 * and optional ones with an example; lists of objects have one entry, other lists none. A nullable value is null unless
 * an example stands at this very place, not inside a named shape.
 */
export function exampleOf(shape: z.core.$ZodType): unknown {
  const example = ownExample(shape);
  if (example !== undefined) return example;
  if (shape instanceof z.ZodObject) return fieldsOf(shape);
  if (shape instanceof z.ZodArray) return shape.element instanceof z.ZodObject ? [exampleOf(shape.element)] : [];
  if (shape instanceof z.ZodUnion) return exampleOf(shape.options[0] ?? z.null());
  if (shape instanceof z.ZodEnum) return shape.options[0];
  if (shape instanceof z.ZodLiteral) return shape.value;
  if (shape instanceof z.ZodNullable || shape instanceof z.ZodNull) return null;
  if (shape instanceof z.ZodBoolean) return false;
  if (shape instanceof z.ZodNumber) return 0;
  if (shape instanceof z.ZodRecord) return {};
  throw new TypeError(
    `A shape needs an example: ${JSON.stringify(z.globalRegistry.get(shape) ?? shape._zod.def.type)}`,
  );
}

/** The example at this place, or inside the shape before a named shape begins. */
function ownExample(shape: z.core.$ZodType): unknown {
  const { example } = z.globalRegistry.get(shape) ?? {};
  if (example !== undefined) return example;
  if (shape instanceof z.ZodOptional || shape instanceof z.ZodNullable) return unnamedExample(shape.unwrap());
  if (shape instanceof z.ZodArray) {
    const entry = unnamedExample(shape.element);
    return entry === undefined ? undefined : [entry];
  }
  if (!(shape instanceof z.ZodObject)) return undefined;
  return Object.values(shape.shape).some((field) => unnamedExample(field) !== undefined) ? fieldsOf(shape) : undefined;
}

function unnamedExample(shape: z.core.$ZodType): unknown {
  return z.globalRegistry.get(shape)?.id === undefined ? ownExample(shape) : undefined;
}

function fieldsOf({ shape }: z.ZodObject): object {
  const shown = Object.entries(shape).filter(
    ([, field]) => !(field instanceof z.ZodOptional) || ownExample(field) !== undefined,
  );
  return Object.fromEntries(shown.map(([name, field]) => [name, exampleOf(field)]));
}
