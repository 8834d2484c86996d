import type { CarrierDocument } from '../../../shared/carriers/carrier.ts';
import type { PartReceipt, ReceiptTlvs } from '../../../shared/settlement/message-log.ts';
import { candidateKeys } from '../dialect/message-ids.ts';
import type { ReceiptDialect } from '../dialect/receipt-dialect.ts';
import type { Deliver } from '../session/deliver-sm.ts';
import { type ParsedReceipt, parseReceipt } from './receipt.ts';
import type { IncomingReceipt } from './receipt-match.ts';

/** The bits 5 to 2 of esm_class in a deliver_sm (SMPP 3.4 §5.2.12). */
const TYPE_BITS = 0x3c;
const DELIVERY_RECEIPT = 0x04;
const INTERMEDIATE_NOTIFICATION = 0x20;
/** Only this many octets of a receipt are read. After them only the customer's text follows. */
const MAX_OCTETS = 4_000;

/**
 * Which kind of deliver_sm this is, by its esm_class, or by TLVs that no handset can send. `plain`: only its text can show
 * whether it is a receipt, and anyone can type `id:1 stat:DELIVRD`.
 */
export function kindOf(deliver: Deliver): 'receipt' | 'plain' | 'message' {
  const type = deliver.esmClass & TYPE_BITS;
  if (type === DELIVERY_RECEIPT || type === INTERMEDIATE_NOTIFICATION) return 'receipt';
  if (type !== 0) return 'message';
  return deliver.receiptedMessageId !== undefined && deliver.messageState !== undefined ? 'receipt' : 'plain';
}

/** Reads a receipt that came at `at`. Undefined when it has no message id. */
export function parseDeliver(
  deliver: Deliver,
  carrier: Pick<CarrierDocument, 'receiptOffsetMinutes'>,
  dialect: ReceiptDialect,
  at: Date,
): ParsedReceipt | undefined {
  const source = {
    text: receiptText(deliver),
    receiptedMessageId: deliver.receiptedMessageId,
    messageState: deliver.messageState,
    networkErrorCode: deliver.networkErrorCode,
    intermediate: (deliver.esmClass & TYPE_BITS) === INTERMEDIATE_NOTIFICATION,
    offsetMinutes: carrier.receiptOffsetMinutes,
    at,
  };
  return parseReceipt(source, dialect);
}

/**
 * The text of a receipt, whatever its data_coding. In UTF-16 every character of such a text has a zero octet. Some carriers send
 * ASCII and call it UCS-2.
 */
export function receiptText({ body }: Pick<Deliver, 'body'>): string {
  const octets = body.subarray(0, MAX_OCTETS);
  const [first = 0, second = 0] = octets;
  const mark = first * 256 + second;
  if (mark === 0xfffe || (first >= SPACE && second === 0)) return utf16(octets);
  if (mark !== 0xfeff && (first !== 0 || second < SPACE)) return octets.toString('latin1');
  return utf16(Buffer.from(octets.subarray(0, octets.length & ~1)).swap16());
}

const SPACE = 0x20;

/** Decodes UTF-16, without a byte order mark. */
function utf16(littleEndian: Buffer): string {
  return littleEndian.toString('utf16le').replace(/^\ufeff/, '');
}

/** The receipt with its keys. Undefined for an intermediate receipt, or when its ids cannot be ids. */
export function incomingReceipt(
  deliver: Deliver,
  { ids, meaning, error, word, doneAt, excerpt }: ParsedReceipt,
  carrier: CarrierDocument,
  dialect: ReceiptDialect,
): IncomingReceipt | undefined {
  const candidates = candidateKeys(carrier, ids);
  if (meaning === 'intermediate' || candidates.length === 0) return undefined;
  const effect = meaning === 'hold' || meaning === 'ignore' ? meaning : undefined;
  const state = effect === undefined ? (meaning as PartReceipt['state']) : 'failed';
  const isFailure = state !== 'delivered';
  const code = isFailure ? (error ?? (word === '' ? undefined : word)) : undefined;
  // A receipt that changes nothing needs no reason for a failure. A state that is told as a number is no error of that number.
  const reason = isFailure && effect !== 'ignore' ? dialect.reasonOf(state, error, word) : undefined;
  return {
    candidates,
    from: deliver.from,
    to: deliver.to,
    excerpt,
    ...tlvsOf(deliver),
    ...(kindOf(deliver) === 'plain' ? { plain: true } : {}),
    part: {
      state,
      operator: carrier.name,
      ...(effect === undefined ? {} : { effect }),
      ...(code === undefined ? {} : { error: code }),
      ...(reason === undefined ? {} : { reason }),
      ...(doneAt === undefined ? {} : { doneAt }),
    },
  };
}

function tlvsOf({ receiptedMessageId, messageState, networkErrorCode }: Deliver): { readonly tlvs?: ReceiptTlvs } {
  const tlvs: ReceiptTlvs = {
    ...(receiptedMessageId === undefined ? {} : { receiptedMessageId }),
    ...(messageState === undefined ? {} : { messageState }),
    ...(networkErrorCode === undefined ? {} : { networkErrorCode: networkErrorCode.toString('hex') }),
  };
  return Object.keys(tlvs).length === 0 ? {} : { tlvs };
}
