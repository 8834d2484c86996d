import type { Collection, Db } from 'mongodb';
import type { MessageDocument } from '../../messages/document/message.ts';
import type { AccountId } from '../../platform/runtime/ids.ts';
import { WHOLE_ACCOUNT } from './store.ts';

/**
 * What a text says about the customer's wish. `near`: it has such a word, but also others (`STOP PLEASE`). Then nothing changes,
 * and the event tells the account.
 */
export interface OptOutSign {
  readonly kind: 'out' | 'in' | 'help' | 'near';
  /** The word in its folded form. */
  readonly word: string;
}

/**
 * The most words of a text that can be `near`. Anybody who asks for no more messages in a longer text needs a person to read it.
 */
const NEAR_WORDS_MAX = 10;
const TEXT_MAX = 200;

/**
 * Finds the customer's wish in a text. The whole text must be one of the words. A text with other words is only `near`. Acting on
 * it would cut off people who write `the end`. But the FCC counts any reasonable wording (47 CFR 64.1200(a)(10)), so the account
 * is told. Pure.
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
 * The form in which texts and words are compared: small letters, Latin letters without accents, no punctuation, symbols or
 * invisible characters, and one blank between words. `«ＡＲＲÊＴ !»` becomes `arret`. Scripts that write vowels as marks (Devanagari)
 * keep their marks. Turkish writes ÇIK and çık, so `ı` and `i` are one letter. \p{DI} has what phones add to emoji (U+FE0F).
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

/** The opt-out words of an account, or of one of its numbers. Fields that a number does not set are taken from the account. */
export interface WordSettings {
  readonly _id: WordSettingsKey;
  readonly account: AccountId;
  /** One of the account's numbers, or `WHOLE_ACCOUNT`. */
  readonly scope: string;
  /**
   * The languages whose word lists apply. Absent: English and the languages of the customer's country. Empty: only the words
   * below.
   */
  readonly languages?: readonly Language[];
  /** The account's own words, in addition to those of the languages, in the form of `foldText`. */
  readonly out?: readonly string[];
  readonly in?: readonly string[];
  readonly help?: readonly string[];
  /** What a customer is told who has opted out or in, or who asks for help. Null: nothing, also where the account has one. */
  readonly stopAnswer?: AnswerText | null;
  readonly startAnswer?: AnswerText | null;
  readonly helpAnswer?: AnswerText | null;
}

/** `template`, `entityId`: of the DLT template that it matched when it was set. */
export interface AnswerText extends Pick<MessageDocument, 'text' | 'template' | 'entityId'> {}

/** Which answer is for which word. */
export const ANSWERS = { out: 'stopAnswer', in: 'startAnswer', help: 'helpAnswer' } as const satisfies Record<
  keyof Words,
  keyof WordSettings
>;

export type WordSettingsKey = `${AccountId}:${string}`;

export function wordSettingsKey(account: AccountId, scope: string): WordSettingsKey {
  return `${account}:${scope}`;
}

/** The settings of a number: its own fields, and the account's for those that it lacks. */
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

/** The words that apply to a text from this customer. */
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

/** The texts that express a wish, each in the form of `foldText`. */
interface Words {
  /** The customer wants no more messages. */
  readonly out: readonly string[];
  /** The customer wants messages again. */
  readonly in: readonly string[];
  /** The customer asks who writes, and how to end it. */
  readonly help: readonly string[];
}

/**
 * The words of each language. Sources: FCC 47 CFR 64.1200(a)(10); CTIA short code rules and the defaults of Twilio
 * (twilio.com/docs/messaging/tutorials/advanced-opt-out), AWS (self-managed opt-outs) and Telnyx for English; Bird
 * (docs.bird.com, opt-out keywords) and Sinch (community article 18980) for the others. Left out: YES, which Twilio takes for
 * START, because it answers many questions. No vendor publishes a list for Hindi.
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

/** For each country code, the languages of its customers besides English. */
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

/** The languages for an account that has set none: English, and those of the customer's country code. */
export function languagesOf(customer: string): readonly Language[] {
  const codes = [1, 2, 3].map((length) => customer.slice(0, length));
  return ['en', ...codes.flatMap((code) => BY_COUNTRY_CODE[code] ?? [])];
}
