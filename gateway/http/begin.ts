import { newId } from '../../shared/runtime/ids.ts';
import type { GatewayDeps } from '../deps.ts';
import { accessLog } from './access-log.ts';
import { sendProblem } from './answer.ts';
import type { Handler } from './context.ts';

/** A request id of the caller is kept when it can stand in a header and in a log line as it is. */
const SANE_REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** The first thing that happens to every request: its id and its context. */
export function begin(deps: Pick<GatewayDeps, 'clock' | 'log' | 'metrics' | 'stopping'>): Handler {
  const { clock, stopping } = deps;
  const answered = accessLog(deps);
  return (req, res, next) => {
    const given = req.headers['x-request-id'];
    const requestId = typeof given === 'string' && SANE_REQUEST_ID.test(given) ? given : newId('req');
    res.locals = {
      requestId,
      startedMs: clock.monotonicMs(),
      stopping,
      answered,
      caller: undefined,
      rateHeaders: [],
      body: undefined,
      messageId: undefined,
      batchId: undefined,
      scheduleId: undefined,
    };
    // RFC 9112 §3.2. Node would answer this itself, without a body.
    if (req.headers.host === undefined && req.httpVersion === '1.1') {
      sendProblem(res, 'malformed_request', { detail: 'HTTP/1.1 requests must have the header `Host`.' });
    } else {
      next();
    }
  };
}
