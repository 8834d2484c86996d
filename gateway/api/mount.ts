import type { Express, Request } from 'express';
import type { z } from 'zod';
import { lookAudit } from '../access/looking.ts';
import { requireConfirmed, requireUser, requireWholeUser } from '../access/require-user.ts';
import { requireScope } from '../access/scopes.ts';
import { testMode } from '../access/test-mode.ts';
import { sendFile, sendJson, sendJsonText, sendProblem } from '../http/answer.ts';
import { callerOf, type Handler, type Reply } from '../http/context.ts';
import { isRefused } from '../http/idempotency/action.ts';
import { noQuery } from '../http/no-query.ts';
import {
  Charged,
  CostlyRead,
  type Endpoint,
  type Gateway,
  hasBody,
  type OnceAction,
  type Result,
  WithHeaders,
} from './endpoint.ts';
import { type Asked, readCall } from './read-call.ts';

const METHODS = ['get', 'delete', 'patch', 'post', 'put'] as const;

/**
 * Registers the endpoints with their checks, in this order: who asks, how often, whether they may, what it costs, the body or the
 * query. Then the endpoint itself. A path answers every other method with 405.
 */
export function mount(app: Express, endpoints: readonly Endpoint[], gateway: Gateway): void {
  for (const path of new Set(endpoints.map((one) => one.path))) {
    const declared = endpoints.filter((one) => one.path === path);
    const route = app.route(path.replaceAll(/\{(\w+)\}/g, ':$1'));
    for (const one of declared) route[one.method](...checksOf(one, gateway), handlerOf(one, gateway));
    route.all(gateway.unrouted.methodNotAllowed(allowOf(declared)));
  }
}

/** The value of the header `Allow`. Every path that answers GET also answers HEAD. */
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

/** Its callers have no account. */
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
    if (reads === undefined) return send(res, await handle(gateway, call), gateway);
    const cost = typeof reads === 'number' ? reads : reads(call.query);
    await gateway.reading.answerRead(res, cost, async () => handle(gateway, call));
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
      return 'problem' in call ? call : action.act(call, attempt);
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
