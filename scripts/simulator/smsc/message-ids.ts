import { randomUUID } from 'node:crypto';

/**
 * How message ids are written: in submit_sm_resp and in receipts alike, except `hex-decimal`, where the answer has hex
 * and the receipt has the same number in decimal, as many carriers do.
 */
export const ID_FORMS = ['hex', 'decimal', 'uuid', 'hex-decimal'] as const;
export type IdForm = (typeof ID_FORMS)[number];

/** Ids per millisecond of start time: 2^12 keeps numbers below 2^53 until 2039, and two starts never share an id. */
const IDS_PER_MS = 4096;

/** One message id in the notations that its message needs. */
export interface MessageId {
  /** As submit_sm_resp says it: the message's id everywhere in the simulator. */
  readonly answered: string;
  readonly inReceipt: string;
  /** The notation that the configuration does not use for receipts. */
  readonly other: string;
}

/** A source of ids that grow by one and differ from those of every earlier start. */
export function messageIds(form: IdForm): () => MessageId {
  let next = Date.now() * IDS_PER_MS;
  return () => {
    if (form === 'uuid') {
      const uuid = randomUUID();
      return { answered: uuid, inReceipt: uuid, other: uuid.replaceAll('-', '').toUpperCase() };
    }
    const number = next++;
    const hex = number.toString(16);
    const decimal = number.toString();
    switch (form) {
      case 'hex':
        return { answered: hex, inReceipt: hex, other: decimal };
      case 'decimal':
        return { answered: decimal, inReceipt: decimal, other: hex };
      case 'hex-decimal':
        return { answered: hex, inReceipt: decimal, other: hex };
    }
  };
}
