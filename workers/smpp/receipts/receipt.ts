import type { WordMeaning } from '../../../shared/carriers/settings/receipts.ts';
import { receiptDate } from '../dialect/receipt-dates.ts';
import { type ReceiptDialect, standardMeaning } from '../dialect/receipt-dialect.ts';
import { receiptFields } from './receipt-fields.ts';

/**
 * A delivery receipt, as text (SMPP 3.4 Appendix B and its many dialects) or as TLVs (§5.3.2.12, §5.3.2.35). Reading is pure and
 * tolerant: whatever can be read is used.
 */
export interface ReceiptSource {
  readonly text: string;
  readonly receiptedMessageId?: string | undefined;
  readonly messageState?: number | undefined;
  readonly networkErrorCode?: Buffer | undefined;
  /** True for an intermediate notification (esm_class 0x20). It is never final, whatever it says. */
  readonly intermediate: boolean;
  /** Zone of the dates in the text, in minutes east of UTC. */
  readonly offsetMinutes: number;
  /** When the receipt came. */
  readonly at: Date;
}

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
  /** The text before the customer's words. */
  readonly excerpt: string;
}

const MAX_EXCERPT = 200;
const MAX_ERROR = 16;
const MAX_WORD = 40;

/** Reads a receipt. Undefined when it has no message id: we cannot use it. */
export function parseReceipt(source: ReceiptSource, dialect: ReceiptDialect): ParsedReceipt | undefined {
  const { id, stat, err, doneDate, head } = receiptFields(source.text);
  const { messageState, networkErrorCode, offsetMinutes, at } = source;
  const ids = [source.receiptedMessageId ?? '', id].map((one) => one.trim()).filter((one) => one !== '');
  if (ids.length === 0) return undefined;
  const told = (stat === '' ? bareState(head) : stat).slice(0, MAX_WORD);
  const { meaning, isKnown } = dialect.read(told, messageState);
  // If the TLV contradicts the word, the TLV counts. The word must not become the error code then: it may be DELIVRD.
  const isOverruled = messageState !== undefined && (dialect.meaningOf(told) ?? meaning) !== meaning;
  const word = told === '' || isOverruled ? String(messageState ?? '') : told;
  const error = errorOf(err, networkErrorCode);
  const doneAt = doneDate === '' ? undefined : receiptDate(doneDate, offsetMinutes, at);
  return {
    ids: [...new Set(ids)],
    meaning: source.intermediate ? 'intermediate' : meaning,
    isKnown: isKnown || source.intermediate,
    word,
    excerpt: head.slice(0, MAX_EXCERPT),
    ...(error === undefined ? {} : { error }),
    ...(doneAt === undefined ? {} : { doneAt }),
  };
}

/** Finds the state where the label is missing: `… done date:180903120816 DELIVRD err:000`. */
function bareState(head: string): string {
  return (
    head.split(/[\s,;|"']+/).find((word) => /^[A-Z]{5,13}$/.test(word) && standardMeaning(word) !== undefined) ?? ''
  );
}

/** The error of the text comes first, because the carrier's documentation lists it. Then the code of the TLV. */
function errorOf(text: string, tlv: Buffer | undefined): string | undefined {
  if (!/^0*$/.test(text)) return text.slice(0, MAX_ERROR);
  if (tlv === undefined || tlv.length < 3) return undefined;
  const code = tlv.readUInt16BE(1);
  return code === 0 ? undefined : String(code);
}
