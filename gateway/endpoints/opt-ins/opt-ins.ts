import { z } from 'zod';
import { addOptIns, listOptIns, removeOptIn } from '../../../shared/carriers/chat-opt-in-store.ts';
import { completionFor } from '../../../shared/carriers/numbers/store.ts';
import { CUSTOMER_FORM, customerProblem } from '../../../shared/messages/document/recipient.ts';
import { readPerson } from '../../../shared/money/conversations/person.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { done, endpoint, invalid, refused } from '../../api/endpoint.ts';
import { pageShape, success, text, time, whole } from '../../api/shapes.ts';
import { changeAudited } from '../../http/audited.ts';
import { longList, required, string } from '../../http/fields/field.ts';
import { cursorOf, limit, pageOf } from '../../http/fields/query.ts';
import { request } from '../../http/fields/request.ts';
import { ACCOUNT_REFUSALS, accountOf, openAccountOf } from '../accounts/account.ts';
import { ACCOUNT_IN_PATH, AccountIdText } from '../operators/fields.ts';
import { customerOf } from './customer.ts';

/** Customers who agreed to get an account's templates. Enforced for numbers with `opt_in: list`. */

const Customer = text('A number, or the user id of one who shows none.', { example: '919876543210' });

export const optIns = endpoint({
  id: 'operatorOptIns',
  method: 'get',
  path: '/v2/admin/accounts/{account_id}/opt-ins',
  tag: 'Operators',
  summary: 'Who opted in on the chat-app channel',
  description: 'Extension. By number. Counts where the provider has `opt_in: list`; it may be filled before that.',
  scopes: ['admin:read'],
  params: ACCOUNT_IN_PATH,
  query: { limit, cursor: cursorOf('opt-ins', (text): text is string => CUSTOMER_FORM.test(text)) },
  answer: pageShape(
    'OperatorOptInPage',
    z.strictObject({ customer: Customer, since: time(undefined, '2026-11-22T10:00:00+00:00') }),
  ),
  problems: ['account_not_found'],
  async handle({ db }, { params, query: { limit, cursor } }) {
    const account = await accountOf(db, params.account_id);
    if (account === undefined) return refused('account_not_found');
    const found = await listOptIns(db, account._id, limit + 1, cursor);
    const page = found.slice(0, limit).map(({ customer, at }) => ({ customer, since: isoTimestamp(at) }));
    return pageOf('opt-ins', page, found.length > limit ? page.at(-1)?.customer : undefined);
  },
});

const CUSTOMERS_MAX = 10_000;

export const addToOptIns = endpoint({
  id: 'addOptIns',
  method: 'post',
  path: '/v2/admin/accounts/{account_id}/opt-ins',
  tag: 'Operators',
  summary: 'Add customers to the opt-in list',
  description:
    'Extension. Numbers as people write them; those as inside the account’s country are completed. If one is wrong, none is added. May be repeated: who is on the list stays as they are.',
  scopes: ['admin:support'],
  params: ACCOUNT_IN_PATH,
  bodyMax: 'bulk',
  body: request({
    customers: required(
      longList(
        string({ description: 'A number, or a user id.', maxLength: 140 }, (text) => text),
        { description: 'Customers who agreed.', minItems: 1, maxItems: CUSTOMERS_MAX },
      ),
    ),
  }),
  answer: success('AddedOptIns', {
    account_id: AccountIdText,
    added: whole('How many are new.', { example: 2 }),
    known: whole('How many were on the list, or are given twice.', { example: 0 }),
  }),
  problems: ACCOUNT_REFUSALS,
  examples: { body: { example: { customers: ['919876543210', '+91 98765 43211'] } } },
  async handle(deps, { requester, params, body, read: { problems } }) {
    const { db, clock } = deps;
    const account = await openAccountOf(db, params.account_id);
    if ('kind' in account) return account;
    const { _id: id } = account;
    const complete = await completionFor(db, id);
    const customers = body.customers.map((written, index) => {
      const read = customerOf(written);
      const customer = /^[0-9]+$/.test(read) ? complete(read) : read;
      const detail = customerProblem(customer);
      if (detail !== undefined) problems.add(`customers[${index}]`, 'invalid_phone', detail);
      return customer;
    });
    if (problems.count > 0) return invalid(problems);
    const known = (added: number) => customers.length - added;
    const added = await changeAudited(deps, requester, {
      action: 'opt-in.add',
      subject: { kind: 'opt-in', id },
      account: id,
      make: () => addOptIns(db, clock, id, customers),
      madeOf: (added) => ({ added, known: known(added) }),
    });
    return done({ account_id: id, added, known: known(added) });
  },
});

export const takeOptIn = endpoint({
  id: 'removeOptIn',
  method: 'delete',
  path: '/v2/admin/accounts/{account_id}/opt-ins/{customer}',
  tag: 'Operators',
  summary: 'Take a customer off the opt-in list',
  description: 'Extension. Templates to this customer are refused from now on, under whichever name.',
  scopes: ['admin:support'],
  params: { ...ACCOUNT_IN_PATH, customer: Customer.describe('The customer.') },
  answer: success('RemovedOptIn', { account_id: AccountIdText, customer: Customer }),
  problems: [...ACCOUNT_REFUSALS, 'opt_in_not_found'],
  async handle(deps, { requester, params: { account_id, customer } }) {
    const { db } = deps;
    const account = await openAccountOf(db, account_id);
    if ('kind' in account) return account;
    const { _id: id } = account;
    const { names } = await readPerson(db, id, customer);
    const isRemoved = await changeAudited(deps, requester, {
      action: 'opt-in.remove',
      subject: { kind: 'opt-in', id },
      account: id,
      make: () => removeOptIn(db, id, names),
      madeOf: (removed) => (removed ? { removed: 1 } : undefined),
    });
    return isRemoved ? done({ account_id: id, customer }) : refused('opt_in_not_found');
  },
});
