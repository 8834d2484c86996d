import type { IncomingMessage } from 'node:http';
import type { Db } from 'mongodb';
import type { AccountDocument } from '../shared/money/accounts/account.ts';
import { createChatAccepter } from '../shared/money/conversations/open.ts';
import { GroupAccepter } from '../shared/money/payment/accept.ts';
import type { Config } from '../shared/platform/config/settings.ts';
import type { Clock } from '../shared/platform/runtime/clock.ts';
import type { Log } from '../shared/platform/runtime/log.ts';
import { Metrics } from '../shared/platform/runtime/metrics.ts';
import { createHostResolver } from '../shared/platform/runtime/resolve-host.ts';
import type { SecretBox } from '../shared/platform/runtime/secret-box.ts';
import { ROLE_PERMISSIONS } from './access/scopes.ts';
import { Charged, CostlyRead, type Endpoint, type Gateway, WithHeaders } from './api/endpoint.ts';
import { readCall } from './api/mount.ts';
import { openapiOf } from './api/openapi.ts';
import { createParts } from './api/parts.ts';
import { ENDPOINTS } from './endpoints/list.ts';
import type { JsonObject, Requester } from './http/context.ts';
import { isRefused, type Problem } from './http/idempotency/action.ts';
import { KeyUses } from './http/key-uses.ts';
import { Threads } from './http/threads.ts';

/** Runs endpoints without a server: `ops` calls their handlers in its own process, as an operator on this machine. */

interface Supplies {
  readonly db: Db;
  readonly clock: Clock;
  readonly config: Config;
  readonly log: Log;
  readonly box: SecretBox;
}

export interface Local extends Gateway {
  close(): Promise<void>;
}

export function localGateway({ db, clock, config, log, box }: Supplies): Local {
  const accepter = new GroupAccepter({ db, clock, log });
  const prices = { userCredits: config.chatUserCredits, businessCredits: config.chatBusinessCredits };
  const threads = new Threads(log);
  const deps = {
    ...{ db, clock, config, log, box, threads, accepter },
    chatAccepter: createChatAccepter({ db, clock, log, prices }),
    ...{ resolveHost: createHostResolver(), keyUses: new KeyUses({ db, clock, log }) },
    ...{ metrics: new Metrics(), notes: {}, stopping: new AbortController().signal },
  };
  const close = async () => {
    await accepter.settled();
    await threads.close();
  };
  return { ...deps, ...createParts(deps, () => openapiOf(ENDPOINTS)), close };
}

/** Whoever may run programs on this machine. With `account`: as an owner of it, for the endpoints of accounts. */
export function operatorHere(id: string, address = '', account?: AccountDocument): Requester {
  const scopes = ROLE_PERMISSIONS[account === undefined ? 'operator' : 'owner'];
  return {
    who: { kind: 'ops', id },
    account,
    address,
    perMinute: Number.POSITIVE_INFINITY,
    makers: [],
    caps: [],
    scopes,
  };
}

export interface LocalRequest {
  readonly requester: Requester;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly body: JsonObject;
  readonly idempotencyKey?: string | undefined;
}

export type LocalAnswer =
  | { readonly kind: 'answered'; readonly body: object; readonly isReplayed: boolean }
  | { readonly kind: 'file'; readonly text: string }
  | { readonly kind: 'refused'; readonly problem: Problem };

/** What the endpoint answers. Checks no permission and counts for no rate limit. Throws what the handler throws. */
export async function runLocally(one: Endpoint, gateway: Gateway, asked: LocalRequest): Promise<LocalAnswer> {
  const { requester, params, query, body, idempotencyKey: key } = asked;
  const headers = key === undefined ? {} : { 'idempotency-key': key };
  // Handlers read nothing else of a request, except those that sign people in.
  const req = { url: `/?${new URLSearchParams(query)}`, headers } as IncomingMessage & { readonly url: string };
  const told = { requestId: 'ops', messageId: undefined, batchId: undefined, scheduleId: undefined };
  const call = await readCall(one, gateway, { requester, params, json: body, req, told });
  if ('problem' in call) return { kind: 'refused', problem: call.problem };
  if (one.handle !== undefined) return toAnswer(await one.handle(gateway, call));
  const id = one.newId?.(gateway, requester.account?._id ?? 'acc_ops');
  if (one.action === undefined || id === undefined) throw new Error(`endpoint ${one.id} has no answer of JSON`);
  const verdict = await one.action(gateway).act(call, { id, payBy: undefined });
  return 'body' in verdict ? toAnswer(verdict.body) : { kind: 'refused', problem: verdict.problem };
}

async function toAnswer(result: object): Promise<LocalAnswer> {
  if (isRefused(result)) return { kind: 'refused', problem: result.problem };
  if (result instanceof WithHeaders) {
    const isReplayed = result.headers.includes('Idempotency-Replayed');
    return { kind: 'answered', body: result.body as object, isReplayed };
  }
  if (result instanceof Charged) return toAnswer((await result.act()) as object);
  if (result instanceof CostlyRead) {
    const read: object | string = await result.read();
    if (typeof read !== 'string') return toAnswer(read);
    return result.file === undefined ? toAnswer(JSON.parse(read)) : { kind: 'file', text: read };
  }
  return { kind: 'answered', body: result, isReplayed: false };
}
