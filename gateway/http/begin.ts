import type { Request } from 'express';
import { newId } from '../../shared/platform/runtime/ids.ts';
import { accessLog } from './access-log.ts';
import { sendProblem } from './answer.ts';
import type { Handler } from './context.ts';
import type { GatewayDeps } from './deps.ts';

/** A caller's request id is used if it is safe in a header and in a log line. */
const SANE_REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** The first handler of every request. Sets its id and its context. */
export function begin(deps: Pick<GatewayDeps, 'clock' | 'log' | 'metrics' | 'tracer' | 'stopping'>): Handler {
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
    const fault = faultOf(req);
    if (fault === undefined) next();
    else if (req.rawHeaders.length > HEADERS_MAX * 2) sendProblem(res, 'headers_too_large', { detail: fault });
    else sendProblem(res, 'malformed_request', { detail: fault });
  };
}

/** Far below 2,000, Node's own limit: it silently drops the headers after that. */
const HEADERS_MAX = 200;

/** Finds faults that Node accepts, or would answer itself without a body. */
function faultOf({ headers, httpVersion, rawHeaders }: Request): string | undefined {
  if (rawHeaders.length > HEADERS_MAX * 2) return `A request may have at most ${HEADERS_MAX} headers.`;
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return 'Send HTTP/1.1.';
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || httpVersion === '1.0')) {
    // RFC 9112 §6.1. We decode no other coding, and a proxy of HTTP/1.0 does not recognize chunks.
    return 'The only `Transfer-Encoding` is `chunked`, in HTTP/1.1.';
  }
  // RFC 9112 §3.2. With two, a proxy may have routed by the other one.
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.length === 4 && rawHeaders[i]?.toLowerCase() === 'host') hosts++;
  }
  if (hosts > 1) return 'There must be one header `Host`.';
  if (hosts === 0 && httpVersion === '1.1') return 'HTTP/1.1 requests must have the header `Host`.';
  return undefined;
}
