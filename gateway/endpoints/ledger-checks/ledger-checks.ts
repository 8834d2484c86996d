import type { Db } from 'mongodb';
import { z } from 'zod';
import { type Clock, isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { isLedgerCheckId } from '../../../shared/platform/runtime/ids.ts';
import { done, endpoint, invalid, refused, type Shown } from '../../api/endpoint.ts';
import { named, pageShape, success, text, time, whole } from '../../api/shapes.ts';
import { optional } from '../../http/fields/field.ts';
import { cursorOf, limit } from '../../http/fields/query.ts';
import { request } from '../../http/fields/request.ts';
import { pageOfFound } from '../../http/page.ts';
import { accountId, checkAccount } from '../operators/fields.ts';
import { findCheck, type LedgerCheckDocument, ledgerChecksOf, listChecks } from './run.ts';

/** Walks through the ledgers, begun by operators. */

const CheckIdText = text(undefined, { example: 'chk_01m7znjn7hdb5pft3awkb6pgvz' });

const LedgerCheck = named('LedgerCheck', {
  ledger_check_id: CheckIdText,
  account_id: text('Null: all accounts.').nullable(),
  state: z
    .enum(['running', 'done', 'failed', 'interrupted'])
    .meta({ description: '`interrupted`: its process ended. Begin another one.' }),
  started_at: time(undefined, '2026-11-22T13:00:00+00:00'),
  ended_at: time().nullable(),
  done: whole('Accounts so far.', { example: 3 }),
  total: whole(undefined, { example: 12 }),
  entries: whole(undefined, { example: 120000 }),
  broken: z
    .array(z.strictObject({ account_id: text(), balance: whole(), problems: z.array(text()) }))
    .meta({ example: [] }),
});

export const startLedgerCheck = endpoint({
  id: 'startLedgerCheck',
  method: 'post',
  path: '/v2/admin/ledger-checks',
  tag: 'Operators',
  summary: 'Begin a ledger check',
  description:
    'Extension. Walks the ledgers of all accounts, or of one: every change of a balance is there, without a gap. The answer comes at once.',
  scopes: ['admin:money'],
  body: request({ account_id: optional(accountId('The account.')) }),
  ownProblems: true,
  answer: success('LedgerCheckResult', { ledger_check: LedgerCheck }),
  problems: ['ledger_check_running'],
  examples: { body: { example: {} } },
  async handle(gateway, call) {
    const { db, clock } = gateway;
    const checks = ledgerChecksOf(gateway);
    await checkAccount(db, call.read);
    if (call.read.problems.count > 0) return invalid(call.read.problems);
    const { running } = checks;
    if (running !== undefined) return refused('ledger_check_running', { extra: { ledger_check_id: running._id } });
    const check = await checks.begin(call.body.account_id);
    return done({ ledger_check: checkRecord(check, clock.now()) });
  },
});

export const listLedgerChecks = endpoint({
  id: 'ledgerChecks',
  method: 'get',
  path: '/v2/admin/ledger-checks',
  tag: 'Operators',
  summary: 'Ledger checks',
  description: 'Extension. The newest first.',
  scopes: ['admin:read'],
  query: { limit, cursor: cursorOf('ledger_checks', isLedgerCheckId) },
  answer: pageShape('LedgerCheckPage', LedgerCheck),
  async handle({ db, clock }, { query: { limit, cursor } }) {
    const found = await listChecks(db, limit + 1, cursor);
    return pageOfFound('ledger_checks', found, limit, (check) => checkRecord(check, clock.now()));
  },
});

/** The newest checks, as the stream tells of them. */
export async function readLedgerChecks(db: Db, clock: Clock): Promise<object> {
  return { data: (await listChecks(db, TOLD)).map((check) => checkRecord(check, clock.now())) };
}

const TOLD = 10;

export const showLedgerCheck = endpoint({
  id: 'ledgerCheck',
  method: 'get',
  path: '/v2/admin/ledger-checks/{ledger_check_id}',
  tag: 'Operators',
  summary: 'One ledger check',
  description: 'Extension. How far it is, and what it found.',
  scopes: ['admin:read'],
  params: { ledger_check_id: CheckIdText.describe('The check.') },
  answer: LedgerCheck,
  problems: ['ledger_check_not_found'],
  async handle({ db, clock }, { params: { ledger_check_id: id } }) {
    const found = isLedgerCheckId(id) ? await findCheck(db, id) : undefined;
    return found === undefined ? refused('ledger_check_not_found') : checkRecord(found, clock.now());
  },
});

/** Far longer than one account takes. */
const STALLED_MS = 5 * 60_000;

function checkRecord(check: LedgerCheckDocument, now: Date): Shown<typeof LedgerCheck> {
  const { _id, account, state, startedAt, at, done, total, entries, broken } = check;
  const stalled = state === 'running' && now.getTime() - at.getTime() > STALLED_MS;
  return {
    ledger_check_id: _id,
    account_id: account ?? null,
    state: stalled ? 'interrupted' : state,
    started_at: isoTimestamp(startedAt),
    ended_at: state === 'running' ? null : isoTimestamp(at),
    done,
    total,
    entries,
    broken: broken.map((one) => ({ account_id: one.account, balance: one.balance, problems: one.problems })),
  };
}
