import type { WordMeaning } from '../../../shared/carriers/settings/receipts.ts';
import { receiptDate } from '../dialect/receipt-dates.ts';
import { type ReceiptDialect, standardMeaning } from '../dialect/receipt-dialect.ts';
import { receiptFields } from './receipt-fields.ts';

/**
 * A delivery receipt as carriers write it (SMPP 3.4 Appendix B and its many dialects) or as TLVs (§5.3.2.12, §5.3.2.35). Pure and
 * tolerant: it takes what it can read.
 */
export interface ReceiptSource {
  readonly text: string;
  readonly receiptedMessageId?: string;
  readonly messageState?: number;
  readonly networkErrorCode?: Buffer;
  /** Intermediate notification (esm_class 0x20): never final, whatever it says. */
  readonly intermediate: boolean;
  /** Of the dates in the text, minutes east of UTC. */
  readonly offsetMinutes: number;
  /** When it came. */
  readonly at: Date;
}

export interface ParsedReceipt {
  /** Message ids it names, the surest first: TLV, then text, where they differ. */
  readonly ids: readonly string[];
  readonly meaning: WordMeaning;
  /** A table knew its word; otherwise the profile decided what it means. */
  readonly isKnown: boolean;
  /** The carrier's word or number for the state, for the log and for `error_code` when there is nothing better. */
  readonly word: string;
  /** The carrier's error text (`001`, `00B`, `5601`); undefined for none (`0`, `000`). */
  readonly error?: string;
  readonly doneAt?: Date;
  /** The text up to the customer's words. */
  readonly excerpt: string;
}

const MAX_EXCERPT = 200;
const MAX_ERROR = 16;
const MAX_WORD = 40;

/** Undefined when it names no message: not a receipt that we can use. */
export function parseReceipt(source: ReceiptSource, dialect: ReceiptDialect): ParsedReceipt | undefined {
  const { id, stat, err, doneDate, head } = receiptFields(source.text);
  const { messageState, networkErrorCode, offsetMinutes, at } = source;
  const ids = [source.receiptedMessageId ?? '', id].map((one) => one.trim()).filter((one) => one !== '');
  if (ids.length === 0) return undefined;
  const word = (stat === '' ? bareState(head) : stat).slice(0, MAX_WORD);
  const { meaning, isKnown } = dialect.read(word, messageState);
  const error = errorOf(err, networkErrorCode);
  const doneAt = doneDate === '' ? undefined : receiptDate(doneDate, offsetMinutes, at);
  return {
    ids: [...new Set(ids)],
    meaning: source.intermediate ? 'intermediate' : meaning,
    isKnown: isKnown || source.intermediate,
    word: word === '' ? String(messageState ?? '') : word,
    excerpt: head.slice(0, MAX_EXCERPT),
    ...(error === undefined ? {} : { error }),
    ...(doneAt === undefined ? {} : { doneAt }),
  };
}

/** Some leave the label out: `… done date:180903120816 DELIVRD err:000`. */
function bareState(head: string): string {
  return (
    head.split(/[\s,;|"']+/).find((word) => /^[A-Z]{5,13}$/.test(word) && standardMeaning(word) !== undefined) ?? ''
  );
}

/** Error text first: it is what the carrier's documentation lists; then the TLV's code. */
function errorOf(text: string, tlv: Buffer | undefined): string | undefined {
  if (!/^0*$/.test(text)) return text.slice(0, MAX_ERROR);
  if (tlv === undefined || tlv.length < 3) return undefined;
  const code = tlv.readUInt16BE(1);
  return code === 0 ? undefined : String(code);
}
