import { MESSAGE_STATE, TAG } from '../smpp/commands.ts';
import type { Tlvs } from '../smpp/read-fields.ts';
import type { Submit } from '../smpp/submit.ts';
import { alphabetOf, encodeGsm7 } from '../smpp/text.ts';
import type { DeliverSm } from './deliver-sm.ts';
import { type IdForm, idInReceipt } from './message-ids.ts';
import type { ReceiptPlan } from './outcome.ts';
import { factsText, isPlain, type ReceiptDialect } from './receipt-dialects.ts';

/** Where a receipt has its facts: in the text (SMPP 3.4 Appendix B), in TLVs (§5.3.2.12, §5.3.2.35), or in both. */
export const RECEIPT_FORMS = ['both', 'text', 'tlv'] as const;
export type ReceiptForm = (typeof RECEIPT_FORMS)[number];

/** Appendix B: a receipt quotes the first 20 characters of the message. */
const ECHOED_CHARACTERS = 20;

/** The esm_class of a receipt in deliver_sm (SMPP 3.4 §5.2.12). */
const DELIVERY_RECEIPT = 0x04;
const INTERMEDIATE_NOTIFICATION = 0x20;

/** The value for GSM in network_error_code (SMPP 3.4 §5.3.2.31). */
const GSM_NETWORK = 3;

const NO_TLVS: Tlvs = new Map();

const FINAL = new Set(['DELIVRD', 'UNDELIV', 'EXPIRED', 'REJECTD', 'DELETED', 'UNKNOWN']);

export function isFinal(stat: string): boolean {
  return FINAL.has(stat);
}

/**
 * Whether registered_delivery (SMPP 3.4 §5.2.17) asks for this receipt. 1 asks for all receipts, intermediate notifications
 * included, 2 only for failures.
 */
export function isAskedFor(registeredDelivery: number, plan: ReceiptPlan): boolean {
  switch (registeredDelivery & 0x03) {
    case 1:
      return true;
    case 2:
      return isFinal(plan.stat) && plan.stat !== 'DELIVRD';
    default:
      return false;
  }
}

/** How a carrier writes its receipts. */
export interface ReceiptStyle {
  readonly receiptForm: ReceiptForm;
  readonly receiptDialect: ReceiptDialect;
  readonly idForm: IdForm;
  readonly utcOffsetMinutes: number;
}

/** The deliver_sm that tells the sender of `submit` what became of the message. */
export function receipt(submit: Submit, plan: ReceiptPlan, style: ReceiptStyle): DeliverSm {
  const form = style.receiptDialect === 'appendix-b' ? style.receiptForm : 'text';
  const shownId = idInReceipt(style.idForm, submit.messageId, plan.otherNotation === true);
  const withTlvs = form !== 'text' && plan.tlvs !== false;
  const written: DeliverSm = {
    from: submit.to,
    fromTon: submit.toTon,
    fromNpi: submit.toNpi,
    to: submit.from,
    toTon: submit.fromTon,
    toNpi: submit.fromNpi,
    esmClass: isPlain(style.receiptDialect)
      ? 0
      : plan.intermediate === true
        ? INTERMEDIATE_NOTIFICATION
        : DELIVERY_RECEIPT,
    dataCoding: 0,
    userData: form === 'tlv' && plan.body === undefined ? Buffer.alloc(0) : receiptText(submit, shownId, plan, style),
    tlvs: withTlvs ? receiptTlvs(shownId, plan) : NO_TLVS,
  };
  return { ...written, ...plan.spoil?.(written) };
}

function receiptText(submit: Submit, id: string, plan: ReceiptPlan, style: ReceiptStyle): Buffer {
  if (plan.body !== undefined) return Buffer.from(plan.body(id, submit), 'latin1');
  const offsetMs = style.utcOffsetMinutes * 60_000;
  const facts = factsText(style.receiptDialect, {
    ...{ id, stat: plan.stat, err: plan.err ?? '000', offsetMs },
    submitted: submit.receivedAt + offsetMs,
    done: Date.now() + offsetMs,
  });
  return Buffer.concat([Buffer.from(`${facts}text:`, 'latin1'), echo(submit)]);
}

/**
 * The beginning of the message, for the receipt. GSM octets are copied as they came. An escape as the last octet is left out,
 * because the character after it is missing.
 */
function echo(submit: Submit): Buffer {
  if (alphabetOf(submit.dataCoding) === 'gsm7') {
    const octets = submit.body.subarray(0, ECHOED_CHARACTERS);
    return octets.at(-1) === 0x1b ? octets.subarray(0, -1) : octets;
  }
  return encodeGsm7(submit.text.slice(0, ECHOED_CHARACTERS));
}

function receiptTlvs(id: string, plan: ReceiptPlan): Map<number, Buffer> {
  const tlvs = new Map([
    [TAG.receiptedMessageId as number, Buffer.from(`${id}\0`, 'latin1')],
    [TAG.messageState, Buffer.of(MESSAGE_STATE[plan.stat] ?? MESSAGE_STATE.UNKNOWN ?? 0)],
  ]);
  const error = Number(plan.err ?? 0);
  if (error > 0 && error <= 0xffff) tlvs.set(TAG.networkErrorCode, Buffer.of(GSM_NETWORK, error >> 8, error & 0xff));
  return tlvs;
}
