import { z } from 'zod';
import { isNumberKey, type NumberDocument } from '../../../shared/carriers/numbers/number.ts';
import { completionFor, listNumbers } from '../../../shared/carriers/numbers/store.ts';
import {
  changeOptOuts,
  findOptOut,
  findOptOutOf,
  hasOptOutDocument,
  isOptOutPlace,
  listOptOuts,
  type OptOutDocument,
  optOutPlace,
  WHOLE_ACCOUNT,
} from '../../../shared/carriers/opt-outs/store.ts';
import { recipientProblem } from '../../../shared/messages/document/recipient.ts';
import { numberProblem } from '../../../shared/money/accounts/number-check.ts';
import { QUOTAS, QuotaReached } from '../../../shared/money/accounts/quotas.ts';
import { countOptOut } from '../../../shared/money/accounts/store.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { isOptOutId, newId, type OptOutId, optOutId } from '../../../shared/platform/runtime/ids.ts';
import { maskNumber } from '../../../shared/platform/runtime/log.ts';
import { done, endpoint, invalid, refused, type Shown } from '../../api/endpoint.ts';
import { id, named, pageShape, success, text, time } from '../../api/shapes.ts';
import { RETRY_AFTER } from '../../http/answer.ts';
import { changeAudited } from '../../http/audited.ts';
import type { Caller } from '../../http/context.ts';
import { FieldProblems } from '../../http/field-problems.ts';
import { Fault, matching, optional, required, string } from '../../http/fields/field.ts';
import { cursorOf, limit, pageOfFound, readsPer } from '../../http/fields/query.ts';
import { request } from '../../http/fields/request.ts';
import type { Accepted } from '../../http/idempotency/action.ts';

const AccountNumber = named('AccountNumber', 'A number to which handsets may write.', {
  number: text('A long number with its country code, or a short code.', { example: '919000000001' }),
  keyword: text('Only messages that begin with this word come to you. Null: all that fit no keyword.').nullable(),
  country: text('Where customers without a country code are taken to be from.', { example: 'IN' }).nullable(),
  created_at: time(undefined, '2026-11-22T10:00:00+00:00'),
});

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
  reads: readsPer(250),
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

/** Customers who want no SMS of the account, or none of one of its numbers. */

const NUMBER = /^\d{3,15}$/;
/** International, or as dialled inside a country. */
const CUSTOMER = /^0?[1-9][0-9]{6,14}$/;

const OptOutIdText = id('opt', undefined, 'opt_01m7znjn7hdb5pft3awkb6pgvz');

const OptOut = named('OptOut', 'A recipient who gets no SMS of the account.', {
  opt_out_id: OptOutIdText,
  customer: text("The customer's number.", { example: '919876543210' }),
  number: text('Your number that it is about; null when it is about the whole account.', {
    example: '56767',
  }).nullable(),
  since: text(undefined, { format: 'date-time', example: '2026-11-22T10:00:00+00:00' }),
  source: z.enum(['inbound', 'api', 'ops', 'import']).meta({
    description: 'How we know: the customer wrote it, or it was added by this API, by the operator, or with a file.',
  }),
  word: text('What the customer wrote.', { example: 'stop' }).optional(),
});

const digits = (description: string) => optional(matching(description, NUMBER, '3 to 15 digits'));

export const optOuts = endpoint({
  id: 'optOuts',
  call: 'optOuts.list',
  method: 'get',
  path: '/v2/account/opt-outs',
  tag: 'Account',
  summary: 'Customers who opted out',
  description:
    'Extension. Customers who want no SMS of the account, or none of one of its numbers, by their numbers. A page counts as one request for each 250 of `limit`.',
  scopes: ['read', 'manage'],
  query: {
    customer: digits('One customer.'),
    number: digits('Opt-outs of this number of yours.'),
    limit,
    cursor: cursorOf('opt_outs', isOptOutPlace),
  },
  reads: readsPer(250),
  answer: pageShape('OptOutPage', OptOut, "Opt-outs, by the customers' numbers."),
  async handle({ db }, { caller, query: { customer, number, limit, cursor } }) {
    const account = caller.account._id;
    const completed = customer === undefined ? undefined : (await completionFor(db, account))(customer, number);
    const found = await listOptOuts(db, account, { customer: completed, scope: number }, cursor, limit + 1);
    return pageOfFound('opt_outs', found, limit, optOutRecord, optOutPlace);
  },
});

/** An existing entry is not changed. Keys that may send may also opt customers out. */
export const addOptOut = endpoint({
  id: 'addOptOut',
  call: 'optOuts.add',
  method: 'post',
  path: '/v2/account/opt-outs',
  tag: 'Account',
  summary: 'Opt a customer out',
  description:
    'Extension. Messages to this customer are refused within two seconds: 403 `recipient_opted_out`. A customer who is on the list already stays there as before. An account may enter 1,000,000 (`quota_reached`); an operator can import more.',
  scopes: ['send', 'manage'],
  body: request({
    customer: required(
      string(
        {
          description:
            'The customer: digits, country code first. A number as inside your country (or that of `number`) is completed: 9876543210 becomes 919876543210.',
          pattern: CUSTOMER.source,
        },
        (text) =>
          CUSTOMER.test(text)
            ? text
            : new Fault('invalid_phone', recipientProblem(text) ?? 'It must be 7 to 15 digits.'),
      ),
    ),
    number: digits('Your number that the customer wants no SMS of. Without it: no SMS of the whole account.'),
  }),
  answer: success('OptOutResult', {
    ...OptOut.shape,
    opt_out_id: id('opt', undefined, 'opt_3tq7v0e5c9rd2m8x1kz6hny4wb'),
    number: text('Your number that it is about; null when it is about the whole account.').nullable(),
    source: OptOut.shape.source.meta({ example: 'api' }),
    word: text('What the customer wrote.').optional(),
  }),
  problems: ['quota_reached'],
  examples: { body: { account: { customer: '919876543210' } } },
  newId: ({ clock }) => newId('req', clock.now().getTime()),
  action: (deps) => ({
    async act({ caller, body }, { id: request }) {
      const { db, clock } = deps;
      const { customer: written, number: scope = WHOLE_ACCOUNT } = body;
      const account = caller.account._id;
      const customer = (await completionFor(db, account))(written, scope);
      const form = recipientProblem(customer);
      const problem =
        form === undefined
          ? numberProblem(customer, caller.account)
          : ({ code: 'invalid_phone', detail: form } as const);
      if (problem !== undefined) {
        const problems = new FieldProblems();
        problems.add('customer', problem.code, problem.detail);
        return invalid(problems);
      }
      const id = optOutId(account, customer, scope);
      const stored = await changeAudited(deps, caller, {
        ...audited('opt-out.add', id, () => findOptOut(db, account, id)),
        make: async () => {
          // A customer's document stays for ever, so only the first opt-out counts.
          const isCounted = caller.who.kind !== 'ops' && !(await hasOptOutDocument(db, id));
          if (isCounted && !(await countOptOut(db, account, QUOTAS.opt_outs))) throw new QuotaReached('opt_outs');
          const source = sourceOf(caller);
          await changeOptOuts(db, [{ account, customer, scope, kind: 'out', at: clock.now(), source, request }]);
          return findOptOut(db, account, id);
        },
        madeOf: auditedState,
      });
      // The customer wrote START between the change and the read. A repeated request decides anew.
      return stored === undefined ? refused('store_unavailable', { headers: RETRY_AFTER }) : added(stored);
    },
    /** A request that changed nothing (opted out before) is done again. */
    async recover(account, id) {
      const stored = await findOptOutOf(deps.db, account, id);
      return stored && added(stored);
    },
  }),
});

function added(stored: OptOutDocument): Accepted {
  return { kind: 'accepted', body: done(optOutRecord(stored)) };
}

export const removeOptOut = endpoint({
  id: 'removeOptOut',
  call: 'optOuts.remove',
  method: 'delete',
  path: '/v2/account/opt-outs/{opt_out_id}',
  tag: 'Account',
  summary: 'Remove an opt-out',
  description: 'Extension. Only when the customer asked for messages again.',
  scopes: ['manage'],
  params: { opt_out_id: OptOutIdText.describe('Id of the opt-out, from the list.') },
  answer: success('RemovedOptOut', {
    opt_out_id: OptOutIdText,
    message: text(undefined, { example: 'The opt-out is removed.' }),
  }),
  problems: ['opt_out_not_found'],
  async handle(deps, { caller, params: { opt_out_id: id } }) {
    const { db, clock } = deps;
    const account = caller.account._id;
    const found = isOptOutId(id) ? await findOptOut(db, account, id) : undefined;
    if (found === undefined) return refused('opt_out_not_found');
    const { customer, scope } = found;
    await changeAudited(deps, caller, {
      ...audited('opt-out.remove', found._id, async () => found),
      make: () =>
        changeOptOuts(db, [{ account, customer, scope, kind: 'in', at: clock.now(), source: sourceOf(caller) }]),
      madeOf: () => auditedState(undefined),
    });
    return done({ opt_out_id: found._id, message: 'The opt-out is removed.' });
  },
});

function sourceOf({ who }: Caller): 'api' | 'ops' {
  return who.kind === 'ops' ? 'ops' : 'api';
}

/** Audited by the entry's id, so that no phone number is stored. */
function audited(action: string, id: OptOutId, find: () => Promise<OptOutDocument | undefined>) {
  return {
    action,
    subject: { kind: 'opt-out', id },
    read: async () => auditedState(await find()),
  };
}

function auditedState(found: OptOutDocument | undefined): object {
  if (found === undefined) return { out: false };
  const { customer, scope, since, source } = found;
  return { out: true, customer: maskNumber(customer), scope, since, source };
}

/** `number` is null when the opt-out is for the whole account. */
function optOutRecord(found: OptOutDocument): Shown<typeof OptOut> {
  // Both are present while the customer has opted out.
  const { _id, customer, scope, since = found.changedAt, source = 'inbound', word } = found;
  return {
    opt_out_id: _id,
    customer,
    number: scope === WHOLE_ACCOUNT ? null : scope,
    since: isoTimestamp(since),
    source,
    word,
  };
}
