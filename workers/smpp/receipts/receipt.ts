import { receiptDate } from '../dialect/receipt-dates.ts';
import { type ReceiptState, stateOfCode, stateOfWord } from '../dialect/receipt-states.ts';

/**
 * A delivery receipt as carriers write it (SMPP 3.4 Appendix B and its many dialects) or as TLVs (§5.3.2.12, §5.3.2.35). Pure and
 * tolerant: it takes what it can read. Never reads behind `text:`, where the customer's own words are echoed.
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
}

export interface ParsedReceipt {
  /** Message ids it names, the surest first: TLV, then text, where they differ. */
  readonly ids: readonly string[];
  readonly state: ReceiptState;
  /** The carrier's word or number for the state, for the log and for `error_code` when there is nothing better. */
  readonly word: string;
  /** The carrier's error text (`001`, `00B`, `5601`); undefined for none (`0`, `000`). */
  readonly error?: string;
  readonly doneAt?: Date;
  /** The text up to the customer's words. */
  readonly excerpt: string;
}

/** Longest text that is looked at. Real ones have 100 to 200 characters. */
const MAX_TEXT = 500;
const MAX_EXCERPT = 200;
const MAX_ERROR = 16;

/** Undefined when neither id nor state can be found: not a receipt that we can use. */
export function parseReceipt(source: ReceiptSource): ParsedReceipt | undefined {
  const head = headOf(source.text);
  const fields = scanFields(head);
  const ids = [source.receiptedMessageId ?? '', fields.get('id') ?? '']
    .map((id) => id.trim())
    .filter((id) => id !== '');
  const word = fields.get('stat') ?? bareState(head) ?? '';
  const { messageState } = source;
  const said = (messageState === undefined ? undefined : stateOfCode(messageState)) ?? stateOfWord(word);
  if (ids.length === 0 || said === undefined) return undefined;
  const error = errorOf(fields.get('err'), source.networkErrorCode);
  const done = fields.get('done date');
  const doneAt = done === undefined ? undefined : receiptDate(done, source.offsetMinutes);
  return {
    ids: [...new Set(ids)],
    state: source.intermediate ? 'intermediate' : said,
    word: word === '' ? String(messageState) : word,
    excerpt: head.slice(0, MAX_EXCERPT),
    ...(error === undefined ? {} : { error }),
    ...(doneAt === undefined ? {} : { doneAt }),
  };
}

/** Everything before the customer's words, without NULs. */
function headOf(text: string): string {
  const head = text.slice(0, MAX_TEXT).replaceAll('\0', ' ');
  const echo = /(?:^|\s)text:/i.exec(head);
  return (echo === null ? head : head.slice(0, echo.index)).trim();
}

/** A value ends at white space and has no colon: after an empty one (`err: MSC:`) comes the next key. */
const FIELD = /(?<!\S)(id|stat|err|submit date|done date)\s*:\s*(?:([^\s:]+)(?!\S))?/gi;

/** The first value of each key counts. */
function scanFields(head: string): Map<string, string> {
  const fields = new Map<string, string>();
  for (const [, key = '', value = ''] of head.matchAll(FIELD)) {
    const name = key.toLowerCase();
    if (value !== '' && !fields.has(name)) fields.set(name, value);
  }
  return fields;
}

/** Some leave the label out: `… done date:180903120816 DELIVRD err:000`. */
function bareState(head: string): string | undefined {
  return head.split(/\s+/).find((word) => /^[A-Z]{5,13}$/.test(word) && stateOfWord(word) !== undefined);
}

/** Error text first: it is what the carrier's documentation lists; then the TLV's code. */
function errorOf(text: string | undefined, tlv: Buffer | undefined): string | undefined {
  if (text !== undefined && !/^0*$/.test(text)) return text.slice(0, MAX_ERROR);
  if (tlv === undefined || tlv.length < 3) return undefined;
  const code = tlv.readUInt16BE(1);
  return code === 0 ? undefined : String(code);
}
