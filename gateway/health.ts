import type { Db } from 'mongodb';
import { isStoreTrouble } from '../shared/mongo/errors.ts';
import { aggregateMetrics, type ProcessDocument } from '../shared/processes/report.ts';
import type { GatewayDeps } from './deps.ts';
import { sendJson, sendProblem, sendText } from './http/answer.ts';
import type { Handler, Reply } from './http/context.ts';
import { RETRY_AFTER } from './http/unanswered.ts';

/** For whoever runs the product: its supervisor, its load balancer, its monitoring. Without a key, and without secrets. */

/** The process lives. */
export function createHealthz(): Handler {
  return (_req, res: Reply) => sendJson(res, 200, { status: 'ok' });
}

const READY_MS = 1_000;

/** The store answers in time and takes writes, so requests can be served. */
export function createReadyz({ db }: Pick<GatewayDeps, 'db'>): Handler {
  return async (_req, res: Reply) => {
    if (await answersInTime(db)) sendJson(res, 200, { status: 'ready' });
    else
      sendProblem(res, 'store_unavailable', {
        detail: 'The store does not answer, or takes no writes.',
        headers: RETRY_AFTER,
      });
  };
}

/** The figures of all processes, in Prometheus' text form. */
export function createMetrics({ db, clock }: Pick<GatewayDeps, 'db' | 'clock'>): Handler {
  return async (_req, res: Reply) => {
    const registry = await aggregateMetrics(db, clock);
    sendText(res, registry.contentType, await registry.metrics());
  };
}

async function answersInTime(db: Db): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), READY_MS);
  });
  // A write that finds nothing to do: a server that can only read would answer a ping.
  const nobody = { _id: 'readyz' };
  const write = db
    .collection<ProcessDocument>('processes')
    .updateOne(nobody, { $unset: { at: '' } })
    .then(
      () => true,
      (error: unknown) => {
        if (isStoreTrouble(error)) return false;
        throw error;
      },
    );
  try {
    return await Promise.race([write, late]);
  } finally {
    clearTimeout(timer);
  }
}
