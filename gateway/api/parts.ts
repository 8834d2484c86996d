import type { NextFunction, Request } from 'express';
import { Routes } from '../../shared/carriers/routing/store.ts';
import { guardOptions } from '../../shared/events/webhooks/address-guard.ts';
import { isStoreTrouble } from '../../shared/platform/mongo/errors.ts';
import { errorFields, type Log, unexpectedErrorFields } from '../../shared/platform/runtime/log.ts';
import { SecretUnreadable } from '../../shared/platform/runtime/secret-box.ts';
import { createReadAccount } from '../access/account.ts';
import { createAuthenticate, createIdentify, type Identify } from '../access/authenticate.ts';
import { createCostlyReads } from '../access/costly-reads.ts';
import { RateCounter } from '../access/counter.ts';
import { createLookAs, createRecordLook } from '../access/looking.ts';
import { createCharge, createRateLimit, createUnauthorized, type Unauthorized } from '../access/rate-limit.ts';
import { Sessions } from '../access/sessions.ts';
import { ClientFiles } from '../dashboard/serve.ts';
import { type ProblemAnswer, RETRY_AFTER, sendProblem } from '../http/answer.ts';
import { createCallerAddress } from '../http/caller-address.ts';
import { bodyOf, type Handler, type Reply } from '../http/context.ts';
import type { GatewayDeps } from '../http/deps.ts';
import { FieldProblems, invalidRequest, readNoQuery, refuseUnknown } from '../http/field-problems.ts';
import { createUrlCheck } from '../http/fields/public-url.ts';
import { createOnce } from '../http/idempotency/once.ts';
import { BYTES_PER_REQUEST, jsonBody, LargeBodies } from '../http/json-body.ts';
import type { ProblemSlug } from '../http/problem.ts';
import type { Contract } from './contract.ts';

/** For callers who have not signed in yet, and short requests. It counts as one request, so nobody is charged. */
const SMALL_BYTES_MAX = BYTES_PER_REQUEST;
const MESSAGE_BYTES_MAX = 65_536;
/** Room for 10,000 entries with ten params of 30 characters, three bytes each. */
const BULK_BYTES_MAX = 10_485_760;

export type Parts = ReturnType<typeof createParts>;

/** Makes what several endpoints share, once per process. `contract` makes the OpenAPI document. */
export function createParts(deps: GatewayDeps, contract: () => Contract) {
  const { clock, config } = deps;
  const counter = new RateCounter(deps);
  const addressOf = createCallerAddress(config.trustProxy, (peer) => {
    deps.notes.ignoredProxy = peer;
    deps.log.warn('forwarded_for_ignored', {
      peer,
      what_to_do: `If ${peer} is your proxy, set HARKARA_TRUST_PROXY=${peer}.`,
    });
  });
  const unauthorized = createUnauthorized(deps, counter, addressOf);
  const readAccount = createReadAccount(deps);
  const sessions = new Sessions(deps, { addressOf, readAccount });
  const identify = createIdentify(deps, addressOf, readAccount, (req) => sessions.identify(req));
  const authenticate = createAuthenticate(identify, unauthorized);
  const authenticateUser = createAuthenticate(identify, unauthorized, 'session_missing');
  const rateLimit = createRateLimit(counter, clock);
  const charge = createCharge(counter, clock);
  const largeBodies = new LargeBodies();
  const body = (limitBytes: number) => jsonBody(limitBytes, charge, largeBodies);
  const small = body(SMALL_BYTES_MAX);
  const guard = { ...guardOptions(config), resolve: deps.resolveHost };
  const files = new ClientFiles();
  const allowHttp = config.chatMediaAllowHttp === 'yes';
  return {
    counter,
    unauthorized,
    addressOf,
    sessions,
    readAccount,
    unrouted: createUnrouted(identify, unauthorized, rateLimit),
    authenticate,
    lookAs: createLookAs(readAccount, deps.db),
    recordLook: createRecordLook(deps),
    authenticateUser,
    rateLimit,
    once: createOnce(deps),
    charge,
    reading: { ...deps, answerRead: createCostlyReads(charge) },
    routes: new Routes(deps),
    largeBodies,
    small,
    noFields: createNoFields(small),
    message: body(MESSAGE_BYTES_MAX),
    bulk: body(BULK_BYTES_MAX),
    files,
    contract,
    identify,
    webhookUrl: createUrlCheck({ ...guard, withinMs: 2_000, mustResolve: true }, clock),
    // The provider fetches the file, so our own look-up is only a hint, for which a send does not wait long.
    mediaUrl: createUrlCheck({ ...guard, allowHttp, withinMs: 500, mustResolve: false }, clock),
  };
}

/** For a POST without fields: it may have no body or an empty object. Anything else is refused. */
function createNoFields(parse: Handler): Handler {
  return (req, res: Reply, next) => {
    const { 'content-length': length = '0', 'transfer-encoding': chunked } = req.headers;
    if (Number(length) === 0 && chunked === undefined) {
      res.locals.body = {};
      if (readNoQuery(req, res)) next();
      return;
    }
    return parse(req, res, (error?: unknown) => {
      if (error !== undefined) return next(error);
      const problems = new FieldProblems();
      refuseUnknown(Object.keys(bodyOf(res)), [], problems);
      if (problems.count > 0) sendProblem(res, ...invalidRequest(problems));
      else next();
    });
  };
}

type ErrorHandler = (error: unknown, req: Request, res: Reply, next: NextFunction) => void | Promise<void>;

interface Unrouted {
  readonly notFound: Handler;
  methodNotAllowed(allow: string): Handler;
  /** The router could not decode the path (`/v2/status/%ff`), so no resource has it. */
  readonly undecodable: ErrorHandler;
}

/**
 * Answers unknown paths and wrong methods, which need no key. A request with a valid key counts like any other and is
 * told what is left of the limit; an invalid key counts as a failed authentication.
 */
function createUnrouted(identify: Identify, unauthorized: Unauthorized, rateLimit: Handler): Unrouted {
  const refuse = async (slug: ProblemSlug, more: ProblemAnswer, ...[req, res, next]: Parameters<Handler>) => {
    // The router can fail after an endpoint's handlers, which have counted the request already.
    const who = res.locals.caller === undefined ? await identify(req) : 'key_missing';
    if (who === 'key_missing') sendProblem(res, slug, more);
    else if (typeof who === 'string') await unauthorized(req, res, slug, more);
    else {
      res.locals.caller = who;
      await rateLimit(req, res, (error?: unknown) =>
        error === undefined ? sendProblem(res, slug, more) : next(error),
      );
    }
  };
  const notFound: Handler = (req, res, next) => refuse('not_found', {}, req, res, next);
  return {
    notFound,
    methodNotAllowed: (allow) => {
      const more = { detail: `This path answers ${allow}.`, headers: ['Allow', allow] };
      return (req, res, next) => refuse('method_not_allowed', more, req, res, next);
    },
    undecodable: (error, req, res, next) => (error instanceof URIError ? notFound(req, res, next) : next(error)),
  };
}

/** For errors that no handler expected. Express recognizes an error handler by its four parameters. */
export function answerError(log: Log): ErrorHandler {
  return (error, _req, res, _next) => {
    if (res.headersSent) {
      log.error('answer_failed', { request_id: res.locals.requestId, ...unexpectedErrorFields(error) });
      res.destroy();
    } else if (isStoreTrouble(error)) {
      log.warn('store_unavailable', { request_id: res.locals.requestId, ...errorFields(error) });
      sendProblem(res, 'store_unavailable', { headers: RETRY_AFTER });
    } else if (error instanceof SecretUnreadable) {
      log.error('secret_unreadable', { request_id: res.locals.requestId, ...errorFields(error) });
      sendProblem(res, 'secret_unreadable');
    } else {
      log.error('request_failed', { request_id: res.locals.requestId, ...unexpectedErrorFields(error) });
      sendProblem(res, 'internal_error');
    }
  };
}
