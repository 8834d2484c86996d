import { randomUUID } from 'node:crypto';

/**
 * How message ids are written: in submit_sm_resp and in receipts alike, except `hex-decimal`, where the answer has hex
 * and the receipt has the same number in decimal, as many carriers do.
 */
export const ID_FORMS = ['hex', 'decimal', 'uuid', 'hex-decimal'] as const;
export type IdForm = (typeof ID_FORMS)[number];

/** Ids per millisecond of start time: 2^12 keeps numbers below 2^53 until 2039, and two starts never share an id. */
const IDS_PER_MS = 4096;

/** A source of ids, as submit_sm_resp says them, that grow by one and differ from those of every earlier start. */
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
  }
}

/** How receipts write the id that submit_sm_resp gave as `answered`; `other`: in the notation that they do not use. */
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
  }
}
