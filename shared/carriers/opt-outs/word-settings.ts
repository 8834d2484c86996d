import type { Collection, Db } from 'mongodb';
import type { MessageDocument } from '../../messages/document/message.ts';
import type { AccountId } from '../../platform/runtime/ids.ts';
import { WHOLE_ACCOUNT } from './opt-out.ts';
import { type Language, languagesOf, WORD_LISTS, type Words } from './word-lists.ts';

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
