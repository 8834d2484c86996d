import type { Deliver } from '../../../shared/carriers/smpp/deliver-sm.ts';

/**
 * The fields of a receipt's text (SMPP 3.4 Appendix B) as carriers really write them: in any order and case, with `:`
 * or `=`, separated by white space, `,` `;` `|` or quotes, or not at all (`id:1stat:DELIVRDerr:000`), up to `text:`,
 * because the customer's own words follow. All patterns here take linear time.
 */
interface ReceiptFields {
  readonly id: string;
  readonly stat: string;
  readonly err: string;
  readonly doneDate: string;
  /** The text before the customer's words. */
  readonly head: string;
}

/** Only this many octets of a receipt are read: then only the customer's text follows. */
const MAX_OCTETS = 4_000;

type Name = 'id' | 'stat' | 'err' | 'doneDate' | 'text' | 'other';

/** The longest text that is read. Real receipts have 100 to 200 characters before the customer's words. */
const MAX_TEXT = 2_000;

const KEY = /(submit[ _-]?date|done[ _-]?date|dlvrd|status|stat|sub|error|err|text|id)["']?[ \t\r\n]{0,8}([:=])/gi;
const NAMES: Readonly<Record<string, Name>> = {
  id: 'id',
  stat: 'stat',
  status: 'stat',
  err: 'err',
  error: 'err',
  donedate: 'doneDate',
  text: 'text',
};

interface Key {
  readonly name: Name;
  readonly from: number;
  readonly to: number;
}

export function receiptFields(text: string): ReceiptFields {
  const whole = text.slice(0, MAX_TEXT);
  const keys = keysIn(whole);
  const end = keys.find(({ name }) => name === 'text')?.from ?? whole.length;
  // The first value of each key counts: a later one may be the customer's words if `text:` is missing.
  const value = (wanted: Name): string => {
    for (const [i, { name, to }] of keys.entries()) {
      if (name !== wanted) continue;
      const found = VALUES[wanted]?.(whole.slice(to, keys[i + 1]?.from ?? end)) ?? '';
      if (found !== '') return found;
    }
    return '';
  };
  return {
    id: value('id'),
    stat: value('stat'),
    err: value('err'),
    doneDate: value('doneDate'),
    head: whole.slice(0, end).trim(),
  };
}

/**
 * The text of a receipt, whatever its data_coding says: some carriers send ASCII and call it UCS-2, or the reverse. In
 * UTF-16 every character of such a text has a zero octet; without those it can be read in either byte order, from any
 * octet on. Other control octets (a NUL or a header before the text, a NUL between two fields) become blanks, except
 * the underline of the GSM alphabet, which may be in an id.
 */
export function receiptText({ body }: Pick<Deliver, 'body'>): string {
  const text = body.subarray(0, MAX_OCTETS).toString('latin1').replace(BEFORE, '');
  const head = text.slice(0, MAX_HEAD);
  const isUtf16 = head.replaceAll('\0', '').length <= head.length * MOST_IN_UTF16;
  // Where a character of UTF-16 is a NUL, three zero octets follow each other.
  return (isUtf16 ? text.replaceAll(/\0{3,}/g, ' ').replaceAll('\0', '') : text)
    .replaceAll('\x11', '_')
    .replaceAll(CONTROLS, ' ');
}

/** Zero octets and byte order marks (UTF-16 of either kind, UTF-8) before the text. */
const BEFORE = /^(?:\0|\xff\xfe|\xfe\xff|\xef\xbb\xbf)+/;
/** The beginning of a receipt, before the customer's words. */
const MAX_HEAD = 40;
/** The largest part of octets that are not zero in ASCII as UTF-16: a half, and more with a header before it. */
const MOST_IN_UTF16 = 0.7;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
const CONTROLS = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/g;

/** The keys up to `text:`, which is the last one. */
function keysIn(whole: string): Key[] {
  const keys: Key[] = [];
  for (const match of whole.matchAll(KEY)) {
    const [all, word = '', sign] = match;
    const from = match.index;
    const last = keys.at(-1);
    const isApart = from === 0 || !/[A-Za-z0-9_-]/.test(whole[from - 1] ?? '');
    if (!isApart && (sign !== ':' || last === undefined || !mayBeJoined(word, whole.slice(last.to, from)))) continue;
    const name = NAMES[word.toLowerCase().replace(/[ _-]/, '')] ?? 'other';
    keys.push({ name, from, to: from + all.length });
    if (name === 'text') break;
  }
  return keys;
}

/** `id` also ends other words (`msgid:`, `paid:`): directly after a value, only digits or capitals make it a key. */
function mayBeJoined(word: string, value: string): boolean {
  return word.toLowerCase() !== 'id' || (word === 'id' && /^[A-Z0-9]{1,20}$/.test(value));
}

const VALUES: Partial<Readonly<Record<Name, (raw: string) => string>>> = {
  id: firstWord,
  stat: firstWord,
  err: firstWord,
  doneDate: (raw) => DATE.exec(raw.slice(0, MAX_DATE))?.[1] ?? '',
};

const MAX_DATE = 48;
/** An ISO 8601 date may contain a space and colons. */
const DATE = /^[\s"']*(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?: ?(?:Z|[+-]\d\d:?\d\d))?|[^\s,;|"']+)/i;

/**
 * The first word of a value. A word with a colon after white space is the next key: in `err: MSC:`, `err:` is empty.
 * Some codes contain a colon (`MK:0004`), and ids in Base64 end with `=`. A value without a letter or digit, such as
 * the `{` of `id:{"a":1}`, counts as empty.
 */
function firstWord(raw: string): string {
  const [, space = '', word = ''] = /^([\s"']*)([^\s,;|"']*)/.exec(raw) ?? [];
  const isNextKey = word.endsWith(':') || (/\s/.test(space) && /[:=]/.test(word));
  return isNextKey || !/[\p{L}\p{N}]/u.test(word) ? '' : word.replace(/[)}\]>]+$/, '');
}

/** A text's form for the log: names of keys, digits as 9, letters as a. It contains no text and no numbers. */
export function shapeOf(head: string): string {
  return head
    .slice(0, MAX_SHAPE)
    .replace(/(?<![A-Za-z])(?:submit date|done date|dlvrd|stat|sub|err|id)(?=:)|[A-Za-z\u00c0-\uffff]+|\d+/gi, (run) =>
      /^(submit date|done date|dlvrd|stat|sub|err|id)$/i.test(run) ? run : /^\d/.test(run) ? '9' : 'a',
    );
}

const MAX_SHAPE = 120;

/**
 * Reads dates in receipts: `YYMMDDhhmm`, `YYMMDDhhmmss`, `yyyyMMddHHmm`, `yyyyMMddHHmmss`, SMPP's absolute form with
 * its offset (`YYMMDDhhmmsstnnp`, SMPP 3.4 §7.1.1.1), Unix seconds or milliseconds, ISO 8601. A date without a zone is
 * in the carrier's zone.
 *
 * Ten digits may mean two dates: Unix seconds of January to June 2027 are also minutes of 2018. The date nearest to
 * `near`, the time at which the receipt came, is taken. Unix times more than a year from `near` are ignored:
 * `2613211004` is no date, and not a second of 2052.
 */
export function receiptDate(text: string, offsetMinutes: number, near: Date): Date | undefined {
  const readings = [
    ...digitReadings(text, offsetMinutes),
    ...unixReadings(text, near),
    ...isoReadings(text, offsetMinutes),
  ];
  const distance = (date: Date): number => Math.abs(date.getTime() - near.getTime());
  return readings.sort((a, b) => distance(a) - distance(b))[0];
}

const YEAR_MS = 366 * 24 * 3_600_000;
/** `20` at the beginning means that the year has four digits. */
const DIGITS = /^(20)?(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})?(?:\d(\d{2})([+-])|(Z)|([+-])(\d{2}):?(\d{2}))?$/;
const SHORT_DIGITS = new RegExp(DIGITS.source.replace('(20)?', '()?'));
const ISO =
  /^(\d{4})-?(\d{2})-?(\d{2})[T ](\d{2}):?(\d{2})(?::?(\d{2})(?:[.,]\d{1,9})?)?\s?(?:(Z)|([+-])(\d{2}):?(\d{2})?)?$/i;

function digitReadings(text: string, offsetMinutes: number): Date[] {
  return [DIGITS, SHORT_DIGITS].flatMap((form) => {
    const match = form.exec(text);
    if (match === null) return [];
    const [, , year, month, day, hour, minute, second, quarters, side, utc, sign, hours, minutes] = match;
    const own = side === undefined ? undefined : signed(side, Number(quarters) * 15);
    const offset = own ?? zone(utc, sign, hours, minutes) ?? offsetMinutes;
    return dateOf([2000 + Number(year), month, day, hour, minute, second], offset);
  });
}

function isoReadings(text: string, offsetMinutes: number): Date[] {
  const match = ISO.exec(text);
  if (match === null) return [];
  const [, year, month, day, hour, minute, second, utc, sign, hours, minutes] = match;
  return dateOf([year, month, day, hour, minute, second], zone(utc, sign, hours, minutes) ?? offsetMinutes);
}

function unixReadings(text: string, near: Date): Date[] {
  if (!/^(\d{10}|\d{13})$/.test(text)) return [];
  const date = new Date(text.length === 10 ? Number(text) * 1000 : Number(text));
  return Math.abs(date.getTime() - near.getTime()) < YEAR_MS ? [date] : [];
}

function zone(utc?: string, sign?: string, hours?: string, minutes?: string): number | undefined {
  if (utc !== undefined) return 0;
  return sign === undefined ? undefined : signed(sign, Number(hours) * 60 + Number(minutes ?? 0));
}

function signed(sign: string, minutes: number): number {
  return sign === '+' ? minutes : -minutes;
}

/** Empty when there is no such day or time, otherwise the one date. */
function dateOf(fields: readonly (string | number | undefined)[], offsetMinutes: number): Date[] {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = fields.map((field) => Number(field ?? 0));
  const days = new Date(Date.UTC(year, month - 1, day));
  if (days.getUTCMonth() !== month - 1 || days.getUTCDate() !== day || hour > 23 || minute > 59 || second > 59)
    return [];
  return [new Date(Date.UTC(year, month - 1, day, hour, minute, second) - offsetMinutes * 60_000)];
}
