import {
  completedNumber,
  digitsOf,
  isNumberKey,
  KEYWORD_MAX,
  keywordOf,
  type NumberDocument,
  numberKey,
} from '../../../shared/carriers/numbers/number.ts';
import {
  addNumber,
  findNumber,
  listNumbers,
  NumberTaken,
  removeNumber,
} from '../../../shared/carriers/numbers/store.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { phoneDigits } from '../../../shared/platform/sheets/cell.ts';
import { done, endpoint, invalid, refused, type Shown } from '../../api/endpoint.ts';
import { named, pageShape, success, text, time } from '../../api/shapes.ts';
import { changeAudited } from '../../http/audited.ts';
import { Fault, matching, optional, required, string } from '../../http/fields/field.ts';
import { cursorOf, limit, pageOfFound } from '../../http/fields/query.ts';
import { request } from '../../http/fields/request.ts';
import { AccountIdText, accountId, checkOpenAccount, country } from './fields.ts';

/** Numbers that handsets write to, and whose they are. */

const NUMBER = /^[1-9]\d{2,14}$/;
const NumberText = text(undefined, { example: '919000000001' });

const OperatorNumber = named('OperatorNumber', 'A number to which handsets may write, and whose it is.', {
  number: NumberText,
  keyword: text('Null: all messages that no keyword fits.').nullable(),
  account_id: AccountIdText,
  country: text().nullable(),
  created_at: time(undefined, '2026-11-22T10:00:00+00:00'),
});

export const numbersOfAll = endpoint({
  id: 'operatorNumbers',
  method: 'get',
  path: '/v2/admin/numbers',
  tag: 'Operators',
  summary: 'Numbers that handsets write to',
  description: 'Extension. And whose they are.',
  scopes: ['admin:read'],
  query: {
    account_id: optional(accountId('Only of this account.')),
    number: optional(matching('Only of this number: its keywords.', NUMBER, '3 to 15 digits')),
    limit,
    cursor: cursorOf('numbers', isNumberKey),
  },
  answer: pageShape('OperatorNumberPage', OperatorNumber),
  async handle({ db }, { query: { account_id, number, limit, cursor } }) {
    const found =
      number === undefined
        ? await listNumbers(db, account_id, limit + 1, cursor)
        : (await findNumber(db, number)).filter(({ account }) => account_id === undefined || account === account_id);
    return pageOfFound('numbers', found, limit, numberRecord);
  },
});

export const giveNumber = endpoint({
  id: 'addNumber',
  method: 'post',
  path: '/v2/admin/numbers',
  tag: 'Operators',
  summary: 'Give a number to an account',
  description: 'Extension. Workers know it within two seconds.',
  scopes: ['admin:routing'],
  confirmed: true,
  body: request({
    number: required(
      string(
        {
          description:
            'A long number with its country code, or a short code. With `country`, a number as inside it is completed.',
          minLength: 3,
          maxLength: 32,
        },
        (text) => {
          const digits = digitsOf(phoneDigits(text));
          return NUMBER.test(digits) ? digits : new Fault('invalid_value', 'It must be 3 to 15 digits.');
        },
      ),
    ),
    account_id: required(accountId('The account.')),
    keyword: optional(
      string(
        {
          description: 'Only messages that begin with this word. Without it: all that no keyword fits.',
          maxLength: KEYWORD_MAX,
        },
        (text) =>
          /\s/.test(text.trim()) || keywordOf(text) === ''
            ? new Fault('invalid_value', `It must be one word of letters and digits, at most ${KEYWORD_MAX}.`)
            : keywordOf(text),
      ),
    ),
    country: optional(country),
  }),
  ownProblems: true,
  answer: success('OperatorNumberResult', { number: OperatorNumber }),
  examples: { body: { example: { number: '919000000001', account_id: 'acc_01m7znjn7hdb5pft3awkb6pgvz' } } },
  async handle(deps, call) {
    const { db, clock } = deps;
    const { problems } = call.read;
    await checkOpenAccount(db, call.read);
    if (problems.count > 0) return invalid(problems);
    const { number: written, account_id: account, keyword = '', country } = call.body;
    const number = completedNumber(written, country);
    try {
      const made = await changeAudited(deps, call.requester, {
        action: 'number.add',
        subject: { kind: 'number', id: numberKey(number, keyword) },
        account,
        make: () => addNumber(db, clock, { number, keyword, account, ...(country === undefined ? {} : { country }) }),
        madeOf: (one) => one,
        isRefusal: (error) => error instanceof NumberTaken,
      });
      return done({ number: numberRecord(made) });
    } catch (error) {
      if (!(error instanceof NumberTaken)) throw error;
      problems.add('number', 'invalid_value', `It belongs to ${error.account} already. Take it away from there first.`);
      return invalid(problems);
    }
  },
});

export const takeNumber = endpoint({
  id: 'removeNumber',
  method: 'delete',
  path: '/v2/admin/numbers/{number}',
  tag: 'Operators',
  summary: 'Take a number away',
  description: 'Extension. What was received stays with the account.',
  scopes: ['admin:routing'],
  confirmed: true,
  params: { number: NumberText.describe('The number.') },
  query: { keyword: optional(string({ description: 'Only this keyword of the number.' }, (text) => text)) },
  answer: success('RemovedNumber', {
    number: OperatorNumber,
    message: text(undefined, { example: 'It belongs to nobody now.' }),
  }),
  problems: ['number_not_found'],
  async handle(deps, { requester, params: { number }, query: { keyword = '' } }) {
    const { db } = deps;
    const found = (await findNumber(db, number)).find((one) => one.keyword === keyword);
    if (found === undefined) return refused('number_not_found');
    await changeAudited(deps, requester, {
      action: 'number.remove',
      subject: { kind: 'number', id: numberKey(number, keyword) },
      account: found.account,
      read: async () => found,
      make: () => removeNumber(db, number, keyword),
      madeOf: (removed) => ({ removed }),
    });
    return done({ number: numberRecord(found), message: 'It belongs to nobody now.' });
  },
});

function numberRecord({ number, keyword, account, country, createdAt }: NumberDocument): Shown<typeof OperatorNumber> {
  return {
    number,
    keyword: keyword === '' ? null : keyword,
    account_id: account,
    country: country ?? null,
    created_at: isoTimestamp(createdAt),
  };
}
