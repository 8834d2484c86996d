import { Approvals } from '../../gateway/endpoints/sms/approvals.ts';
import { WHOLE_ACCOUNT } from '../../shared/carriers/opt-outs/store.ts';
import {
  type AnswerText,
  findWordSettings,
  foldText,
  LANGUAGES,
  type Language,
  optOutOf,
  readWordSettings,
  settingsFor,
  setWordSettings,
  type WordSettings,
  wordSettingsKey,
  wordsFor,
} from '../../shared/carriers/opt-outs/words.ts';
import { planText } from '../../shared/messages/sms-plan.ts';
import type { AccountDocument } from '../../shared/money/accounts/account.ts';
import { sheet } from './answer-text.ts';
import {
  accountId,
  type Command,
  type Context,
  defineCommand,
  Failure,
  optional,
  ownNumber,
  required,
} from './command.ts';
import { existing } from './owners.ts';

const answer = {
  value: 'TEXT',
  form: 'a text, or none',
  parse: (text: string) => (text === 'none' ? null : text),
};
const WORDS_MAX = 50;
const WORD_LENGTH_MAX = 40;

/** Words separated by commas, normalized for comparison. `none` for an empty list. */
const wordList = {
  value: 'WORDS',
  form: `up to ${WORDS_MAX} words of at most ${WORD_LENGTH_MAX} characters (with commas), or none`,
  parse(text: string): readonly string[] | undefined {
    if (text === 'none') return [];
    const all = text.split(',').map(foldText);
    const good = all.length <= WORDS_MAX && all.every((word) => word.length > 0 && word.length <= WORD_LENGTH_MAX);
    return good ? all : undefined;
  },
};
const languageList = {
  value: 'LANGUAGES',
  form: `some of ${LANGUAGES.join(', ')} (with commas), or none`,
  parse(text: string): readonly Language[] | undefined {
    if (text === 'none') return [];
    const all = text.split(',').map((name) => LANGUAGES.find((language) => language === name.trim()));
    return all.some((one) => one === undefined) ? undefined : all.filter((one) => one !== undefined);
  },
};

export const OPT_OUT_WORDS_COMMAND: Command = defineCommand({
  noun: 'opt-out',
  verb: 'words',
  about: 'Shows or sets the words with which customers opt out and in, and what they are answered.',
  args: { account: required(accountId, 'the account') },
  options: {
    number: optional(ownNumber, "of this number of the account's; what it does not set is the account's"),
    languages: optional(languageList, 'whose usual words count; default: English and that of the customer’s country'),
    out: optional(wordList, 'further words for STOP'),
    in: optional(wordList, 'further words for START'),
    helpWords: optional(wordList, 'further words for HELP'),
    stopAnswer: optional(answer, 'what customers are told who have opted out; once for each change'),
    startAnswer: optional(answer, 'what customers are told who have opted in again'),
    helpAnswer: optional(answer, 'what customers are told who write HELP'),
  },
  notes:
    'A text counts when the whole of it is one of the words; case, accents, punctuation and invisible characters do not matter. ' +
    'An answer is a transactional message of the account, from the number that the customer wrote to, and costs its credits. ' +
    'Without credits there is none. Under DLT it needs --number and an approved template of that number. ' +
    'Known to the workers within two seconds. With --json what is not set is left out, and an answer that is turned off is null.',
  async run({ account, number: scope = WHOLE_ACCOUNT, languages, out, in: back, helpWords, ...texts }, context) {
    const store = await context.db();
    const sender = { account: await existing(store, account), scope };
    const answers = await checkedAnswers(context, sender, texts);
    const changes = {
      ...answers,
      ...(languages && { languages }),
      ...(out && { out }),
      ...(back && { in: back }),
      ...(helpWords && { help: helpWords }),
    };
    if (Object.keys(changes).length > 0) {
      const keys = [WHOLE_ACCOUNT, scope].map((one) => wordSettingsKey(account, one));
      const before = settingsFor(await readWordSettings(store, keys), account, scope);
      const twice = wordsOfTwoMeanings({ ...before, ...changes });
      if (twice.length > 0)
        throw new Failure(
          `Not set. A word has one meaning, and these would have two of STOP, START and HELP: ${twice.join(', ')}.`,
        );
      await setWordSettings(store, account, scope, changes);
    }
    const now = await findWordSettings(store, account, scope);
    const number = scope === WHOLE_ACCOUNT ? 'all' : scope;
    return { text: sheet({ number, ...words(now) }), json: { account, number, ...wordsJson(now) } };
  },
});

/** Only one meaning of such a word would count: with START among the words for STOP, nobody could opt in again. */
function wordsOfTwoMeanings(settings: Partial<WordSettings>): readonly string[] {
  const { out, in: back, help } = wordsFor(settings, '');
  const all = [out, back, help].flatMap((list) => [...new Set(list)]);
  return [...new Set(all.filter((word, i) => all.indexOf(word) < i))];
}

function words(now: WordSettings | undefined) {
  return {
    languages: now?.languages?.join(', ') ?? 'by country',
    out: now?.out?.join(', ') ?? '-',
    in: now?.in?.join(', ') ?? '-',
    help: now?.help?.join(', ') ?? '-',
    stop_answer: shownAnswer(now?.stopAnswer),
    start_answer: shownAnswer(now?.startAnswer),
    help_answer: shownAnswer(now?.helpAnswer),
  };
}

function wordsJson(now: WordSettings | undefined) {
  return {
    languages: now?.languages,
    out: now?.out,
    in: now?.in,
    help: now?.help,
    stop_answer: textOf(now?.stopAnswer),
    start_answer: textOf(now?.startAnswer),
    help_answer: textOf(now?.helpAnswer),
  };
}

/** Undefined: not set. Null: turned off. */
function textOf(answer: WordSettings['stopAnswer']): string | null | undefined {
  return answer === null ? null : answer?.text;
}

type Answers = Pick<WordSettings, 'stopAnswer' | 'startAnswer' | 'helpAnswer'>;

interface Answering {
  readonly account: AccountDocument;
  readonly scope: string;
}

/** The answers as they are stored. Throws a `Failure` if one could never be sent. */
async function checkedAnswers(
  context: Context,
  answering: Answering,
  texts: { readonly [Name in keyof Answers]?: string | null | undefined },
): Promise<Answers> {
  const checked: [string, AnswerText | null][] = [];
  for (const [name, text] of Object.entries(texts)) {
    if (text === undefined) continue;
    checked.push([name, text === null ? null : await checkedAnswer(context, answering, text)]);
  }
  return Object.fromEntries(checked);
}

/** The answer with the segments that it takes. */
function shownAnswer(answer: AnswerText | null | undefined): string {
  if (answer === undefined) return '-';
  if (answer === null) return 'none';
  const { encoding, segments } = planText(answer.text);
  return `${answer.text} (${segments} ${segments === 1 ? 'segment' : 'segments'}, ${encoding})`;
}

async function checkedAnswer(context: Context, { account, scope }: Answering, text: string): Promise<AnswerText> {
  // With the flag `u` the pattern matches only halves of surrogate pairs.
  if (text.trim() === '' || /\p{Surrogate}/u.test(text)) throw new Failure('The answer must be a readable text.');
  const { maxSegments } = context.config;
  const { segments, encoding } = planText(text);
  if (segments > maxSegments) {
    throw new Failure(`The answer needs ${segments} segments (${encoding}); at most ${maxSegments} are allowed.`);
  }
  const sign = optOutOf(text, wordsFor({ languages: LANGUAGES }, ''));
  if (sign !== undefined && sign.kind !== 'near') {
    throw new Failure(`"${text}" is a word of customers. A machine at the other end would answer it for ever.`);
  }
  return { text, ...(account.dlt === 'on' ? await dltIds(context, account, scope, text) : {}) };
}

/** The DLT ids of an answer. Under DLT, carriers refuse a text without an approved template of its sender. */
async function dltIds(
  { db, clock, config }: Context,
  account: AccountDocument,
  number: string,
  text: string,
): Promise<Omit<AnswerText, 'text'>> {
  const cannot = 'The account is under DLT, so this answer cannot be sent';
  if (number === WHOLE_ACCOUNT) {
    throw new Failure(`${cannot}: templates belong to one sender. Set it for each number, with --number.`);
  }
  const approvals = new Approvals({ db: await db(), clock, config });
  const approval = await approvals.approve(account, { sender: number, route: 'transactional' }, text);
  if (approval.kind === 'approved') return approval.ids;
  const [slug, { detail }] = approval.problem;
  throw new Failure(`${cannot} from ${number}: ${detail ?? slug}`);
}
