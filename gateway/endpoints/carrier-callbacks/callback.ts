import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { type CarrierDocument, callbackUrl } from '../../../shared/carriers/carrier.ts';
import { openedPassword } from '../../../shared/carriers/carrier-secrets.ts';
import { listCarriers } from '../../../shared/carriers/carrier-store.ts';
import { keepReceipts, type ToldReceipt } from '../../../shared/carriers/http/callback-store.ts';
import { at, readTree, wordsAt } from '../../../shared/carriers/http/places.ts';
import { HTTP, type HttpSettings } from '../../../shared/carriers/settings/http.ts';
import { withDefaults } from '../../../shared/carriers/settings/setting.ts';
import { publicUrl } from '../../../shared/platform/config/settings.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import { FreshCache } from '../../../shared/platform/runtime/fresh-cache.ts';
import { endpoint } from '../../api/endpoint.ts';
import { named, text } from '../../api/shapes.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import { CALLER_GONE } from '../../http/begin.ts';
import { readRawBody } from '../../http/json-body.ts';

/** A hundred detailed receipts have some 60 KB. */
const BYTES_MAX = 262_144;

/**
 * Receipts of a carrier over HTTPS. They are stored before they are answered; the SMPP worker that holds the carrier
 * settles them (docs/decisions/0061). Carriers are not rate-limited; wrong signatures are, like invalid keys.
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
    // All carriers (tens) are one entry, so guessed addresses cost the store nothing.
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

interface Posted {
  readonly bytes: Buffer;
  readonly isForm: boolean;
  /** The URL that the carrier was told. */
  readonly url: string;
  /** The header that the settings name, if present. */
  readonly signature: string | undefined;
}

/** Whether a callback is signed as the settings say. Compares in constant time. */
export function isGenuine(posted: Posted, settings: Partial<HttpSettings> | undefined, password: string): boolean {
  const { callbackSignature } = withDefaults(HTTP, settings);
  if (callbackSignature === 'none') return true;
  const wanted = Buffer.from(
    callbackSignature === 'form-sha1'
      ? createHmac('sha1', password).update(signedForm(posted)).digest('base64')
      : createHmac('sha256', password).update(posted.bytes).digest('hex'),
  );
  const given = Buffer.from(posted.signature ?? '');
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

/** The URL, then names and values of the fields, sorted by name, unseparated (Twilio, "Webhooks security"). */
function signedForm({ bytes, url }: Posted): string {
  const fields = [...new URLSearchParams(bytes.toString('utf8'))];
  const sorted = fields.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return url + sorted.map(([name, value]) => name + value).join('');
}

/** The most receipts of one callback; further ones are dropped. Infobip posts 100 by default. */
const RECEIPTS_MAX = 1_000;
const MAX_ID = 128;
const MAX_WORD = 40;
const MAX_ERROR = 16;
const MAX_TO = 20;

/** The receipts of a callback, and how many of its entries lack an id or a word. Pure. */
export function toldReceipts(
  { bytes, isForm }: Pick<Posted, 'bytes' | 'isForm'>,
  settings: Partial<HttpSettings> | undefined,
): { readonly told: readonly ToldReceipt[]; readonly unreadable: number } {
  const { callbackList, callbackId, callbackWord, callbackError, callbackTo } = withDefaults(HTTP, settings);
  const tree = isForm ? Object.fromEntries(new URLSearchParams(bytes.toString('utf8'))) : readTree(bytes);
  const list = callbackList === '' ? [tree] : at(tree, callbackList);
  const entries: readonly unknown[] = Array.isArray(list) ? list : [];
  const told = entries.slice(0, RECEIPTS_MAX).flatMap((entry): ToldReceipt[] => {
    const [id] = wordsAt(entry, callbackId, MAX_ID);
    const words = wordsAt(entry, callbackWord, MAX_WORD);
    const [error] = wordsAt(entry, callbackError, MAX_ERROR);
    const [to] = wordsAt(entry, callbackTo, MAX_TO);
    return id === undefined || words.length === 0 ? [] : [{ id, words, ...defined({ error, to }) }];
  });
  return { told, unreadable: Math.max(entries.length, 1) - told.length };
}
