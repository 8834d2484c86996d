import type { Collection, Db } from 'mongodb';
import type { MessageDocument } from '../../messages/document/message.ts';
import type { AccountId } from '../../platform/runtime/ids.ts';
import { WHOLE_ACCOUNT } from './store.ts';

/** `near`: an opt-out word among others (`STOP PLEASE`); changes nothing, but the account is told. */
export interface OptOutSign {
  readonly kind: 'out' | 'in' | 'help' | 'near';
  /** Folded. */
  readonly word: string;
}

/** A longer text is not `near`: a person must read it. */
const NEAR_WORDS_MAX = 10;
const TEXT_MAX = 200;

/**
 * Finds the customer's wish in a text. The whole text must be one of the words: acting on a part would cut off people
 * who write `the end`. But the FCC counts any reasonable wording (47 CFR 64.1200(a)(10)), so other words around it make
 * it `near`.
 */
export function optOutOf(text: string, words: Words): OptOutSign | undefined {
  if (text.length > TEXT_MAX) return undefined;
  const folded = foldText(text);
  if (folded === '') return undefined;
  for (const kind of ['out', 'in', 'help'] as const) {
    if (words[kind].includes(folded)) return { kind, word: folded };
  }
  const parts = folded.split(' ');
  if (parts.length > NEAR_WORDS_MAX) return undefined;
  const near = words.out.find((word) => ` ${folded} `.includes(` ${word} `));
  return near === undefined ? undefined : { kind: 'near', word: near };
}

/**
 * The form in which texts and words are compared: small letters, Latin letters without accents, no punctuation, symbols
 * or invisible characters, one blank between words. `«ＡＲＲÊＴ !»` becomes `arret`. Devanagari keeps its vowel marks.
 * Turkish writes ÇIK and çık, so `ı` becomes `i`. \p{DI} has what phones add to emoji (U+FE0F).
 */
export function foldText(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .normalize('NFD')
    .replaceAll(/[\u0300-\u036f]/gu, '')
    .replaceAll('ı', 'i')
    .normalize('NFC')
    .replaceAll(/\s+/gu, ' ')
    .replaceAll(/[\p{P}\p{S}\p{C}\p{DI}]/gu, '')
    .replaceAll(/ +/g, ' ')
    .trim();
}

/** Opt-out words of an account or of one of its numbers. A number's missing fields come from the account. */
export interface WordSettings {
  readonly _id: WordSettingsKey;
  readonly account: AccountId;
  /** One of the account's numbers, or `WHOLE_ACCOUNT`. */
  readonly scope: string;
  /** Absent: English and those of the customer's country. Empty: only the account's own words below. */
  readonly languages?: readonly Language[];
  /** Beside those of the languages, in the form of `foldText`. */
  readonly out?: readonly string[];
  readonly in?: readonly string[];
  readonly help?: readonly string[];
  /** The answer to STOP, START or HELP. Null: none, even if the account has one. */
  readonly stopAnswer?: AnswerText | null;
  readonly startAnswer?: AnswerText | null;
  readonly helpAnswer?: AnswerText | null;
}

/** `template`, `entityId`: the DLT template that the text matched when it was set. */
export interface AnswerText extends Pick<MessageDocument, 'text' | 'template' | 'entityId'> {}

export const ANSWERS = { out: 'stopAnswer', in: 'startAnswer', help: 'helpAnswer' } as const satisfies Record<
  keyof Words,
  keyof WordSettings
>;

export type WordSettingsKey = `${AccountId}:${string}`;

export function wordSettingsKey(account: AccountId, scope: string): WordSettingsKey {
  return `${account}:${scope}`;
}

export function settingsFor(
  found: ReadonlyMap<WordSettingsKey, WordSettings>,
  account: AccountId,
  number: string,
): Partial<WordSettings> {
  return {
    ...found.get(wordSettingsKey(account, WHOLE_ACCOUNT)),
    ...found.get(wordSettingsKey(account, number)),
  };
}

export function wordsFor(settings: Partial<WordSettings>, customer: string): Words {
  const lists = (settings.languages ?? languagesOf(customer)).map((language): Words => WORD_LISTS[language]);
  const all = (kind: keyof Words) => [...(settings[kind] ?? []), ...lists.flatMap((list) => list[kind])];
  return { out: all('out'), in: all('in'), help: all('help') };
}

export async function readWordSettings(
  db: Db,
  keys: readonly WordSettingsKey[],
): Promise<ReadonlyMap<WordSettingsKey, WordSettings>> {
  const found = await settings(db)
    .find({ _id: { $in: [...keys] } })
    .toArray();
  return new Map(found.map((one) => [one._id, one]));
}

export async function findWordSettings(db: Db, account: AccountId, scope: string): Promise<WordSettings | undefined> {
  return (await settings(db).findOne({ _id: wordSettingsKey(account, scope) })) ?? undefined;
}

export async function setWordSettings(
  db: Db,
  account: AccountId,
  scope: string,
  changes: Partial<Omit<WordSettings, '_id' | 'account' | 'scope'>>,
): Promise<void> {
  const _id = wordSettingsKey(account, scope);
  await settings(db).updateOne({ _id }, { $set: { account, scope, ...changes } }, { upsert: true });
}

function settings(db: Db): Collection<WordSettings> {
  return db.collection('opt_out_words');
}

/** Each in the form of `foldText`. */
interface Words {
  readonly out: readonly string[];
  readonly in: readonly string[];
  /** The customer asks who writes, and how to end it. */
  readonly help: readonly string[];
}

/**
 * Sources: FCC 47 CFR 64.1200(a)(10); for English the CTIA short code rules and the defaults of Twilio
 * (twilio.com/docs/messaging/tutorials/advanced-opt-out), AWS and Telnyx; for the others Bird (docs.bird.com, opt-out
 * keywords) and Sinch (community article 18980). Left out: YES, which Twilio takes for START, because it answers many
 * questions. No vendor publishes a list for Hindi.
 */
export const WORD_LISTS = {
  en: {
    out: [
      ...['stop', 'stopall', 'stop all', 'unsubscribe', 'end', 'quit', 'cancel'],
      ...['revoke', 'optout', 'opt out', 'remove'],
    ],
    in: ['start', 'unstop'],
    help: ['help', 'info'],
  },
  fr: { out: ['arret', 'arrete', 'arrett'], in: ['nonarret'], help: ['aide'] },
  de: { out: ['halt'], in: [], help: ['hilfe'] },
  es: { out: ['detener', 'salir'], in: ['volver', 'recibir'], help: ['ayuda'] },
  pt: { out: ['parar', 'cancelar'], in: ['voltar', 'receber'], help: ['ajuda'] },
  it: { out: ['ferma'], in: [], help: ['aiuto'] },
  nl: { out: ['halt'], in: [], help: ['hulp'] },
  ru: { out: ['остановить'], in: [], help: ['помощь'] },
  pl: { out: ['zatrzymaj'], in: [], help: ['pomoc'] },
} as const satisfies Readonly<Record<string, Words>>;

export type Language = keyof typeof WORD_LISTS;

export const LANGUAGES = Object.keys(WORD_LISTS) as readonly Language[]; // the table's own keys

/** The languages of a country code's customers besides English. */
const BY_COUNTRY_CODE: Readonly<Record<string, readonly Language[]>> = {
  ...{ '1': ['fr', 'es'], '7': ['ru'], '31': ['nl'], '32': ['fr', 'nl', 'de'], '33': ['fr'], '34': ['es'] },
  ...{ '39': ['it'], '41': ['de', 'fr', 'it'], '43': ['de'], '48': ['pl'], '49': ['de'], '51': ['es'], '52': ['es'] },
  ...{
    '54': ['es'],
    '55': ['pt'],
    '56': ['es'],
    '57': ['es'],
    '58': ['es'],
    '212': ['fr'],
    '216': ['fr'],
    '221': ['fr'],
  },
  ...{ '225': ['fr'], '351': ['pt'], '352': ['fr', 'de'], '375': ['ru'], '502': ['es'], '503': ['es'], '506': ['es'] },
  ...{ '507': ['es'], '591': ['es'], '593': ['es'], '595': ['es'], '598': ['es'] },
};

export function languagesOf(customer: string): readonly Language[] {
  const codes = [1, 2, 3].map((length) => customer.slice(0, length));
  return ['en', ...codes.flatMap((code) => BY_COUNTRY_CODE[code] ?? [])];
}
