import type { Db } from 'mongodb';
import { z } from 'zod';
import { isStoreTrouble } from '../../../shared/platform/mongo/errors.ts';
import type { ProcessDocument } from '../../../shared/platform/processes/report.ts';
import { FreshCache } from '../../../shared/platform/runtime/fresh-cache.ts';
import { within } from '../../../shared/platform/runtime/within.ts';
import { endpoint } from '../../api/endpoint.ts';
import { named, text } from '../../api/shapes.ts';
import { RETRY_AFTER, sendJson, sendProblem } from '../../http/answer.ts';

/**
 * Endpoints for operators: a supervisor, a load balancer. They need no key and show no secrets. Probes may ask with any query: it
 * is not read.
 */

const Health = named('Health', {
  status: z.enum(['ok', 'ready']),
  detail: text(
    'What an operator should look at although requests are served: X-Forwarded-For arrives while TRUST_PROXY is not set.',
  ).optional(),
});

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

/** Answers 200 if the store replies in time and accepts writes, so that requests can be served. */
export const readyz = endpoint({
  id: 'readyz',
  method: 'get',
  path: '/readyz',
  tag: 'Running it',
  summary: 'The store answers',
  answer: Health,
  problems: ['store_unavailable'],
  examples: { answer: { ready: { status: 'ready' } } },
  respond({ db, clock, notes }) {
    const ready = new FreshCache<string, boolean>({
      freshMs: FRESH_MS,
      maxEntries: 1,
      clock,
      read: () => answersInTime(db),
    });
    return async (_req, res) => {
      if ((await ready.get('store')) === true) {
        const detail = notes.ignoredProxy === undefined ? {} : { detail: FORWARDED_FOR_IGNORED };
        sendJson(res, { status: 'ready', ...detail });
      } else
        sendProblem(res, 'store_unavailable', {
          detail: 'The store does not answer, or takes no writes.',
          headers: RETRY_AFTER,
        });
    };
  },
});

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
