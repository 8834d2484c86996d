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
export interface ReceiptFacts {
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

export function isPlain(dialect: ReceiptDialect): boolean {
  return WRITINGS[dialect].plain === true;
}

/** Whether part number `part` of `parts` gets a receipt. */
export function hasReceipt(dialect: ReceiptDialect, part: number, parts: number): boolean {
  const { only } = WRITINGS[dialect];
  return only === undefined || part === (only === 'first' ? 1 : parts);
}

/** The receipt's text, without the part that quotes the customer's text. */
export function factsText(dialect: ReceiptDialect, facts: ReceiptFacts): string {
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
