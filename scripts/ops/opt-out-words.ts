import { WHOLE_ACCOUNT } from '../../shared/carriers/opt-outs/opt-out.ts';
import { foldText } from '../../shared/carriers/opt-outs/sign.ts';
import { LANGUAGES, type Language } from '../../shared/carriers/opt-outs/word-lists.ts';
import {
  findWordSettings,
  readWordSettings,
  settingsFor,
  setWordSettings,
  type WordSettings,
  wordSettingsKey,
  wordsFor,
} from '../../shared/carriers/opt-outs/word-settings.ts';
import { type Command, defineCommand, Failure } from './command.ts';
import { checkedAnswers, shownAnswer } from './opt-out-answers.ts';
import { existing } from './owners.ts';
import { accountId, optional, ownNumber, required } from './parameters.ts';
import { sheet } from './show.ts';

const answer = {
  value: 'TEXT',
  form: 'a text, or none',
  parse: (text: string) => (text === 'none' ? null : text),
};
const WORDS_MAX = 50;
const WORD_LENGTH_MAX = 40;

/** Words separated by commas, in the form in which texts are compared. `none` for an empty list. */
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

/** Of such a word only one meaning would ever count: with START among the words for STOP, nobody could opt in again. */
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
    stop_answer: answerText(now?.stopAnswer),
    start_answer: answerText(now?.startAnswer),
    help_answer: answerText(now?.helpAnswer),
  };
}

/** Undefined where none is set, null where it is turned off. */
function answerText(answer: WordSettings['stopAnswer']): string | null | undefined {
  return answer === null ? null : answer?.text;
}
