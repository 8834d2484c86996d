import { randomUUID } from 'node:crypto';

/**
 * How message ids are written, in submit_sm_resp and in receipts. With `hex-decimal`, as with many carriers, submit_sm_resp has
 * the number in hex and the receipt has the same number in decimal. With `mixed-upper` and `mixed-lower` the answer has letters of
 * both cases, and the receipt has them in one.
 */
export const ID_FORMS = ['hex', 'decimal', 'uuid', 'hex-decimal', 'mixed-upper', 'mixed-lower'] as const;
export type IdForm = (typeof ID_FORMS)[number];

/**
 * Ids that are reserved for each millisecond of the start time, so that two starts never give the same id. With 2^12 the numbers
 * stay below 2^53 until 2039.
 */
const IDS_PER_MS = 4096;

/** Makes a source of ids in the notation of submit_sm_resp. They grow by one and differ from the ids of every earlier start. */
export function messageIds(form: IdForm): () => string {
  let next = Date.now() * IDS_PER_MS;
  switch (form) {
    case 'uuid':
      return randomUUID;
    case 'decimal':
      return () => (next++).toString();
    case 'hex':
    case 'hex-decimal':
      return () => (next++).toString(16);
    case 'mixed-upper':
    case 'mixed-lower':
      return () => `SAR-${(next++).toString(16)}-1eedf843-2-1`;
  }
}

/**
 * The id as a receipt writes it. `answered` is the id of submit_sm_resp. With `other`, it is in the notation that receipts of
 * this form do not use.
 */
export function idInReceipt(form: IdForm, answered: string, other: boolean): string {
  switch (form) {
    case 'uuid':
      return other ? answered.replaceAll('-', '').toUpperCase() : answered;
    case 'hex':
      return other ? Number.parseInt(answered, 16).toString() : answered;
    case 'decimal':
      return other ? Number(answered).toString(16) : answered;
    case 'hex-decimal':
      return other ? answered : Number.parseInt(answered, 16).toString();
    case 'mixed-upper':
      return other ? answered : answered.toUpperCase();
    case 'mixed-lower':
      return other ? answered : answered.toLowerCase();
  }
}
