import type { Db } from 'mongodb';
import { isStoreTrouble } from '../../../shared/platform/mongo/errors.ts';
import type { ProcessDocument } from '../../../shared/platform/processes/report.ts';
import { FreshCache } from '../../../shared/platform/runtime/fresh-cache.ts';
import { within } from '../../../shared/platform/runtime/within.ts';
import { RETRY_AFTER, sendJson, sendProblem } from '../../http/answer.ts';
import type { Handler, Reply } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';

/** Endpoints for operators: a supervisor, a load balancer. They need no key and show no secrets. */

/** Answers while the process lives. */
export function createHealthz(): Handler {
  return (_req, res: Reply) => sendJson(res, { status: 'ok' });
}

/**
 * How long the store may take. Its write waits until a majority has all that was written before it, as a send does: where members
 * lag some seconds, sends succeed that much later and reads at once, so no proxy shall take out the gateways, all at the same time.
 */
const READY_MS = 5_000;
/**
 * How long one answer of the store is reused for all callers. Callers need no key, so they must not be able to load
 * the store.
 */
const FRESH_MS = 250;

/** Answers 200 if the store replies in time and accepts writes, so that requests can be served. */
export function createReadyz({ db, clock, notes }: Pick<GatewayDeps, 'db' | 'clock' | 'notes'>): Handler {
  const ready = new FreshCache<string, boolean>({
    freshMs: FRESH_MS,
    maxEntries: 1,
    clock,
    read: () => answersInTime(db),
  });
  return async (_req, res: Reply) => {
    if ((await ready.get('store')) === true) {
      const detail = notes.ignoredProxy === undefined ? {} : { detail: FORWARDED_FOR_IGNORED };
      sendJson(res, { status: 'ready', ...detail });
    } else
      sendProblem(res, 'store_unavailable', {
        detail: 'The store does not answer, or takes no writes.',
        headers: RETRY_AFTER,
      });
  };
}

const FORWARDED_FOR_IGNORED =
  'Requests have the header X-Forwarded-For, and TRUST_PROXY is not set: if a proxy stands in front, it counts as the caller of all of them.';

async function answersInTime(db: Db): Promise<boolean> {
  // A write that matches no document. A server that can only read would answer a ping.
  const nobody = { _id: 'readyz' };
  const processes = db.collection<ProcessDocument>('processes');
  const answered = processes.updateOne(nobody, { $unset: { at: '' } }).then(
    () => true,
    (error: unknown) => {
      if (isStoreTrouble(error)) return false;
      throw error;
    },
  );
  return (await within(READY_MS, answered)) === true;
}
