import type { Db } from 'mongodb';
import { z } from 'zod';
import { isStoreTrouble } from '../../../shared/platform/mongo/errors.ts';
import type { ProcessDocument } from '../../../shared/platform/processes/report.ts';
import { FreshCache } from '../../../shared/platform/runtime/fresh-cache.ts';
import { within } from '../../../shared/platform/runtime/within.ts';
import { requireScope } from '../../access/scopes.ts';
import { endpoint } from '../../api/endpoint.ts';
import { named } from '../../api/shapes.ts';
import { RETRY_AFTER, sendJson, sendProblem } from '../../http/answer.ts';
import type { Handler, Reply } from '../../http/context.ts';
import { PresentConditions, presentRecords } from '../traffic/conditions.ts';

/**
 * Endpoints for operators: a supervisor, a load balancer. They need no key and show no secrets. Probes may ask with any query.
 */

const Health = named('Health', { status: z.enum(['ok', 'ready']) });

const Readiness = named('Readiness', {
  ...Health.shape,
  conditions: PresentConditions.conditions.optional(),
  more_conditions: PresentConditions.more_conditions.optional(),
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

/**
 * Answers 200 if the store replies in time and accepts writes, so that requests can be served. What is wrong besides is no reason to
 * take a gateway out, and nobody's business but the operators': `?detail` takes their key or session.
 */
export const readyz = endpoint({
  id: 'readyz',
  method: 'get',
  path: '/readyz',
  tag: 'Running it',
  summary: 'The store answers',
  description:
    'With `?detail` also what is wrong now, as `GET /v2/admin/overview` shows it; that takes a key or session with `admin:read`.',
  answer: Readiness,
  problems: [
    ...(['store_unavailable', 'internal_error', 'key_missing', 'key_invalid', 'key_revoked', 'key_expired'] as const),
    ...(['ip_not_allowed', 'auth_failures_limited', 'scope_missing', 'rate_limited'] as const),
  ],
  examples: { answer: { ready: { status: 'ready' } } },
  openapi: {
    parameters: [
      {
        name: 'detail',
        in: 'query',
        allowEmptyValue: true,
        description: 'Also what is wrong now, for operators.',
        schema: { type: 'string' },
      },
    ],
  },
  respond({ db, clock, authenticate, rateLimit }) {
    const ready = new FreshCache<string, boolean>({
      freshMs: FRESH_MS,
      maxEntries: 1,
      clock,
      read: () => answersInTime(db),
    });
    const checks = [authenticate, rateLimit, requireScope(['admin:read'])];
    const detail = inTurn(checks, async (_req, res) => {
      sendJson(res, { status: 'ready', ...(await presentRecords(db, clock)) });
    });
    return async (req, res: Reply, next) => {
      if ((await ready.get('store')) !== true) {
        sendProblem(res, 'store_unavailable', {
          detail: 'The store does not answer, or takes no writes.',
          headers: RETRY_AFTER,
        });
      } else if (new URL(req.url, 'http://gateway').searchParams.has('detail')) await detail(req, res, next);
      else sendJson(res, { status: 'ready' });
    };
  },
});

/** Handlers one after the other, each when the one before it has let the request on. */
function inTurn(checks: readonly Handler[], last: Handler): Handler {
  return checks.reduceRight<Handler>(
    (then, check) => (req, res, next) =>
      check(req, res, (error?: unknown) => {
        if (error !== undefined) next(error);
        else Promise.resolve(then(req, res, next)).catch(next);
      }),
    last,
  );
}

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
