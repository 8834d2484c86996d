import { isNumberKey, type NumberDocument } from '../../../shared/carriers/numbers/number.ts';
import { listNumbers } from '../../../shared/carriers/numbers/store.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { endpoint, type Shown } from '../../api/endpoint.ts';
import { named, pageShape, text, time } from '../../api/shapes.ts';
import { cursorOf, limit, pageOfFound } from '../../http/fields/query.ts';

const AccountNumber = named('AccountNumber', 'A number to which handsets may write.', {
  number: text('A long number with its country code, or a short code.', { example: '919000000001' }),
  keyword: text('Only messages that begin with this word come to you. Null: all that fit no keyword.').nullable(),
  country: text('Where customers without a country code are taken to be from.', { example: 'IN' }).nullable(),
  created_at: time(undefined, '2026-11-22T10:00:00+00:00'),
});

/** This many entries of a page count as one request. */
const ENTRIES_PER_REQUEST = 250;

export const numbers = endpoint({
  id: 'numbers',
  call: 'sms.numbers',
  method: 'get',
  path: '/v2/account/numbers',
  tag: 'Account',
  summary: 'Numbers that receive SMS',
  description:
    'Extension. The numbers that customers write to, and keywords of shared numbers, whose received SMS come to the account. An operator gives and takes them. A page counts as one request for each 250 of `limit`.',
  scopes: ['read', 'manage'],
  query: { limit, cursor: cursorOf('numbers', isNumberKey) },
  reads: ({ limit }) => Math.ceil(limit / ENTRIES_PER_REQUEST),
  answer: pageShape('NumberPage', AccountNumber, 'Numbers, in their order.'),
  async handle({ db }, { caller, query: { limit, cursor } }) {
    const found = await listNumbers(db, caller.account._id, limit + 1, cursor);
    return pageOfFound('numbers', found, limit, numberRecord);
  },
});

function numberRecord({ number, keyword, country, createdAt }: NumberDocument): Shown<typeof AccountNumber> {
  return {
    number,
    keyword: keyword === '' ? null : keyword,
    country: country ?? null,
    created_at: isoTimestamp(createdAt),
  };
}
