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

/** esm_class of a receipt (SMPP 3.4 §5.2.12). */
const DELIVERY_RECEIPT = 0x04;
const INTERMEDIATE_NOTIFICATION = 0x20;

/** GSM in network_error_code (SMPP 3.4 §5.3.2.31). */
const GSM_NETWORK = 3;

const NO_TLVS: Tlvs = new Map();

const FINAL = new Set(['DELIVRD', 'UNDELIV', 'EXPIRED', 'REJECTD', 'DELETED', 'UNKNOWN']);

export function isFinal(stat: string): boolean {
  return FINAL.has(stat);
}

/**
 * Whether registered_delivery (SMPP 3.4 §5.2.17) asks for this receipt: 1 for all, intermediate notifications included,
 * 2 for failures.
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

interface ReceiptStyle {
  readonly receiptForm: ReceiptForm;
  readonly receiptDialect: ReceiptDialect;
  readonly idForm: IdForm;
  readonly utcOffsetMinutes: number;
}

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

/** The quoted beginning of a message. GSM octets are copied; a final escape, which lost its character, is dropped. */
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
 * Carriers' forms of receipt texts, for `--receipt-dialect`. The tables are read from the vendors' pages, independent
 * of the product's. Only `appendix-b` has TLVs; for the others the client must read the text.
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

/** `submitted` and `done` are the carrier's local time, written as UTC milliseconds. */
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
  /** The carrier's own words in place of those of Appendix B. */
  readonly words?: Readonly<Record<string, string>>;
  /** Writes the text before the customer's quoted text. Default: Appendix B with these words. */
  readonly write?: (facts: ReceiptFacts) => string;
  /** esm_class is 0, so only the text shows that it is a receipt. */
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

export function hasReceipt(dialect: ReceiptDialect, part: number, parts: number): boolean {
  const { only } = WRITINGS[dialect];
  return only === undefined || part === (only === 'first' ? 1 : parts);
}

/** The receipt's text without the quotation. */
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

/** `YYMMDDhhmm` (Appendix B), cached for all receipts of the same minute. */
function minutes(time: number): string {
  const minute = Math.floor(time / 60_000);
  if (minute !== lastMinute) {
    lastMinute = minute;
    lastDate = new Date(minute * 60_000).toISOString().replaceAll(/\D/g, '').slice(2, 12);
  }
  return lastDate;
}

/**
 * Notations of message ids. `hex-decimal`, as with many carriers: hex in submit_sm_resp, the same number in decimal in
 * the receipt. `mixed-upper`, `mixed-lower`: both cases in submit_sm_resp, one in the receipt.
 */
export const ID_FORMS = ['hex', 'decimal', 'uuid', 'hex-decimal', 'mixed-upper', 'mixed-lower'] as const;
export type IdForm = (typeof ID_FORMS)[number];

/**
 * Ids for each millisecond of the start time, so that no two starts share one. The numbers stay below 2^53 until 2039.
 */
const IDS_PER_MS = 4096;

/** A source of ids in the notation of submit_sm_resp, increasing by one, distinct from those of earlier starts. */
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

/** The id for a receipt, from that of submit_sm_resp. `other`: in the notation that this form's receipts do not use. */
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

export interface Outcome {
  /** The answer's command_status, default 0. With any other the message is refused and has no receipts. */
  readonly status?: number;
  /**
   * `normal` (default): after the response delay. `after-receipt`: after the first receipt. `never`: accepted without
   * an answer. `cut`: accepted, but the connection breaks in place of the answer.
   */
  readonly answer?: 'normal' | 'after-receipt' | 'never' | 'cut';
  /** Replaces the configured response delay, in milliseconds. */
  readonly responseDelayMs?: number;
  /** The answer comes when this is fulfilled, and after no other delay. */
  readonly answerWhen?: Promise<unknown>;
  /** Each is sent only if registered_delivery asks for its kind. Default: one with DELIVRD. */
  readonly receipts?: readonly ReceiptPlan[];
}

/** A future receipt. The last final one decides the answer of query_sm. */
export interface ReceiptPlan {
  /** A word of Appendix B: DELIVRD, UNDELIV, EXPIRED, REJECTD, DELETED, ACCEPTD, UNKNOWN, ENROUTE. */
  readonly stat: string;
  /** The text of `err:`. Default `000`. */
  readonly err?: string;
  /** A multiple of the configured delay and its jitter. Default 1. */
  readonly delays?: number;
  /** True: esm_class 0x20 (intermediate notification). Otherwise 0x04 (SMSC delivery receipt). */
  readonly intermediate?: boolean;
  /** Whether the id is in the notation that the configuration does not use. */
  readonly otherNotation?: boolean;
  /** Writes the whole text as a certain carrier would. `id` is in the receipt's notation. */
  readonly body?: (id: string, submit: Submit) => string;
  /** False: no TLVs, whatever the configuration says. */
  readonly tlvs?: boolean;
  /** Damages the finished receipt as a faulty carrier would: octets before its text, another state in the TLV. */
  readonly spoil?: (receipt: DeliverSm) => Partial<DeliverSm>;
}

/** Undefined leaves the decision to the magic numbers. */
export type Behaviour = (submit: Submit) => Outcome | undefined;
