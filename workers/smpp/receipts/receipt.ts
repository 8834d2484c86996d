import type { CarrierDocument } from '../../../shared/carriers/carrier.ts';
import type { ToldReceipt } from '../../../shared/carriers/http/callback-store.ts';
import type { WordMeaning } from '../../../shared/carriers/receipt-profiles.ts';
import type { Deliver } from '../../../shared/carriers/smpp/deliver-sm.ts';
import type { ReceiptTlvs } from '../../../shared/messages/document/message.ts';
import type { PartReceipt } from '../../../shared/messages/settlement/message-log.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import { type CandidateKey, candidateKeys, firstKey } from '../dialect/message-ids.ts';
import { type ReceiptDialect, standardMeaning } from '../dialect/receipt-dialect.ts';
import { receiptDate, receiptFields, receiptText } from './receipt-fields.ts';
import type { IncomingReceipt } from './receipt-match.ts';

/** As text (SMPP 3.4 Appendix B and its many dialects) or as TLVs (§5.3.2.12, §5.3.2.35), read tolerantly. */
export interface ParsedReceipt {
  /** The message ids in it, the most certain first: from the TLV, then from the text if that differs. */
  readonly ids: readonly string[];
  readonly meaning: WordMeaning;
  /** Whether a table knew the word. If not, the profile has decided what it means. */
  readonly isKnown: boolean;
  /** The carrier's word or number for the state. It is logged, and becomes `error_code` if there is nothing better. */
  readonly word: string;
  /** The carrier's error (`001`, `00B`, `5601`). Undefined for `0` and `000`, which mean no error. */
  readonly error?: string;
  readonly doneAt?: Date;
  readonly excerpt: string;
}

/** The bits 5 to 2 of esm_class in a deliver_sm (SMPP 3.4 §5.2.12). */
const TYPE_BITS = 0x3c;
const DELIVERY_RECEIPT = 0x04;
const INTERMEDIATE_NOTIFICATION = 0x20;
const MAX_EXCERPT = 200;
const MAX_ERROR = 16;
const MAX_WORD = 40;

/** `plain`: only its text can show whether it is a receipt, and anyone can type `id:1 stat:DELIVRD`. */
export function kindOf(
  deliver: Pick<Deliver, 'esmClass' | 'receiptedMessageId' | 'messageState'>,
): 'receipt' | 'plain' | 'message' {
  const type = deliver.esmClass & TYPE_BITS;
  if (type === DELIVERY_RECEIPT || type === INTERMEDIATE_NOTIFICATION) return 'receipt';
  if (type !== 0) return 'message';
  return deliver.receiptedMessageId !== undefined && deliver.messageState !== undefined ? 'receipt' : 'plain';
}

/** Reads a receipt that came at `at`. Undefined when it has no message id: we cannot use it. */
export function parseReceipt(
  deliver: Deliver,
  { receiptOffsetMinutes }: Pick<CarrierDocument, 'receiptOffsetMinutes'>,
  dialect: ReceiptDialect,
  at: Date,
): ParsedReceipt | undefined {
  const { id, stat, err, doneDate, head } = receiptFields(receiptText(deliver));
  const { receiptedMessageId = '', messageState, networkErrorCode } = deliver;
  const ids = [receiptedMessageId, id].map((one) => one.trim()).filter((one) => one !== '');
  if (ids.length === 0) return undefined;
  const told = (stat === '' ? bareState(head) : stat).slice(0, MAX_WORD);
  const { meaning, isKnown } = dialect.read(told, messageState);
  // If the TLV contradicts the word, the TLV counts, and the word (perhaps DELIVRD) must not become the error code.
  const isOverruled = messageState !== undefined && (dialect.meaningOf(told) ?? meaning) !== meaning;
  const word = told === '' || isOverruled ? String(messageState ?? '') : told;
  const error = errorOf(err, networkErrorCode);
  const doneAt = doneDate === '' ? undefined : receiptDate(doneDate, receiptOffsetMinutes, at);
  // An intermediate notification is never final, whatever it says.
  const isIntermediate = (deliver.esmClass & TYPE_BITS) === INTERMEDIATE_NOTIFICATION;
  return {
    ids: [...new Set(ids)],
    meaning: isIntermediate ? 'intermediate' : meaning,
    isKnown: isKnown || isIntermediate,
    word,
    excerpt: head.slice(0, MAX_EXCERPT),
    ...(error === undefined ? {} : { error }),
    ...(doneAt === undefined ? {} : { doneAt }),
  };
}

/** A receipt that an HTTP carrier posted. `receipt` is undefined if it says nothing final, or its id is none. */
export function readTold(
  { id, words, error = '', to = '' }: ToldReceipt,
  carrier: CarrierDocument,
  dialect: ReceiptDialect,
): { readonly receipt: IncomingReceipt | undefined } & Pick<ParsedReceipt, 'word' | 'meaning' | 'isKnown'> {
  const read = words.map((word) => ({ word, ...dialect.read(word, undefined) }));
  const [first = { word: '', ...dialect.read('', undefined) }] = read;
  const said = read.find(({ isKnown }) => isKnown) ?? first;
  const parsed = { ids: [id], ...said, excerpt: '', ...defined({ error: errorOf(error, undefined) }) };
  const deliver = { from: to, to: '', esmClass: DELIVERY_RECEIPT };
  return { receipt: incomingReceipt(deliver, parsed, carrier, dialect), ...said };
}

/** Finds the state where the label is missing: `… done date:180903120816 DELIVRD err:000`. */
function bareState(head: string): string {
  return (
    head.split(/[\s,;|"']+/).find((word) => /^[A-Z]{5,13}$/.test(word) && standardMeaning(word) !== undefined) ?? ''
  );
}

/** The error of the text comes before the TLV's, because the carrier's documentation lists it. */
function errorOf(text: string, tlv: Buffer | undefined): string | undefined {
  if (!/^0*$/.test(text)) return text.slice(0, MAX_ERROR);
  if (tlv === undefined || tlv.length < 3) return undefined;
  const code = tlv.readUInt16BE(1);
  return code === 0 ? undefined : String(code);
}

/** Undefined for an intermediate receipt, or when its ids cannot be ids. */
export function incomingReceipt(
  deliver: Omit<Deliver, 'body' | 'dataCoding'>,
  { ids, meaning, error, word, doneAt, excerpt }: ParsedReceipt,
  carrier: CarrierDocument,
  dialect: ReceiptDialect,
): IncomingReceipt | undefined {
  const first = firstKey(carrier._id, ids);
  if (meaning === 'intermediate' || first === undefined) return undefined;
  let candidates: readonly CandidateKey[] | undefined;
  const effect = meaning === 'hold' || meaning === 'ignore' ? meaning : undefined;
  const state = effect === undefined ? (meaning as PartReceipt['state']) : 'failed';
  const isFailure = state !== 'delivered';
  const code = isFailure ? (error ?? (word === '' ? undefined : word)) : undefined;
  // A receipt that changes nothing needs no reason. A state that is told as a number is no error of that number.
  const reason = isFailure && effect !== 'ignore' ? dialect.reasonOf(state, error, word) : undefined;
  return {
    first,
    get candidates() {
      candidates ??= candidateKeys(carrier, ids);
      return candidates;
    },
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
      ...(code !== error && isNumber(code) ? { isStateNumber: true } : {}),
      ...(reason === undefined ? {} : { reason }),
      ...(doneAt === undefined ? {} : { doneAt }),
    },
  };
}

function isNumber(code: string | undefined): boolean {
  return code !== undefined && /^\d+$/.test(code);
}

function tlvsOf({ receiptedMessageId, messageState, networkErrorCode, otherTlvs }: Partial<Deliver>): {
  readonly tlvs?: ReceiptTlvs;
} {
  const tlvs: ReceiptTlvs = {
    ...(receiptedMessageId === undefined ? {} : { receiptedMessageId }),
    ...(messageState === undefined ? {} : { messageState }),
    ...(networkErrorCode === undefined ? {} : { networkErrorCode: networkErrorCode.toString('hex') }),
    ...(otherTlvs === undefined
      ? {}
      : {
          others: otherTlvs.map(({ tag, value }) => ({
            tag: `0x${tag.toString(16).padStart(4, '0').toUpperCase()}`,
            value: value.toString('hex'),
          })),
        }),
  };
  return Object.keys(tlvs).length === 0 ? {} : { tlvs };
}
