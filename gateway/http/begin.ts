import type { Request } from 'express';
import type { Counter, Histogram } from 'prom-client';
import { requestSpan } from '../../shared/events/webhooks/trace.ts';
import { newId } from '../../shared/platform/runtime/ids.ts';
import { spanOfCaller } from '../../shared/platform/runtime/tracer.ts';
import { sendProblem } from './answer.ts';
import type { Handler, Reply } from './context.ts';
import type { GatewayDeps } from './deps.ts';

/** A caller's request id is used if it is safe in headers and log lines. */
const SANE_REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/;

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

/** Far below Node's own limit of 2,000, after which it silently drops headers. */
const HEADERS_MAX = 200;

/** Faults that Node accepts, or would answer itself without a body. */
function faultOf({ headers, httpVersion, rawHeaders }: Request): string | undefined {
  if (rawHeaders.length > HEADERS_MAX * 2) return `A request may have at most ${HEADERS_MAX} headers.`;
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return 'Send HTTP/1.1.';
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || httpVersion === '1.0')) {
    // RFC 9112 §6.1. We decode no other coding, and HTTP/1.0 proxies do not recognize chunks.
    return 'The only `Transfer-Encoding` is `chunked`, in HTTP/1.1.';
  }
  // RFC 9112 §3.2. With two Host headers, a proxy may have routed by the other one.
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.length === 4 && rawHeaders[i]?.toLowerCase() === 'host') hosts++;
  }
  if (hosts > 1) return 'There must be one header `Host`.';
  if (hosts === 0 && httpVersion === '1.1') return 'HTTP/1.1 requests must have the header `Host`.';
  return undefined;
}

/** The caller hung up before it was answered (nginx's number). Only in logs and metrics. */
export const CALLER_GONE = 499;

/** Seconds. A send takes a few milliseconds; above 5 s everything counts as equally slow. */
const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/**
 * Logs one line and counts one request. Routes are named by their pattern and the query is left out, so nothing that a
 * caller wrote (text, numbers, misplaced keys) reaches the log.
 */
function accessLog({
  clock,
  log,
  metrics,
  tracer,
}: Pick<GatewayDeps, 'clock' | 'log' | 'metrics' | 'tracer'>): (res: Reply, status: number) => void {
  const requests = metrics.counter('http_requests_total', 'Requests answered.', ['method', 'route', 'status']);
  const seconds = metrics.histogram('http_request_seconds', 'Time to the answer.', DURATION_BUCKETS, ['route']);
  /** By method, route and status, which are few: looking a metric up by its labels costs more than counting. */
  const kinds = new Map<
    string,
    { readonly requests: Counter.Internal; readonly seconds: Histogram.Internal<'route'> }
  >();
  return ({ req, locals }, status) => {
    const { caller, requestId, messageId, batchId, scheduleId } = locals;
    // Express types the matched route as `any`; undefined when none matched.
    const pattern: unknown = req.route?.path;
    const route = typeof pattern === 'string' ? pattern : 'none';
    const ms = clock.monotonicMs() - locals.startedMs;
    const name = `${req.method} ${route} ${status}`;
    let kind = kinds.get(name);
    if (kind === undefined) {
      kind = { requests: requests.labels(req.method, route, String(status)), seconds: seconds.labels(route) };
      kinds.set(name, kind);
    }
    kind.requests.inc();
    kind.seconds.observe(ms / 1000);
    const account = caller?.account?._id;
    const subject = messageId ?? batchId ?? scheduleId;
    // What the path names existed before.
    const isMade = (id: string) => req.method === 'POST' && !Object.values(req.params).includes(id);
    if (tracer && subject && isMade(subject) && tracer.records(subject)) {
      const request = { made: subject, method: req.method, route, status, ms, end: clock.now(), account };
      tracer.add([requestSpan({ ...request, caller: spanOfCaller(req.headers.traceparent) })]);
    }
    log.info('request', {
      method: req.method,
      route,
      status,
      ms: Math.round(ms * 10) / 10,
      account,
      key_id: caller?.who.kind === 'key' ? caller.who.id : undefined,
      user_id: caller?.who.kind === 'user' ? caller.who.id : undefined,
      message_id: messageId,
      batch_id: batchId,
      schedule_id: scheduleId,
      request_id: requestId,
    });
  };
}
