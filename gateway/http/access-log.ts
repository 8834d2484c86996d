import type { Counter, Histogram } from 'prom-client';
import { requestSpan } from '../../shared/events/webhooks/trace.ts';
import { spanOfCaller } from '../../shared/platform/runtime/tracer.ts';
import type { Reply } from './context.ts';
import type { GatewayDeps } from './deps.ts';

/** The caller hung up before it was answered. nginx uses this number too. It appears only in logs and metrics. */
export const CALLER_GONE = 499;

/** Seconds. A send takes a few milliseconds; everything above 5 s counts as equally slow. */
const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/**
 * Logs one line and counts one request. Routes are named by their pattern and the query is left out, so that nothing
 * a caller wrote (text, numbers, keys in the wrong place) reaches the log.
 */
export function accessLog({
  clock,
  log,
  metrics,
  tracer,
}: Pick<GatewayDeps, 'clock' | 'log' | 'metrics' | 'tracer'>): (res: Reply, status: number) => void {
  const requests = metrics.counter('http_requests_total', 'Requests answered.', ['method', 'route', 'status']);
  const seconds = metrics.histogram('http_request_seconds', 'Time to the answer.', DURATION_BUCKETS, ['route']);
  /** By method, route and status, which are few. Looking a metric up by its labels costs more than counting. */
  const kinds = new Map<
    string,
    { readonly requests: Counter.Internal; readonly seconds: Histogram.Internal<'route'> }
  >();
  return ({ req, locals }, status) => {
    const { caller, requestId, messageId, batchId, scheduleId } = locals;
    // Express types the matched route as `any`. It is undefined when no route matched.
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
    // What the path names was there before.
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
