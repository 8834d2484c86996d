import type { IncomingMessage } from 'node:http';
import type { z } from 'zod';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';
import type { ScopeSet } from '../access/scopes.ts';
import type { ProblemAnswer } from '../http/answer.ts';
import type { Caller, Handler, JsonObject, Permission, Reply, RequestContext, Requester } from '../http/context.ts';
import type { GatewayDeps } from '../http/deps.ts';
import { type FieldProblems, invalidRequest } from '../http/field-problems.ts';
import type { Fields, Values } from '../http/fields/field.ts';
import type { ReadRequest, RequestTable, Rule } from '../http/fields/request.ts';
import type { Action, Attempt, Problem, Refused, Verdict } from '../http/idempotency/action.ts';
import type { ProblemSlug } from '../http/problem.ts';
import type { Parts } from './parts.ts';

/**
 * An endpoint is declared once, in the file of its subject. From all declarations (endpoints/list.ts) follow the routes
 * of Express with their checks (mount.ts), the OpenAPI document and /docs (openapi.ts), docs/roles.md, and tests.
 */
export interface Endpoint<
  Query extends Fields = Fields,
  Body extends Fields = Fields,
  Answer extends z.ZodType<object> = z.ZodType<object>,
  Params extends Shapes = Shapes,
  Id extends string = string,
> extends Described {
  /** In OpenAPI's form: `/v2/account/webhooks/{webhook_id}`. */
  readonly path: string;
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  readonly scopes?: readonly (Permission | ScopeSet)[];
  /** For people only: `incomplete` also while they still have to set up a second factor. */
  readonly signedIn?: 'whole' | 'incomplete';
  /** Users must have shown the password within the last minutes (access/scopes.ts). */
  readonly confirmed?: true;
  /** Not for operators who look at the account (access/looking.ts): unmasked texts, files of customers. */
  readonly ownOnly?: true;
  /** For tests: `apart` uses the test account, `same` the live one. Absent: no test keys (access/account.ts). */
  readonly test?: 'apart' | 'same';
  readonly costs?: number;
  /** Expensive: counts as this many requests, waits for the account's earlier ones (access/costly-reads.ts). */
  readonly reads?: number | ((query: Values<Query>) => number);
  readonly params?: Params;
  /** Absent: no parameter is accepted. */
  readonly query?: Query;
  readonly queryRules?: readonly Rule<Query>[];
  /** Absent: a POST may have an empty object, other methods no body. */
  readonly body?: RequestTable<Body>;
  /** In place of `body`: forms of the body, by their names in the contract. The endpoint reads `call.json`. */
  readonly forms?: Readonly<Record<string, Pick<RequestTable<Fields>, 'fields' | 'either'>>>;
  /** The endpoint adds problems to those of the body, so it refuses them itself. */
  readonly ownProblems?: true;
  /** The endpoint reads the header Idempotency-Key itself. Not needed with an `action`. */
  readonly ownIdempotency?: true;
  /** `small` 16 KB, `bulk` 10 MB. Absent: 64 KB. */
  readonly bodyMax?: 'small' | 'bulk';
  /** Absent where the answer is not JSON. */
  readonly answer?: Answer;
  /** The id of what `action` makes. */
  newId?(gateway: Gateway, account: AccountId): Id;
  /** Made once per process. The POST is done once per Idempotency-Key. */
  action?(gateway: Gateway): OnceAction<Id, Call<Query, Body, Params>>;
  handle?(gateway: Gateway, call: Call<Query, Body, Params>): Promise<Result<Answer>> | Result<Answer>;
  /** Writes an answer that is not JSON. The query has been read. */
  stream?(gateway: Gateway, call: Call<Query, Body, Params>, res: Reply): Promise<void>;
  /** For streams, files and pages. Made once per process. Access has been checked; the rest is up to the handler. */
  respond?(gateway: Gateway): Handler;
}

/** Its claims are stored under the endpoint's id. */
export interface OnceAction<Id extends string, Asked = Call>
  extends Omit<Action<Id>, 'name' | 'newId' | 'act' | 'refuseReplay'> {
  act(call: Asked, attempt: Attempt<Id>): Promise<Verdict>;
  refuseReplay?(caller: Caller, id: Id): Promise<Problem | undefined>;
}

interface Described {
  /** The `operationId`: names of methods in generated clients. */
  readonly id: string;
  /** The method in clients of customers (scripts/clients): `messages.get`. Absent without keys, and for streams. */
  readonly call?: `${string}.${string}`;
  readonly tag: Tag;
  readonly summary: string;
  readonly description?: string;
  /** For an endpoint without scopes: what the caller needs instead. */
  readonly needs?: string;
  readonly fieldScopes?: Readonly<Record<string, Permission>>;
  /** Its own problems. Those of keys, scopes, bodies, limits and the store follow from the rest. */
  readonly problems?: readonly ProblemSlug[];
  /** By name. By default one example, made of the fields' examples. */
  readonly examples?: { readonly body?: Examples; readonly answer?: Examples };
  /** Added to, or replacing, what OpenAPI derives from the declaration: headers, media types, further answers. */
  readonly openapi?: object;
}

export type Examples = Readonly<Record<string, unknown>>;

export type Tag = 'SMS' | 'Chat-app' | 'Reading back' | 'Account' | 'Users' | 'Sign-in' | 'Operators' | 'Running it';

type Shapes = Readonly<Record<string, z.ZodString>>;

/** What handlers work with: the process's parts, and what endpoints share. */
export type Gateway = GatewayDeps & Parts;

export interface Call<Query extends Fields = Fields, Body extends Fields = Fields, Params extends Shapes = Shapes> {
  readonly requester: Requester;
  readonly caller: Caller;
  /** Decoded. */
  readonly params: Readonly<Record<keyof Params, string>>;
  readonly query: Values<Query>;
  /** Some values may be missing while `read` has problems. */
  readonly body: Values<Body>;
  readonly read: ReadRequest<Body>;
  readonly json: JsonObject;
  /** For the connection's cookie, address and origin. */
  readonly req: IncomingMessage;
  header(name: string): string | undefined;
  readonly told: Pick<RequestContext, 'requestId' | 'messageId' | 'batchId' | 'scheduleId'>;
}

export type Result<Answer extends z.ZodType<object>> =
  | Shown<Answer>
  | Refused
  | WithHeaders<Shown<Answer>>
  | CostlyRead<Shown<Answer>>
  | Charged<Shown<Answer>>;

export type Shown<Shape extends z.ZodType> = ReadonlyDeep<z.infer<Shape>>;

type ReadonlyDeep<T> = T extends readonly (infer Item)[]
  ? readonly ReadonlyDeep<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]: ReadonlyDeep<T[Name]> }
    : T;

/** Headers: names and values in turn. */
export class WithHeaders<Body> {
  readonly body: Body;
  readonly headers: readonly string[];

  constructor(body: Body, headers: readonly string[]) {
    this.body = body;
    this.headers = headers;
  }
}

/** Like `reads`, where the handler finds out the cost. */
export class CostlyRead<Body> {
  readonly cost: number;
  /** A text is JSON already, or the content of `file`. */
  readonly read: () => Promise<Body | Refused | string>;
  /** If set, the answer is a file to download, not JSON. */
  readonly file: { readonly name: string; readonly contentType: string } | undefined;

  constructor(cost: number, read: CostlyRead<Body>['read'], file?: CostlyRead<Body>['file']) {
    this.cost = cost;
    this.read = read;
    this.file = file;
  }
}

/** `act` runs only after the request was counted as `cost` requests. A key with fewer left gets 429. */
export class Charged<Body> {
  readonly cost: number;
  readonly act: () => Promise<Body | Refused>;

  constructor(cost: number, act: Charged<Body>['act']) {
    this.cost = cost;
    this.act = act;
  }
}

export function endpoint<
  Answer extends z.ZodType<object>,
  // biome-ignore lint/complexity/noBannedTypes: no field at all
  Query extends Fields = {},
  // biome-ignore lint/complexity/noBannedTypes: no field at all
  Body extends Fields = {},
  // biome-ignore lint/complexity/noBannedTypes: no part
  Params extends Shapes = {},
  Id extends string = string,
>(declared: Endpoint<Query, Body, Answer, Params, Id>): Endpoint & Typed<Answer> {
  places.set(declared, places.size);
  return declared as Endpoint; // its own handlers get what its own tables read
}

/** Every declared endpoint, with its place in the order of declaration. */
const places = new Map<unknown, number>();

/** The endpoints of a file (`import * as`), in their order there. */
export function endpointsOf(file: object): readonly Endpoint[] {
  const placeOf = (one: unknown): number => places.get(one) ?? 0;
  return Object.values(file)
    .filter((one) => places.has(one))
    .sort((a, b) => placeOf(a) - placeOf(b));
}

/** Carries the answer's type to the dashboard's client. No value has this member. */
interface Typed<Answer extends z.ZodType<object>> {
  readonly answers?: Shown<Answer>;
}

export type AnswerOf<Declared extends { readonly answers?: unknown }> = NonNullable<Declared['answers']>;

/** The type of an entry of a paged list. */
export type EntryOf<Declared extends { readonly answers?: unknown }> =
  AnswerOf<Declared> extends { readonly data: readonly (infer Entry)[] } ? Entry : never;

export function done<Told extends object>(told: Told): { readonly status: 'success' } & Told {
  return { status: 'success', ...told };
}

/** Nothing was done. */
export function refused(slug: ProblemSlug, more: ProblemAnswer = {}): Refused {
  return { kind: 'refused', problem: [slug, more] };
}

export function invalid(problems: FieldProblems): Refused {
  return { kind: 'refused', problem: invalidRequest(problems) };
}

export function hasBody({ body, forms }: Endpoint): boolean {
  return body !== undefined || forms !== undefined;
}

/** Something that endpoints share in a process, such as a cache. Made at its first use, once per gateway. */
export function perProcess<Shared>(make: (gateway: Gateway) => Shared): (gateway: Gateway) => Shared {
  const made = new WeakMap<Gateway, Shared>();
  return (gateway) => {
    const known = made.get(gateway);
    if (known !== undefined) return known;
    const shared = make(gateway);
    made.set(gateway, shared);
    return shared;
  };
}
