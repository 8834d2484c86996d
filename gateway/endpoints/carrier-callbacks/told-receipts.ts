import { createHmac, timingSafeEqual } from 'node:crypto';
import type { ToldReceipt } from '../../../shared/carriers/http/callback-store.ts';
import { at, readTree, wordsAt } from '../../../shared/carriers/http/places.ts';
import { HTTP, type HttpSettings } from '../../../shared/carriers/settings/http.ts';
import { withDefaults } from '../../../shared/carriers/settings/setting.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';

/** A callback as it came. */
export interface Posted {
  readonly bytes: Buffer;
  readonly isForm: boolean;
  /** Where it was posted to, as the carrier was told. */
  readonly url: string;
  /** The header that the settings name. Undefined when there is none. */
  readonly signature: string | undefined;
}

/** Whether a callback is signed as the carrier's settings say. Compares in constant time. */
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

/**
 * The URL and then each field with its value, by the names of the fields, without anything between (Twilio, "Webhooks security":
 * validating signatures).
 */
function signedForm({ bytes, url }: Posted): string {
  const fields = [...new URLSearchParams(bytes.toString('utf8'))];
  const sorted = fields.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return url + sorted.map(([name, value]) => name + value).join('');
}

/** The most receipts of one callback; further ones are cut. Infobip posts 100 unless it is told otherwise. */
const RECEIPTS_MAX = 1_000;
const MAX_ID = 128;
const MAX_WORD = 40;
const MAX_ERROR = 16;
const MAX_TO = 20;

/** The receipts of a callback, and how many of its entries have no id or no word. Pure. */
export function toldReceipts(
  { bytes, isForm }: Pick<Posted, 'bytes' | 'isForm'>,
  settings: Partial<HttpSettings> | undefined,
): { readonly told: readonly ToldReceipt[]; readonly unreadable: number } {
  const { callbackList, callbackId, callbackWord, callbackError, callbackTo } = withDefaults(HTTP, settings);
  const tree = isForm ? Object.fromEntries(new URLSearchParams(bytes.toString('utf8'))) : readTree(bytes);
  const list = callbackList === '' ? [tree] : at(tree, callbackList);
  const entries: readonly unknown[] = Array.isArray(list) ? list.slice(0, RECEIPTS_MAX) : [];
  const told = entries.flatMap((entry): ToldReceipt[] => {
    const [id] = wordsAt(entry, callbackId, MAX_ID);
    const words = wordsAt(entry, callbackWord, MAX_WORD);
    const [error] = wordsAt(entry, callbackError, MAX_ERROR);
    const [to] = wordsAt(entry, callbackTo, MAX_TO);
    return id === undefined || words.length === 0 ? [] : [{ id, words, ...defined({ error, to }) }];
  });
  return { told, unreadable: Math.max(entries.length, 1) - told.length };
}
