import type { Db } from 'mongodb';
import { isStoreTrouble } from '../shared/mongo/errors.ts';
import type { ProcessDocument } from '../shared/processes/report.ts';
import { FreshCache } from '../shared/runtime/fresh-cache.ts';
import { within } from '../shared/runtime/within.ts';
import { RETRY_AFTER, sendJson, sendProblem } from './http/answer.ts';
import type { Handler, Reply } from './http/context.ts';
import type { GatewayDeps } from './process/deps.ts';

/** For whoever runs the product: its supervisor, its load balancer. Without a key, and without secrets. */

/** The process lives. */
export function createHealthz(): Handler {
  return (_req, res: Reply) => sendJson(res, 200, { status: 'ok' });
}

const READY_MS = 1_000;
/** How long an answer of the store holds, and for all who ask meanwhile: whoever asks without a key must not load it. */
const FRESH_MS = 250;

/** The store answers in time and takes writes, so requests can be served. */
export function createReadyz({ db, clock }: Pick<GatewayDeps, 'db' | 'clock'>): Handler {
  const ready = new FreshCache<string, boolean>({
    freshMs: FRESH_MS,
    maxEntries: 1,
    clock,
    read: () => answersInTime(db),
  });
  return async (_req, res: Reply) => {
    if ((await ready.get('store')) === true) sendJson(res, 200, { status: 'ready' });
    else
      sendProblem(res, 'store_unavailable', {
        detail: 'The store does not answer, or takes no writes.',
        headers: RETRY_AFTER,
      });
  };
}

async function answersInTime(db: Db): Promise<boolean> {
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
  return (await within(READY_MS, write)) === true;
}
