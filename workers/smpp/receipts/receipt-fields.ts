/**
 * The fields of a receipt's text (SMPP 3.4 Appendix B) as carriers really write them: any order and case, `:` or `=`, separated by
 * white space, `,` `;` `|` or quotes, or by nothing at all (`id:1stat:DELIVRDerr:000`). Reading ends at `text:`, behind which the
 * customer's own words are echoed. Linear in the length of the text; all patterns here are.
 */
export interface ReceiptFields {
  readonly id: string;
  readonly stat: string;
  readonly err: string;
  readonly doneDate: string;
  /** The text up to the customer's words. */
  readonly head: string;
}

type Name = 'id' | 'stat' | 'err' | 'doneDate' | 'text' | 'other';

/** Longest text that is looked at. Real ones have 100 to 200 characters before the customer's words. */
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
  /** Where the key begins, and where its value does. */
  readonly from: number;
  readonly to: number;
}

export function receiptFields(text: string): ReceiptFields {
  const whole = text.slice(0, MAX_TEXT).replaceAll('\0', ' ');
  const keys = keysIn(whole);
  const end = keys.find(({ name }) => name === 'text')?.from ?? whole.length;
  // The first value of each key counts: a later one may be of the customer's words, where their label is missing.
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

/** Up to and including `text:`. */
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

/** `id` is also the end of other words (`msgid:`, `paid:`): right behind a value, only where that is digits or capitals. */
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
/** ISO 8601 may have a space and colons in it. */
const DATE = /^[\s"']*(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?: ?(?:Z|[+-]\d\d:?\d\d))?|[^\s,;|"']+)/i;

/**
 * Behind white space a colon is the end of the next key: after an empty `err:` in `err: MSC:`. Some codes have one inside, `MK:0004`,
 * and ids in Base64 end with `=`.
 */
function firstWord(raw: string): string {
  const [, space = '', word = ''] = /^([\s"']*)([^\s,;|"']*)/.exec(raw) ?? [];
  const isNextKey = word.endsWith(':') || (/\s/.test(space) && /[:=]/.test(word));
  return isNextKey ? '' : word.replace(/[)}\]>]+$/, '');
}

/** What a log may have of it: names of keys, runs of digits as 9 and of letters as a. Neither text nor numbers. */
export function shapeOf(head: string): string {
  return head
    .slice(0, MAX_SHAPE)
    .replace(/(?<![A-Za-z])(?:submit date|done date|dlvrd|stat|sub|err|id)(?=:)|[A-Za-z\u00c0-\uffff]+|\d+/gi, (run) =>
      /^(submit date|done date|dlvrd|stat|sub|err|id)$/i.test(run) ? run : /^\d/.test(run) ? '9' : 'a',
    );
}

const MAX_SHAPE = 120;
