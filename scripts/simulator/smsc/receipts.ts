import { randomUUID } from 'node:crypto';
import { MESSAGE_STATE, TAG, type Tlvs } from '../smpp/pdu.ts';
import type { Submit } from '../smpp/submit.ts';
import { alphabetOf, encodeGsm7 } from '../smpp/text.ts';
import type { DeliverSm } from './mailboxes.ts';

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
interface ReceiptStyle {
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

/**
 * How carriers write the texts of their receipts. `--receipt-dialect` chooses one by its name. These tables are our reading of
 * the vendors' pages and independent of the product's tables. Except for `appendix-b`, the receipts have no TLVs, so that the
 * client must read the text.
 */
export const RECEIPT_DIALECTS = [
  'appendix-b',
  'kaleyra',
  'pswincom',
  'sms-central',
  'syniverse',
  'yo',
  'textlocal',
  'infobip',
  'nonsense',
  'commas',
  'semicolons',
  'pipes',
  'quotes',
  'equals',
  'joined',
  'lines',
  'unlabelled',
  'unix',
  'unix-ms',
  'iso',
  'iso-zone',
  'plain',
  'first-part',
  'last-part',
] as const;
export type ReceiptDialect = (typeof RECEIPT_DIALECTS)[number];

/** The facts that a receipt's text tells. `submitted` and `done` are in the carrier's local time, written as UTC milliseconds. */
interface ReceiptFacts {
  readonly id: string;
  readonly stat: string;
  readonly err: string;
  readonly submitted: number;
  readonly done: number;
  /** Local time minus UTC, in milliseconds. */
  readonly offsetMs: number;
}

interface Writing {
  /** The carrier's own words, by the words of Appendix B that they replace. */
  readonly words?: Readonly<Record<string, string>>;
  /** Writes the text that comes before the customer's text. Default: the form of Appendix B, with these words. */
  readonly write?: (facts: ReceiptFacts) => string;
  /** The receipt has esm_class 0, so only its text shows that it is a receipt. */
  readonly plain?: true;
  /** Only this part of a long text gets a receipt. */
  readonly only?: 'first' | 'last';
}

const WRITINGS: Readonly<Record<ReceiptDialect, Writing>> = {
  'appendix-b': {},
  kaleyra: { words: { UNDELIV: 'ABSENT-SUB', EXPIRED: 'MOB-OFF', REJECTD: 'DNDNUMB', UNKNOWN: 'NO-DLR-OPTR' } },
  pswincom: { words: { UNDELIV: 'BARRED', REJECTD: 'ZEROBAL', UNKNOWN: 'NULL' } },
  'sms-central': { words: { UNDELIV: 'SYSERR', REJECTD: 'NOCRED' } },
  syniverse: {
    words: {
      DELIVRD: '0',
      DELETED: '5',
      UNDELIV: '7',
      EXPIRED: '8',
      REJECTD: '23',
      UNKNOWN: '999',
      ACCEPTD: 'ACCEPTED-BUFFERED',
      ENROUTE: 'DELIVERED-TO-CARRIER',
    },
  },
  yo: { words: { DELIVRD: '0' } },
  textlocal: { words: { DELIVRD: '2', EXPIRED: '3', DELETED: '4', UNDELIV: '5', UNKNOWN: '7', REJECTD: '8' } },
  infobip: { words: { DELIVRD: 'DELIVERED_TO_HANDSET', ACCEPTD: 'DELIVERED_TO_OPERATOR' } },
  nonsense: { words: { DELIVRD: 'ABRACADABRA', UNDELIV: 'HOCUSPOCUS' } },
  commas: { write: (facts) => fields(facts).join(',').concat(',') },
  semicolons: { write: (facts) => fields(facts).join(';').concat(';') },
  pipes: { write: (facts) => fields(facts).join('|').concat('|') },
  quotes: {
    write: (facts) =>
      `{${fields(facts)
        .map((field) => field.replace(/^([^:]+):(.*)$/, '"$1":"$2"'))
        .join(',')},`,
  },
  equals: { write: (facts) => fields(facts).join(' ').replaceAll(':', '=').concat(' ') },
  joined: { write: (facts) => fields(facts).join('') },
  lines: { write: (facts) => fields(facts).reverse().join('\r\n').concat('\r\n') },
  unlabelled: { write: (facts) => `${fields(facts).join(' ').replace('stat:', '')} ` },
  unix: { write: (facts) => appendixB(facts, (at, offsetMs) => String(Math.floor((at - offsetMs) / 1_000))) },
  'unix-ms': { write: (facts) => appendixB(facts, (at, offsetMs) => String(at - offsetMs)) },
  iso: { write: (facts) => appendixB(facts, (at) => new Date(at).toISOString().slice(0, 19).replace('T', ' ')) },
  'iso-zone': { write: (facts) => appendixB(facts, (at, offsetMs) => new Date(at - offsetMs).toISOString()) },
  plain: { plain: true },
  'first-part': { only: 'first' },
  'last-part': { only: 'last' },
};

function isPlain(dialect: ReceiptDialect): boolean {
  return WRITINGS[dialect].plain === true;
}

/** Whether part number `part` of `parts` gets a receipt. */
export function hasReceipt(dialect: ReceiptDialect, part: number, parts: number): boolean {
  const { only } = WRITINGS[dialect];
  return only === undefined || part === (only === 'first' ? 1 : parts);
}

/** The receipt's text, without the part that quotes the customer's text. */
function factsText(dialect: ReceiptDialect, facts: ReceiptFacts): string {
  const { words = {}, write = appendixB } = WRITINGS[dialect];
  return write({ ...facts, stat: words[facts.stat] ?? facts.stat });
}

type DateForm = (at: number, offsetMs: number) => string;

function appendixB(facts: ReceiptFacts, form?: DateForm): string {
  return `${fields(facts, form).join(' ')} `;
}

function fields({ id, stat, err, submitted, done, offsetMs }: ReceiptFacts, form: DateForm = minutes): string[] {
  return [
    `id:${id}`,
    'sub:001',
    `dlvrd:${stat === 'DELIVRD' ? '001' : '000'}`,
    `submit date:${form(submitted, offsetMs)}`,
    `done date:${form(done, offsetMs)}`,
    `stat:${stat}`,
    `err:${err}`,
  ];
}

let lastMinute = Number.NaN;
let lastDate = '';

/** The date as `YYMMDDhhmm` (Appendix B). It is made once for all receipts of the same minute. */
function minutes(time: number): string {
  const minute = Math.floor(time / 60_000);
  if (minute !== lastMinute) {
    lastMinute = minute;
    lastDate = new Date(minute * 60_000).toISOString().replaceAll(/\D/g, '').slice(2, 12);
  }
  return lastDate;
}

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
function idInReceipt(form: IdForm, answered: string, other: boolean): string {
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

/** What the simulated carrier does with one submit_sm. */
export interface Outcome {
  /** The command_status of the answer. With any other value than 0 the message is refused and has no receipts. Default 0. */
  readonly status?: number;
  /**
   * When the answer comes. `normal`: after the response delay. `after-receipt`: after the first receipt. `never`: the message is
   * accepted without an answer. `cut`: the message is accepted, and the connection breaks at once instead of an answer. Default
   * `normal`.
   */
  readonly answer?: 'normal' | 'after-receipt' | 'never' | 'cut';
  /** Delay of this answer in milliseconds. It replaces the configured one. */
  readonly responseDelayMs?: number;
  /** The answer comes when this is fulfilled, and after no other delay. */
  readonly answerWhen?: Promise<unknown>;
  /** The receipts. Each is sent only if registered_delivery asks for its kind. Default: one receipt with DELIVRD. */
  readonly receipts?: readonly ReceiptPlan[];
}

/** A receipt that will be sent. The last final one decides what query_sm answers. */
export interface ReceiptPlan {
  /** A word of Appendix B: DELIVRD, UNDELIV, EXPIRED, REJECTD, DELETED, ACCEPTD, UNKNOWN, ENROUTE. */
  readonly stat: string;
  /** The text of `err:`. Default `000`. */
  readonly err?: string;
  /** When the receipt is sent, as a multiple of the configured delay and its jitter. Default 1. */
  readonly delays?: number;
  /** True: esm_class 0x20 (intermediate notification). Otherwise 0x04 (SMSC delivery receipt). */
  readonly intermediate?: boolean;
  /** True: the receipt has the message id in the notation that the configuration does not use. */
  readonly otherNotation?: boolean;
  /** Writes the whole text of the receipt as a certain carrier would. `id` is in the receipt's notation. */
  readonly body?: (id: string, submit: Submit) => string;
  /** False: this receipt has no TLVs, whatever the configuration says. */
  readonly tlvs?: boolean;
  /** Changes the finished receipt, as a faulty carrier would: octets before its text, another state in the TLV. */
  readonly spoil?: (receipt: DeliverSm) => Partial<DeliverSm>;
}

/** Decides what happens to a submit. Undefined leaves the decision to the magic numbers. */
export type Behaviour = (submit: Submit) => Outcome | undefined;
