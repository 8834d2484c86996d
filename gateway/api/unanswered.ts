import type { NextFunction, Request } from 'express';
import { isStoreTrouble } from '../../shared/platform/mongo/errors.ts';
import { errorFields, type Log, unexpectedErrorFields } from '../../shared/platform/runtime/log.ts';
import { SecretUnreadable } from '../../shared/platform/runtime/secret-box.ts';
import type { Identify } from '../access/authenticate.ts';
import type { Unauthorized } from '../access/unauthorized.ts';
import { type ProblemAnswer, RETRY_AFTER, sendProblem } from '../http/answer.ts';
import type { Handler, Reply } from '../http/context.ts';
import type { ProblemSlug } from '../http/problem.ts';

type ErrorHandler = (error: unknown, req: Request, res: Reply, next: NextFunction) => void | Promise<void>;

/** Answers requests that no route takes. */
export interface Unrouted {
  readonly notFound: Handler;
  /** `allow`: the value of the header, `GET, HEAD`. */
  methodNotAllowed(allow: string): Handler;
  /** The router could not decode the path (`/v2/status/%ff`). No resource has such a name. */
  readonly undecodable: ErrorHandler;
}

/**
 * Answers unknown paths and wrong methods. They need no key. A request with a good key counts like any other, and its
 * answer tells what is left of the limit. A bad key counts as a failed authentication.
 */
export function createUnrouted(identify: Identify, unauthorized: Unauthorized, rateLimit: Handler): Unrouted {
  const refuse = async (slug: ProblemSlug, more: ProblemAnswer, ...[req, res, next]: Parameters<Handler>) => {
    // The router can fail after an endpoint's own handlers. They have already counted the request then.
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

/** Answers errors that no handler expected. Express recognizes an error handler by its four parameters. */
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
