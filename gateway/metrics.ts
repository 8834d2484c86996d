import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Db } from 'mongodb';
import { isStoreTrouble } from '../shared/platform/mongo/errors.ts';
import { aggregateMetrics } from '../shared/platform/processes/report.ts';
import type { Clock } from '../shared/platform/runtime/clock.ts';
import { FreshCache } from '../shared/platform/runtime/fresh-cache.ts';
import { errorFields, type Log, unexpectedErrorFields } from '../shared/platform/runtime/log.ts';

/** The metrics are collected at most once in this time for all scrapers, because that reads every process's report. */
const FRESH_MS = 5_000;
/** Further connections are closed. */
const CONNECTIONS_MAX = 64;
/** Pause before the next try while another process holds the port. */
const LISTEN_AGAIN_MS = 10_000;

interface Exposition {
  readonly type: string;
  readonly text: string;
}

interface MetricsDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * `GET /metrics`: the metrics of all processes in Prometheus' text format. They have their own port because they need
 * no key and tell of customers and carriers, which users of the API must not see (docs/decisions/0034). Does not listen
 * yet.
 */
export function createMetricsServer({ db, clock, log }: MetricsDeps): Server {
  const exposition = new FreshCache<string, Exposition>({
    freshMs: FRESH_MS,
    maxEntries: 1,
    clock,
    read: async () => {
      const registry = await aggregateMetrics(db);
      return { type: registry.contentType, text: await registry.metrics() };
    },
  });
  const server = createServer((req, res) => {
    if (req.url?.split('?')[0] !== '/metrics') return answer(req, res, 404, 'There is only /metrics here.\n');
    if (req.method !== 'GET' && req.method !== 'HEAD')
      return answer(req, res, 405, 'Use GET.\n', { Allow: 'GET, HEAD' });
    exposition.get('all').then(
      (found) => answer(req, res, 200, found?.text ?? '', { 'Content-Type': found?.type ?? PLAIN }),
      (error: unknown) => {
        if (!isStoreTrouble(error)) log.error('metrics_failed', unexpectedErrorFields(error));
        answer(req, res, 503, 'The store does not answer.\n', { 'Retry-After': '5' });
      },
    );
  });
  server.maxConnections = CONNECTIONS_MAX;
  return server;
}

const PLAIN = 'text/plain; charset=utf-8';

function answer(
  req: IncomingMessage,
  res: ServerResponse,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  req.resume();
  res.writeHead(status, {
    'Content-Type': PLAIN,
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...headers,
  });
  res.end(text);
}

/**
 * Listens, and retries while the port is taken: the gateway works without its metrics. Returns a function that ends it.
 */
export function listenForScrapes(deps: MetricsDeps, host: string, port: number): () => void {
  const server = createMetricsServer(deps);
  let again: NodeJS.Timeout | undefined;
  const listen = (): void => {
    server.listen(port, host);
  };
  server.on('listening', () => deps.log.info('metrics_listening', { host, port: portOf(server) }));
  server.on('error', (error) => {
    deps.log.warn('metrics_not_listening', { host, port, ...errorFields(error) });
    again = setTimeout(listen, LISTEN_AGAIN_MS);
  });
  listen();
  return () => {
    clearTimeout(again);
    server.close();
    server.closeAllConnections();
  };
}

function portOf(server: Server): number | undefined {
  const address = server.address();
  return typeof address === 'object' ? address?.port : undefined;
}
