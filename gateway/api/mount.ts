import type { IncomingMessage } from 'node:http';
import type { Express, Request } from 'express';
import type { z } from 'zod';
import { testMode } from '../access/account.ts';
import { lookAudit } from '../access/looking.ts';
import { requireConfirmed, requireScope, requireUser, requireWholeUser } from '../access/scopes.ts';
import { sendFile, sendJson, sendJsonText, sendProblem } from '../http/answer.ts';
import { callerOf, type Handler, type JsonObject, type Reply, type Requester } from '../http/context.ts';
import { FieldProblems, invalidRequest, noQuery } from '../http/field-problems.ts';
import type { Fields } from '../http/fields/field.ts';
import { readQuery } from '../http/fields/query.ts';
import { type ReadRequest, readRequest } from '../http/fields/request.ts';
import { isRefused, type Refused, refusedLate } from '../http/idempotency/action.ts';
import { quotaRefusal } from '../http/quota-problem.ts';
import {
  type Call,
  Charged,
  CostlyRead,
  type Endpoint,
  type Gateway,
  hasBody,
  type OnceAction,
  type Result,
  WithHeaders,
} from './endpoint.ts';

const METHODS = ['get', 'delete', 'patch', 'post', 'put'] as const;

/**
 * Registers the endpoints. Checks run in this order: who asks, how often, whether they may, what it costs, the body or
 * the query; then the endpoint itself. A path answers all other methods with 405.
 */
export function mount(app: Express, endpoints: readonly Endpoint[], gateway: Gateway): void {
  for (const path of new Set(endpoints.map((one) => one.path))) {
    const declared = endpoints.filter((one) => one.path === path);
    const route = app.route(path.replaceAll(/\{(\w+)\}/g, ':$1'));
    for (const one of declared) route[one.method](...checksOf(one, gateway), handlerOf(one, gateway));
    route.all(gateway.unrouted.methodNotAllowed(allowOf(declared)));
  }
}

/** The header `Allow`. Every path that answers GET also answers HEAD. */
function allowOf(declared: readonly Endpoint[]): string {
  return METHODS.filter((method) => declared.some((one) => one.method === method))
    .map((method) => (method === 'get' ? 'GET, HEAD' : method.toUpperCase()))
    .join(', ');
}

function checksOf(one: Endpoint, gateway: Gateway): readonly Handler[] {
  const { authenticate, authenticateUser, lookAs, rateLimit, charge } = gateway;
  const checks: Handler[] = [];
  if (one.scopes !== undefined) {
    const sets = one.scopes.map((scope) => (typeof scope === 'string' ? [scope] : scope));
    if (isOfOperators(one)) checks.push(authenticate, rateLimit, requireScope(...sets));
    else {
      const ofAccount = [requireScope(...sets), lookAudit(one, gateway.recordLook), testMode(one, gateway.readAccount)];
      checks.push(authenticate, rateLimit, lookAs, ...ofAccount);
    }
  }
  if (one.signedIn !== undefined) {
    checks.push(authenticateUser, rateLimit, one.signedIn === 'whole' ? requireWholeUser : requireUser);
  }
  if (one.confirmed) checks.push(requireConfirmed);
  const { costs } = one;
  if (costs !== undefined) {
    checks.push(async (_req, res: Reply, next) => {
      if (await charge(res, costs)) next();
    });
  }
  if (hasBody(one)) checks.push(gateway[one.bodyMax ?? 'message']);
  else if (one.method === 'post' && one.respond === undefined) checks.push(gateway.noFields);
  else if (one.query === undefined && one.respond === undefined) checks.push(noQuery);
  return checks;
}

function isOfOperators({ path }: Pick<Endpoint, 'path'>): boolean {
  return path.startsWith('/v2/admin/');
}

function handlerOf(one: Endpoint, gateway: Gateway): Handler {
  const { action, handle, stream } = one;
  if (one.respond !== undefined) return one.respond(gateway);
  if (action !== undefined) return actionHandler(one, action(gateway), gateway);
  if (stream !== undefined) {
    return async (req, res: Reply) => {
      const call = await readCall(one, gateway, askedBy(req, res));
      if ('problem' in call) sendProblem(res, ...call.problem);
      else await stream(gateway, call, res);
    };
  }
  if (handle === undefined) throw new Error(`endpoint ${one.id} has no handler`);
  return async (req, res: Reply) => {
    const call = await readCall(one, gateway, askedBy(req, res));
    if ('problem' in call) return sendProblem(res, ...call.problem);
    const { reads } = one;
    const answer = async () => handle(gateway, call);
    if (reads === undefined) return send(res, await answer().catch(quotaRefusal), gateway);
    const cost = typeof reads === 'number' ? reads : reads(call.query);
    await gateway.reading.answerRead(res, cost, answer);
  };
}

function actionHandler(one: Endpoint, action: OnceAction<string>, gateway: Gateway): Handler {
  return gateway.once({
    ...action,
    name: one.id,
    newId(account) {
      const id = one.newId?.(gateway, account);
      if (id === undefined) throw new Error(`endpoint ${one.id} gives no ids`);
      return id;
    },
    async act(res, attempt) {
      const call = await readCall(one, gateway, askedBy(res.req, res));
      if ('problem' in call) return call;
      // Actions that an account pays for check the time when they pay.
      const late = action.end === undefined ? refusedLate(gateway.clock, attempt.payBy) : undefined;
      return late ?? action.act(call, attempt).catch(quotaRefusal);
    },
    refuseReplay: async (res, id) => action.refuseReplay?.(callerOf(res), id),
  });
}

function askedBy(req: Request, res: Reply): Asked {
  const { caller: requester, body: json } = res.locals;
  // No path has a wildcard, so each part is one text.
  return { requester, params: req.params as Asked['params'], json, req, told: res.locals };
}

async function send(res: Reply, result: Result<z.ZodType<object>>, gateway: Gateway): Promise<void> {
  if (result instanceof WithHeaders) sendJsonText(res, 200, JSON.stringify(result.body), result.headers);
  else if (result instanceof CostlyRead) {
    const { cost, read, file } = result;
    const sent = file && ((text: string | Buffer) => sendFile(res, file.contentType, file.name, text));
    await gateway.reading.answerRead(res, cost, read, 'not_found', sent);
  } else if (result instanceof Charged) {
    if (await gateway.charge(res, result.cost)) await send(res, await result.act(), gateway);
  } else if (isRefused(result)) sendProblem(res, ...result.problem);
  else sendJson(res, result);
}

/** A request over HTTP, or by `ops` in its own process. */
interface Asked {
  /** Undefined where nobody has to authenticate. */
  readonly requester: Requester | undefined;
  readonly params: Readonly<Record<string, string>>;
  readonly json: JsonObject | undefined;
  readonly req: IncomingMessage & { readonly url: string };
  readonly told: Call['told'];
}

/** Reads the query and the body. Problems refuse the request, unless the endpoint has `ownProblems`. */
export async function readCall(
  one: Endpoint,
  { clock, config }: Pick<Gateway, 'clock' | 'config'>,
  { requester, params, json = {}, req, told }: Asked,
): Promise<Call | Refused> {
  const context = { account: requester?.account ?? {}, now: clock.now(), config };
  const query = one.query === undefined ? nothing() : readQuery(one.query, req, context, one.queryRules);
  if (query.problems.count > 0) return { kind: 'refused', problem: invalidRequest(query.problems) };
  const read = one.body === undefined ? nothing() : await readRequest(one.body, json, context);
  if (read.problems.count > 0 && !one.ownProblems) return { kind: 'refused', problem: invalidRequest(read.problems) };
  return {
    // Endpoints that authenticate have both; only operators have no account.
    requester: requester as Call['requester'],
    caller: requester as Call['caller'],
    params,
    query: query.given,
    body: read.given,
    read,
    json,
    req,
    header(name) {
      const value = req.headers[name];
      return value === undefined ? undefined : String(value);
    },
    told,
  };
}

/** For endpoints without fields; a request with any was refused before. */
function nothing(): ReadRequest<Fields> {
  return { given: {}, problems: new FieldProblems() };
}
