import type { NextFunction, Request } from 'express';
import { isStoreTrouble } from '../../shared/mongo/errors.ts';
import { errorFields, type Log } from '../../shared/runtime/log.ts';
import { sendProblem } from './answer.ts';
import type { Handler, Reply } from './context.ts';

/** What the routes leave over: no such path, no such method, an error. */
export const notFound: Handler = (_req, res: Reply) => sendProblem(res, 'not_found');

/** `allow` as the header has it, `GET, HEAD`. */
export function methodNotAllowed(allow: string): Handler {
  const more = { detail: `This path answers ${allow}.`, headers: ['Allow', allow] };
  return (_req, res: Reply) => sendProblem(res, 'method_not_allowed', more);
}

/** Seconds. The driver has looked for the store for some seconds already when this is said. */
export const RETRY_AFTER = ['Retry-After', '2'] as const;

/** Errors that no handler expected. Four parameters: that is how Express knows it. */
export function answerError(log: Log): (error: unknown, req: Request, res: Reply, next: NextFunction) => void {
  return (error, _req, res, _next) => {
    if (res.headersSent) {
      log.error('answer_failed', { request_id: res.locals.requestId, ...errorFields(error) });
      res.destroy();
    } else if (error instanceof URIError) {
      // The router could not decode the path (`/v2/status/%ff`): no resource has such a name.
      sendProblem(res, 'not_found');
    } else if (isStoreTrouble(error)) {
      log.warn('store_unavailable', { request_id: res.locals.requestId, ...errorFields(error) });
      sendProblem(res, 'store_unavailable', { headers: RETRY_AFTER });
    } else {
      log.error('request_failed', { request_id: res.locals.requestId, ...errorFields(error) });
      sendProblem(res, 'internal_error');
    }
  };
}
