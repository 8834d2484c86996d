import type { CarrierDocument } from '../../../shared/carriers/carrier.ts';
import { STATUS } from '../../../shared/carriers/command-status.ts';
import { crashPoint } from '../../../shared/runtime/crash-point.ts';
import { errorFields, type Log } from '../../../shared/runtime/log.ts';
import type { ReceiptTlvs } from '../../../shared/settlement/message-log.ts';
import { candidateKeys } from '../dialect/message-ids.ts';
import { receiptReason } from '../dialect/receipt-errors.ts';
import type { SmppMetrics } from '../session/metrics.ts';
import type { Deliver } from '../session/pdu.ts';
import { type ParsedReceipt, parseReceipt } from './receipt.ts';
import type { IncomingReceipt } from './receipt-match.ts';
import type { ReceiptResult, ReceiptSettler } from './settle-receipts.ts';

/** `settled`: as stored. The others: `intermediate` and `unreadable` change nothing, `failed` was refused and comes again. */
type ReceiptMetric = ReceiptResult | 'intermediate' | 'unreadable' | 'failed';

export interface ReceiveOptions {
  readonly carrier: CarrierDocument;
  readonly log: Log;
  readonly metrics: SmppMetrics;
  readonly receipts: ReceiptSettler;
  /** Nothing can be stored just now: the carrier is to wait. */
  slowDown(): void;
}

/** esm_class of deliver_sm, bits 5 to 2 (SMPP 3.4 §5.2.12). */
const TYPE_BITS = 0x3c;
const DELIVERY_RECEIPT = 0x04;
const INTERMEDIATE_NOTIFICATION = 0x20;
const UCS2 = 8;

/**
 * Takes a deliver_sm or data_sm and answers it: 0 only when what it says is stored, or when it says nothing that is kept.
 */
export class Receive {
  readonly #options: ReceiveOptions;

  constructor(options: ReceiveOptions) {
    this.#options = options;
  }

  async take(deliver: Deliver, answer: (status: number) => void): Promise<void> {
    const { carrier, log, metrics } = this.#options;
    if (!isReceipt(deliver)) {
      // Inbound messages are not a feature: a permanent refusal tells the carrier so, and holds up no receipt behind it.
      metrics.inbound.inc({ carrier: carrier._id });
      log.info('inbound_refused', { carrier: carrier._id, data_coding: deliver.dataCoding });
      answer(STATUS.receiverRejects);
      return;
    }
    const parsed = parseReceipt({ ...deliver, ...receiptText(deliver, carrier) });
    const receipt = parsed === undefined ? undefined : this.#incoming(deliver, parsed);
    if (parsed === undefined || (receipt === undefined && parsed.state !== 'intermediate')) {
      log.warn('receipt_unreadable', {
        carrier: carrier._id,
        esm_class: deliver.esmClass,
        octets: deliver.body.length,
      });
    }
    if (receipt === undefined) {
      // Sent again it would say the same: taken, and counted.
      this.#count(parsed?.state === 'intermediate' ? 'intermediate' : 'unreadable');
      answer(STATUS.ok);
      return;
    }
    await this.#store(receipt, answer);
  }

  async #store(receipt: IncomingReceipt, answer: (status: number) => void): Promise<void> {
    const { carrier, log, receipts, slowDown } = this.#options;
    try {
      const result = await receipts.add(receipt);
      crashPoint('receipt:stored');
      this.#count(result);
      if (result === 'unstorable') log.error('receipt_unstorable', { carrier: carrier._id, excerpt: receipt.excerpt });
      answer(STATUS.ok);
    } catch (error) {
      log.warn('receipt_not_stored', { carrier: carrier._id, ...errorFields(error) });
      this.#count('failed');
      slowDown();
      answer(STATUS.queueFull);
    }
  }

  /** Undefined when nothing final is said, or of no message. */
  #incoming(deliver: Deliver, parsed: ParsedReceipt): IncomingReceipt | undefined {
    const { carrier } = this.#options;
    const { state, error, word, doneAt, excerpt } = parsed;
    const candidates = candidateKeys(carrier, parsed.ids);
    if (state === 'intermediate' || candidates.length === 0) return undefined;
    const code = state === 'delivered' ? undefined : (error ?? word);
    const reason = receiptReason(state, code);
    return {
      candidates,
      from: deliver.from,
      to: deliver.to,
      excerpt,
      ...tlvsOf(deliver),
      part: {
        state,
        operator: carrier.name,
        ...(code === undefined ? {} : { error: code }),
        ...(reason === undefined ? {} : { reason }),
        ...(doneAt === undefined ? {} : { doneAt }),
      },
    };
  }

  #count(result: ReceiptMetric): void {
    this.#options.metrics.receipts.inc({ carrier: this.#options.carrier._id, result });
  }
}

function tlvsOf({ receiptedMessageId, messageState, networkErrorCode }: Deliver): { readonly tlvs?: ReceiptTlvs } {
  const tlvs: ReceiptTlvs = {
    ...(receiptedMessageId === undefined ? {} : { receiptedMessageId }),
    ...(messageState === undefined ? {} : { messageState }),
    ...(networkErrorCode === undefined ? {} : { networkErrorCode: networkErrorCode.toString('hex') }),
  };
  return Object.keys(tlvs).length === 0 ? {} : { tlvs };
}

/**
 * By esm_class, or by TLVs that no handset can send. A text that looks like a receipt is none: anyone can type `id:1 stat:DELIVRD`.
 */
function isReceipt(deliver: Deliver): boolean {
  const type = deliver.esmClass & TYPE_BITS;
  if (type === DELIVERY_RECEIPT || type === INTERMEDIATE_NOTIFICATION) return true;
  return type === 0 && deliver.receiptedMessageId !== undefined && deliver.messageState !== undefined;
}

function receiptText(
  { esmClass, dataCoding, body }: Deliver,
  carrier: CarrierDocument,
): { readonly text: string; readonly intermediate: boolean; readonly offsetMinutes: number } {
  // Some send ASCII and say UCS-2: real UTF-16 of such a text has a zero in every character.
  const isUcs2 = dataCoding === UCS2 && body.includes(0) && body.length % 2 === 0;
  return {
    text: isUcs2 ? Buffer.from(body).swap16().toString('utf16le') : body.toString('latin1'),
    intermediate: (esmClass & TYPE_BITS) === INTERMEDIATE_NOTIFICATION,
    offsetMinutes: carrier.receiptOffsetMinutes,
  };
}
