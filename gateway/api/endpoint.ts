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
 * An endpoint is declared once, in the file of its subject. From the list of all declarations (endpoints/list.ts) follow: the routes of
 * Express with their checks (mount.ts), the OpenAPI document and the pages of /docs (openapi.ts), docs/roles.md, and the walks of the
 * tests.
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
  /** Who may ask: one of these permissions, or all of one set. */
  readonly scopes?: readonly (Permission | ScopeSet)[];
  /** Only people: with what they need (`whole`), or also while their second factor is missing (`incomplete`). */
  readonly signedIn?: 'whole' | 'incomplete';
  /** A user must have shown the password within the last minutes (access/scopes.ts). */
  readonly confirmed?: true;
  /** Not for operators who look at the account (access/looking.ts): texts as they came, files of customers. */
  readonly ownOnly?: true;
  /**
   * For test keys, and people who look at tests: `apart` is about the test account, `same` about the live one. Absent: not for test
   * keys (access/account.ts).
   */
  readonly test?: 'apart' | 'same';
  readonly costs?: number;
  /** An expensive read: counts as this many requests, and waits for the account's earlier ones (access/costly-reads.ts). */
  readonly reads?: number | ((query: Values<Query>) => number);
  readonly params?: Params;
  /** Absent: no parameter is accepted. */
  readonly query?: Query;
  /** Rules that concern several parameters. */
  readonly queryRules?: readonly Rule<Query>[];
  /** Absent: a POST may have an empty object, other methods have no body. */
  readonly body?: RequestTable<Body>;
  /** In place of `body`, where it may have one of these forms, by their names in the contract. The endpoint reads it (`call.json`). */
  readonly forms?: Readonly<Record<string, Pick<RequestTable<Fields>, 'fields' | 'either'>>>;
  /** It adds problems to those of the body, so it refuses them itself. */
  readonly ownProblems?: true;
  /** It reads the header Idempotency-Key itself. Those with an `action` do not. */
  readonly ownIdempotency?: true;
  /** `small` 16 KB, `bulk` 10 MB. Absent: 64 KB. */
  readonly bodyMax?: 'small' | 'bulk';
  /** The shape of the answer 200. Absent where `respond` answers with something else than JSON. */
  readonly answer?: Answer;
  /** Of an `action`: the id of what it makes. Stands before it. */
  newId?(gateway: Gateway, account: AccountId): Id;
  /** Made once per process. Its POST is done once for each Idempotency-Key. */
  action?(gateway: Gateway): OnceAction<Id, Call<Query, Body, Params>>;
  /** Answers a request that has no problems. */
  handle?(gateway: Gateway, call: Call<Query, Body, Params>): Promise<Result<Answer>> | Result<Answer>;
  /** Writes an answer that is no JSON. The query has been read. */
  stream?(gateway: Gateway, call: Call<Query, Body, Params>, res: Reply): Promise<void>;
  /** For what is no JSON: streams, files, pages. Made once per process; checks of access have been made, the rest is its own. */
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
  /** How the clients of customers call it (scripts/clients): `messages.get`. Absent where no key can ask, and for streams. */
  readonly call?: `${string}.${string}`;
  readonly tag: Tag;
  readonly summary: string;
  readonly description?: string;
  /** Of an endpoint without scopes: what the caller needs instead. */
  readonly needs?: string;
  /** Fields that need another scope too. */
  readonly fieldScopes?: Readonly<Record<string, Permission>>;
  /** Problems of its own. Those of keys, scopes, bodies, limits and the store follow from the rest. */
  readonly problems?: readonly ProblemSlug[];
  /** By name. Absent: one example, made of the examples of the fields. */
  readonly examples?: { readonly body?: Examples; readonly answer?: Examples };
  /** What OpenAPI says beside or in place of what follows from the declaration: headers, media types, further answers. */
  readonly openapi?: object;
}

export type Examples = Readonly<Record<string, unknown>>;

export type Tag = 'SMS' | 'Chat-app' | 'Reading back' | 'Account' | 'Users' | 'Sign-in' | 'Operators' | 'Running it';

type Shapes = Readonly<Record<string, z.ZodString>>;

/** What handlers work with: what the process is built from, and what endpoints share. */
export type Gateway = GatewayDeps & Parts;

export interface Call<Query extends Fields = Fields, Body extends Fields = Fields, Params extends Shapes = Shapes> {
  readonly requester: Requester;
  /** The requester with its account. Operators have none. */
  readonly caller: Caller;
  /** The parts of the path, decoded. */
  readonly params: Readonly<Record<keyof Params, string>>;
  readonly query: Values<Query>;
  /** The body's values. Some may be missing while `read` has problems. */
  readonly body: Values<Body>;
  /** The body as far as it could be read, with its problems. */
  readonly read: ReadRequest<Body>;
  readonly json: JsonObject;
  /** For what is about the connection: the cookie, the address, the origin. */
  readonly req: IncomingMessage;
  /** The header; undefined when there is none. */
  header(name: string): string | undefined;
  readonly told: Pick<RequestContext, 'requestId' | 'messageId' | 'batchId' | 'scheduleId'>;
}

/** What a handler returns. Records of the store may be read-only, so the answer may be. */
export type Result<Answer extends z.ZodType<object>> =
  | Shown<Answer>
  | Refused
  | WithHeaders<Shown<Answer>>
  | CostlyRead<Shown<Answer>>
  | Charged<Shown<Answer>>;

/** What a shape describes, read-only. */
export type Shown<Shape extends z.ZodType> = ReadonlyDeep<z.infer<Shape>>;

type ReadonlyDeep<T> = T extends readonly (infer Item)[]
  ? readonly ReadonlyDeep<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]: ReadonlyDeep<T[Name]> }
    : T;

/** An answer with further headers, names and values in turn. */
export class WithHeaders<Body> {
  readonly body: Body;
  readonly headers: readonly string[];

  constructor(body: Body, headers: readonly string[]) {
    this.body = body;
    this.headers = headers;
  }
}

/** As `reads`, where the handler finds out what it costs. */
export class CostlyRead<Body> {
  readonly cost: number;
  /** A text is JSON already, or the content of `file`. */
  readonly read: () => Promise<Body | Refused | string>;
  /** The answer is a file that a browser stores, not JSON. */
  readonly file: { readonly name: string; readonly contentType: string } | undefined;

  constructor(cost: number, read: CostlyRead<Body>['read'], file?: CostlyRead<Body>['file']) {
    this.cost = cost;
    this.read = read;
    this.file = file;
  }
}

/** What is done only after the request was counted as `cost` requests. A key with fewer left gets 429, and nothing is done. */
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
  return declared as Endpoint; // Its own handlers get what its own tables read.
}

/** Every endpoint that was declared, with its place: those of a file come in the order in which they stand there. */
const places = new Map<unknown, number>();

/** The endpoints of a file (`import * as`), in the order in which they stand there. */
export function endpointsOf(file: object): readonly Endpoint[] {
  const placeOf = (one: unknown): number => places.get(one) ?? 0;
  return Object.values(file)
    .filter((one) => places.has(one))
    .sort((a, b) => placeOf(a) - placeOf(b));
}

/** Tells the types of an endpoint to who asks it: the dashboard's client. There is no such value. */
interface Typed<Answer extends z.ZodType<object>> {
  readonly answers?: Shown<Answer>;
}

export type AnswerOf<Declared extends { readonly answers?: unknown }> = NonNullable<Declared['answers']>;

/** An entry of a list that is read page by page. */
export type EntryOf<Declared extends { readonly answers?: unknown }> =
  AnswerOf<Declared> extends { readonly data: readonly (infer Entry)[] } ? Entry : never;

export function done<Told extends object>(told: Told): { readonly status: 'success' } & Told {
  return { status: 'success', ...told };
}

/** The answer is a problem, and nothing was done. */
export function refused(slug: ProblemSlug, more: ProblemAnswer = {}): Refused {
  return { kind: 'refused', problem: [slug, more] };
}

export function invalid(problems: FieldProblems): Refused {
  return { kind: 'refused', problem: invalidRequest(problems) };
}

export function hasBody({ body, forms }: Endpoint): boolean {
  return body !== undefined || forms !== undefined;
}

/** What the endpoints of a subject share in a process, such as a cache: made at its first use, once for each gateway. */
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
