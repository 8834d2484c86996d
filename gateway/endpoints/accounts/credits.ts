import { createHash } from 'node:crypto';
import { z } from 'zod';
import { findAccount } from '../../../shared/money/accounts/store.ts';
import { BalanceTooLow, changeCredits, creditChange } from '../../../shared/money/ledger/change.ts';
import { isApplied } from '../../../shared/money/ledger/store.ts';
import { newId } from '../../../shared/platform/runtime/ids.ts';
import { done, endpoint, invalid, refused, WithHeaders } from '../../api/endpoint.ts';
import { named, pageShape, success, text, whole } from '../../api/shapes.ts';
import { changeAudited } from '../../http/audited.ts';
import { choice, Fault, number, required } from '../../http/fields/field.ts';
import { cursorOf, limit, pageOf } from '../../http/fields/query.ts';
import { request } from '../../http/fields/request.ts';
import { parseIdempotencyKey } from '../../http/idempotency/once.ts';
import { peopleNames } from '../audit/list-entries.ts';
import { entryRecord, isSeq, LedgerEntry, listLedger } from '../ledger/ledger.ts';
import { readLinks } from '../ledger/links.ts';
import { ACCOUNT_IN_PATH, AccountIdText, line } from '../operators/fields.ts';
import { ACCOUNT_REFUSALS, accountOf, openAccountOf } from './account.ts';

const CREDIT_KINDS = ['top_up', 'correction'] as const;
/** Far above any real top-up, and sums stay exact in a double. */
const AMOUNT_MAX = 1_000_000_000_000;

const amount = number(
  {
    type: 'integer',
    description: 'Credits. A `correction` may be negative, but never below the balance.',
    minimum: -AMOUNT_MAX,
    maximum: AMOUNT_MAX,
  },
  (value) =>
    Number.isInteger(value) && value !== 0 && Math.abs(value) <= AMOUNT_MAX
      ? undefined
      : new Fault('out_of_range', `It must be a whole number, not 0, of at most ${AMOUNT_MAX}.`),
);

/** The Idempotency-Key is the credit's id, like `--id` of `ops credits`. */
export const creditAccount = endpoint({
  id: 'creditAccount',
  method: 'post',
  path: '/v2/admin/accounts/{account_id}/credits',
  tag: 'Operators',
  summary: 'Top up or correct credits',
  description:
    'Extension. An Idempotency-Key is the id of the credit: the account gets a credit with this id once, however long ago the first request was. The reason and the operator stand in the ledger and in the audit.',
  scopes: ['admin:money'],
  confirmed: true,
  params: ACCOUNT_IN_PATH,
  ownIdempotency: true,
  body: request(
    {
      kind: required(choice(CREDIT_KINDS, '`correction` puts a mistake right.')),
      amount: required(amount),
      reason: required(line('Why. The account reads it in its statement.', 200)),
    },
    [],
    [
      ({ kind, amount }, _has, problems) => {
        if (kind === 'top_up' && amount !== undefined && amount < 0) {
          problems.add('amount', 'out_of_range', 'A top-up adds credits. To take credits away, make a correction.');
        }
      },
    ],
  ),
  ownProblems: true,
  answer: success('OperatorCreditResult', {
    account_id: AccountIdText,
    credit_id: text('The Idempotency-Key, or a new id.', { example: 'invoice-7' }),
    kind: z.enum(CREDIT_KINDS),
    amount: whole(undefined, { example: 5000 }),
    reason: text(undefined, { example: 'Invoice 7, paid on 22 November' }),
    balance: whole(undefined, { minimum: 0, example: 9200 }),
  }),
  problems: [...ACCOUNT_REFUSALS, 'idempotency_key_reused'],
  examples: { body: { example: { kind: 'top_up', amount: 5000, reason: 'Invoice 7, paid on 22 November' } } },
  async handle(deps, call) {
    const { db, clock } = deps;
    const { requester, params } = call;
    const { problems } = call.read;
    const header = call.header('idempotency-key');
    const id = header === undefined ? newId('top', clock.now().getTime()).slice(4) : creditId(header);
    if (id === undefined) {
      problems.add('Idempotency-Key', 'invalid_value', 'It must have 1 to 255 visible ASCII characters.');
    }
    if (problems.count > 0 || id === undefined) return invalid(problems);
    const account = await openAccountOf(db, params.account_id);
    if ('kind' in account) return account;
    const { kind, amount, reason } = call.body;
    const by = `${requester.who.kind} ${requester.who.id}`;
    const apply = () => changeCredits(db, account._id, { kind, amount, id, note: reason, by });
    try {
      // A repeated request changes nothing, so the audit keeps its entry of the first.
      const isRepeated = await isApplied(db, account._id, creditChange(id));
      const applied = await (isRepeated
        ? apply()
        : changeAudited(deps, requester, {
            action: kind === 'top_up' ? 'credits.top-up' : 'credits.correct',
            subject: { kind: 'credits', id: account._id },
            account: account._id,
            apart: id,
            read: async () => ({ balance: (await findAccount(db, account._id))?.balance }),
            make: apply,
            madeOf: (made) =>
              made.kind === 'reused' ? undefined : { balance: made.balance, amount, reason, credit: id },
            isRefusal: (error) => error instanceof BalanceTooLow,
          }));
      if (applied.kind === 'reused') return refused('idempotency_key_reused');
      const { balance } = applied;
      const answer = done({ account_id: account._id, credit_id: id, kind, amount, reason, balance });
      return applied.kind === 'already' ? new WithHeaders(answer, ['Idempotency-Replayed', 'true']) : answer;
    } catch (error) {
      if (!(error instanceof BalanceTooLow)) throw error;
      problems.add('amount', 'out_of_range', `The account has ${error.balance} credits. Take at most these.`);
      return invalid(problems);
    }
  },
});

/** Becomes part of a field name in the account document: no dot, no dollar. */
const PLAIN_ID = /^[A-Za-z0-9_-]{1,64}$/;

function creditId(header: string): string | undefined {
  const key = parseIdempotencyKey(header);
  if (key === undefined || PLAIN_ID.test(key)) return key;
  return createHash('sha256').update(key).digest('base64url');
}

const OperatorLedgerEntry = named('OperatorLedgerEntry', 'One change of the balance, as operators see it.', {
  ...LedgerEntry.shape,
  by: text('The operator: `user usr_…`, `key …` or `ops name@host`. The account does not see it.', {
    example: 'user usr_01m7znjn7hdb5pft3awkb6pgvz',
  }).nullable(),
  by_name: text('How the user or key is called.', { example: 'Asha' }).nullable(),
});

export const accountLedger = endpoint({
  id: 'operatorLedger',
  method: 'get',
  path: '/v2/admin/accounts/{account_id}/ledger',
  tag: 'Operators',
  summary: "An account's statement",
  description: 'Extension. Every change of its balance, newest first, with the operator who made it.',
  scopes: ['admin:read'],
  params: ACCOUNT_IN_PATH,
  query: { limit, cursor: cursorOf('ledger', isSeq) },
  answer: pageShape('OperatorLedgerPage', OperatorLedgerEntry),
  problems: ['account_not_found'],
  async handle({ db }, { params, query: { limit, cursor } }) {
    const account = await accountOf(db, params.account_id);
    if (account === undefined) return refused('account_not_found');
    const before = cursor === undefined ? undefined : Number(cursor);
    const { entries, next } = await listLedger(db, account._id, {}, before, limit);
    const [links, names] = await Promise.all([
      readLinks(db, account._id, entries),
      peopleNames(
        db,
        entries.flatMap(({ by }) => by ?? []),
      ),
    ]);
    const records = entries.map((entry) => ({
      ...entryRecord(entry, links.get(entry.seq)),
      by: entry.by ?? null,
      by_name: names.get(entry.by ?? '') ?? null,
    }));
    return pageOf('ledger', records, next === undefined ? undefined : String(next));
  },
});
