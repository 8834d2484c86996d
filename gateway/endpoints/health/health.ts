import type { Db } from 'mongodb';
import { z } from 'zod';
import { isStoreTrouble } from '../../../shared/platform/mongo/errors.ts';
import type { ProcessDocument } from '../../../shared/platform/processes/report.ts';
import { FreshCache } from '../../../shared/platform/runtime/fresh-cache.ts';
import { within } from '../../../shared/platform/runtime/within.ts';
import { endpoint } from '../../api/endpoint.ts';
import { named } from '../../api/shapes.ts';
import { RETRY_AFTER, sendJson, sendProblem } from '../../http/answer.ts';
import type { Reply } from '../../http/context.ts';

/**
 * Endpoints for operators: a supervisor, a load balancer. They need no key and show no secrets. Probes may ask with any query.
 */

const Health = named('Health', { status: z.enum(['ok', 'ready']) });

export const healthz = endpoint({
  id: 'healthz',
  method: 'get',
  path: '/healthz',
  tag: 'Running it',
  summary: 'The process lives',
  answer: Health,
  respond: () => (_req, res) => sendJson(res, { status: 'ok' }),
});

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

/** Answers 200 if the store replies in time and accepts writes, so that requests can be served. What else is wrong takes no gateway out. */
export const readyz = endpoint({
  id: 'readyz',
  method: 'get',
  path: '/readyz',
  tag: 'Running it',
  summary: 'The store answers',
  answer: Health,
  problems: ['store_unavailable', 'internal_error'],
  examples: { answer: { ready: { status: 'ready' } } },
  respond({ db, clock }) {
    const ready = new FreshCache<string, boolean>({
      freshMs: FRESH_MS,
      maxEntries: 1,
      clock,
      read: () => answersInTime(db),
    });
    return async (_req, res: Reply) => {
      if ((await ready.get('store')) === true) sendJson(res, { status: 'ready' });
      else {
        const detail = 'The store does not answer, or takes no writes.';
        sendProblem(res, 'store_unavailable', { detail, headers: RETRY_AFTER });
      }
    };
  },
});

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
