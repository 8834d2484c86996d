import { completedNumber, digitsOf } from '../../shared/carriers/numbers/notation.ts';
import { KEYWORD_MAX, keywordOf, type NumberDocument } from '../../shared/carriers/numbers/number.ts';
import { addNumber, findNumber, listNumbers, NumberTaken, removeNumber } from '../../shared/carriers/numbers/store.ts';
import { isCountry } from '../../shared/money/accounts/number-check.ts';
import { phoneDigits } from '../../shared/platform/sheets/cell.ts';
import { existing } from './account.ts';
import { type Command, defineCommand, Failure } from './command.ts';
import { accountId, integer, optional, required, withDefault } from './parameters.ts';
import { more, table } from './show.ts';

const number = required(
  {
    value: 'NUMBER',
    form: 'a long number with its country code, or a short code: 3 to 15 digits',
    parse: (text: string) => {
      const digits = digitsOf(phoneDigits(text));
      return /^[1-9]\d{2,14}$/.test(digits) ? digits : undefined;
    },
  },
  'the number that handsets write to',
);
const keyword = optional(
  {
    value: 'WORD',
    form: `one word of letters and digits, at most ${KEYWORD_MAX}`,
    parse: (text: string) => (/\s/.test(text.trim()) || keywordOf(text) === '' ? undefined : keywordOf(text)),
  },
  'only the messages that begin with it; case and punctuation do not matter',
);
const country = optional(
  {
    value: 'COUNTRY',
    form: 'a country in two letters, like IN',
    parse: (text: string) => (isCountry(text.toUpperCase()) ? text.toUpperCase() : undefined),
  },
  'where the number is: it is completed, and so are senders that a carrier writes without a country code',
);

export const NUMBER_COMMANDS: readonly Command[] = [
  defineCommand({
    noun: 'number',
    verb: 'add',
    about: 'Gives a long number or short code to an account: what is sent to it is received by the account.',
    args: { number, account: required(accountId, 'the account') },
    options: { keyword, country },
    notes:
      'Without --keyword the account gets every message to the number that no other keyword fits. A number with a keyword belongs to\n' +
      'one account. Workers know it within 2 seconds. What came before stays in `inbound list`.',
    async run({ number: written, account, keyword = '', country }, { db, clock }) {
      const number = completedNumber(written, country);
      const store = await db();
      await existing(store, account);
      try {
        const added = { number, keyword, account, ...(country === undefined ? {} : { country }) };
        const made = await addNumber(store, clock, added);
        const which = keyword === '' ? 'everything that no keyword fits' : `messages that begin with "${keyword}"`;
        return { text: `${account} gets ${which} to ${number}.`, json: view(made) };
      } catch (error) {
        if (!(error instanceof NumberTaken)) throw error;
        const word = keyword === '' ? '' : ` with the keyword "${keyword}"`;
        throw new Failure(`${number}${word} belongs to ${error.account} already: \`number remove\` takes it away.`);
      }
    },
  }),
  defineCommand({
    noun: 'number',
    verb: 'list',
    about: 'Shows numbers and keywords, and whose they are.',
    args: {},
    options: {
      account: optional(accountId, 'only of this account'),
      limit: withDefault(integer('N', 1, 10_000), '1000', 'most to show'),
    },
    async run({ account, limit }, { db }) {
      const store = await db();
      if (account !== undefined) await existing(store, account);
      const found = await listNumbers(store, account, limit);
      return { text: `${tableOf(found, 'There are none.')}${more(found, limit)}`, json: found.map(view) };
    },
  }),
  defineCommand({
    noun: 'number',
    verb: 'show',
    about: 'Shows the keywords of one number, and whose they are.',
    args: { number },
    options: {},
    async run({ number }, { db }) {
      const found = await findNumber(await db(), number);
      if (found.length === 0) throw new Failure(`${number} belongs to nobody: \`number add\` gives it to an account.`);
      return { text: tableOf(found, ''), json: found.map(view) };
    },
  }),
  defineCommand({
    noun: 'number',
    verb: 'remove',
    about: 'Takes a number, or one keyword of it, from its account. What was received stays.',
    args: { number },
    options: { keyword },
    async run({ number, keyword = '' }, { db }) {
      if (!(await removeNumber(await db(), number, keyword))) {
        const word = keyword === '' ? 'without a keyword' : `with the keyword "${keyword}"`;
        throw new Failure(`${number} ${word} belongs to nobody: \`number show ${number}\` shows what there is.`);
      }
      return { text: `${keyword === '' ? number : `${number} ${keyword}`} belongs to nobody now.`, json: { number } };
    },
  }),
];

function tableOf(found: readonly NumberDocument[], none: string): string {
  return table(
    ['NUMBER', 'KEYWORD', 'ACCOUNT', 'COUNTRY'],
    found.map((one) => [
      one.number,
      one.keyword === '' ? '(all others)' : one.keyword,
      one.account,
      one.country ?? '-',
    ]),
    none,
  );
}

function view({ number, keyword, account, country, createdAt }: NumberDocument): Readonly<Record<string, unknown>> {
  return { number, keyword: keyword === '' ? null : keyword, account, country: country ?? null, created_at: createdAt };
}
