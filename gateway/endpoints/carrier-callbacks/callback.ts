import { z } from 'zod';
import { type CarrierDocument, callbackUrl } from '../../../shared/carriers/carrier.ts';
import { openedPassword } from '../../../shared/carriers/carrier-secrets.ts';
import { listCarriers } from '../../../shared/carriers/carrier-store.ts';
import { keepReceipts } from '../../../shared/carriers/http/callback-store.ts';
import { HTTP } from '../../../shared/carriers/settings/http.ts';
import { withDefaults } from '../../../shared/carriers/settings/setting.ts';
import { publicUrl } from '../../../shared/platform/config/settings.ts';
import { FreshCache } from '../../../shared/platform/runtime/fresh-cache.ts';
import { endpoint } from '../../api/endpoint.ts';
import { named, text } from '../../api/shapes.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import { CALLER_GONE } from '../../http/begin.ts';
import { readRawBody } from '../../http/json-body.ts';
import { isGenuine, type Posted, toldReceipts } from './told-receipts.ts';

/** A hundred receipts of a carrier that tells much have some 60 KB. */
const BYTES_MAX = 262_144;

/**
 * Receipts of a carrier that is reached over HTTPS. They are stored before they are answered; the SMPP worker that holds the carrier
 * settles them (docs/decisions/0061). Carriers are not limited; who signs wrongly is, as requests without a good key are.
 */
export const carrierCallback = endpoint({
  id: 'carrierCallback',
  method: 'post',
  path: '/carriers/callback/{callback}',
  tag: 'Running it',
  summary: "A carrier's receipts",
  description:
    'A carrier of the kind `http` posts its receipts here, as a form or as JSON, signed as its settings say. The answer comes after they are stored. After any answer but 200, post the same again: nothing is settled twice. At most 256 KB.',
  params: {
    callback: text("The carrier's callback id, as `ops carrier show` prints it.", {
      example: 'cbk_01m7znjn7hdb5pft3awkb6pgvz',
    }),
  },
  answer: named('CarrierCallbackResult', { status: z.enum(['success']) }),
  problems: [
    'signature_invalid',
    'not_found',
    'body_too_large',
    'auth_failures_limited',
    'internal_error',
    'store_unavailable',
  ],
  examples: { answer: { stored: { status: 'success' } } },
  openapi: { responses: { 200: { headers: undefined } } },
  respond(gateway) {
    const { db, box, clock, config, log, metrics, unauthorized } = gateway;
    const counted = metrics.counter('carrier_callback_receipts_total', 'Receipts that HTTP carriers posted.', [
      'carrier',
      'fate',
    ]);
    // There are tens, not thousands, and all are one entry: who guesses addresses costs the store nothing.
    const carriers = new FreshCache<'all', readonly CarrierDocument[]>({
      ...{ clock, freshMs: config.keyCacheMs, maxEntries: 1 },
      readMany: async () => new Map([['all', await listCarriers(db)]]),
    });
    return async (req, res) => {
      const { callback } = req.params;
      const carrier = (await carriers.get('all'))?.find((one) => one.kind === 'http' && one.callback === callback);
      if (carrier === undefined) return sendProblem(res, 'not_found');
      const body = await readRawBody(req, BYTES_MAX);
      if (body.kind === 'gone') return res.locals.answered(res, CALLER_GONE);
      if (body.kind === 'too_large') {
        return sendProblem(res, 'body_too_large', { detail: `The body may have at most ${BYTES_MAX} bytes.` });
      }
      const header = req.headers[withDefaults(HTTP, carrier.http).callbackHeader];
      const posted: Posted = {
        bytes: body.bytes,
        isForm: /^application\/x-www-form-urlencoded\b/i.test(req.headers['content-type'] ?? ''),
        url: callbackUrl(publicUrl(config), carrier),
        signature: typeof header === 'string' ? header : undefined,
      };
      if (!isGenuine(posted, carrier.http, openedPassword(box, carrier))) {
        return unauthorized(req, res, 'signature_invalid');
      }
      const { told, unreadable } = toldReceipts(posted, carrier.http);
      if (told.length > 0) await keepReceipts(db, carrier._id, told, clock.now());
      counted.inc({ carrier: carrier._id, fate: 'kept' }, told.length);
      if (unreadable > 0) {
        counted.inc({ carrier: carrier._id, fate: 'unreadable' }, unreadable);
        log.warn('carrier_callback_unreadable', { carrier: carrier._id, receipts: unreadable });
      }
      sendJson(res, { status: 'success' });
    };
  },
});
