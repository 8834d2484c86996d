import { z } from 'zod';
import { CTA_KINDS } from '../../../shared/carriers/cta.ts';
import { findAccounts } from '../../../shared/money/accounts/store.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { type AccountId, isAccountId } from '../../../shared/platform/runtime/ids.ts';
import { type AgePlace, readTurns, readWaitingOf, type Waiting } from '../../../shared/templates/sms/approval-queue.ts';
import { endpoint, invalid, type Shown } from '../../api/endpoint.ts';
import { id, named, pageShape, text, time, whole } from '../../api/shapes.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { FieldProblems } from '../../http/field-problems.ts';
import { optional } from '../../http/fields/field.ts';
import { cursorOf, limit, pageOf, pageOfFound } from '../../http/fields/query.ts';
import type { Refused } from '../../http/idempotency/action.ts';
import { AccountTemplate, templateRecord } from '../account-templates/templates.ts';
import { AccountIdText, accountId } from '../operators/fields.ts';

/** Senders, CTAs and DLT templates that wait for a decision. The decision itself: decisions.ts. */

const Approval = named('Approval', 'What an account asked for and operators have to decide.', {
  kind: z.enum(['sender', 'cta', 'template']).meta({ example: 'template' }),
  account_id: AccountIdText,
  account_name: text(undefined, { example: 'Asha Stores' }),
  account_waiting: whole('How many things of this account wait, this one included. Counted up to 1,000 of each kind.', {
    example: 1,
  }),
  requested_at: time(undefined, '2026-11-22T10:00:00+00:00'),
  sender: z.strictObject({ sender_id: id('snd'), sender: text(), routes: z.array(text()) }).optional(),
  cta: z.strictObject({ cta_id: id('cta'), kind: z.enum(CTA_KINDS), value: text() }).optional(),
  template: AccountTemplate.meta({
    example: {
      template_id: 'tpr_01m7znjn7hdb5pft3awkb6pgvz',
      dlt_id: null,
      name: 'Order update',
      state: 'requested',
      reason: null,
      paused: false,
      senders: ['HARKRA'],
      routes: ['transactional'],
      category: null,
      content: 'Your order {#var#} has left.',
      entity_id: null,
      version: '0123456789ab',
      requested_at: '2026-11-22T10:00:00+00:00',
      decided_at: null,
    },
  }).optional(),
});

export const approvals = endpoint({
  id: 'approvals',
  method: 'get',
  path: '/v2/admin/approvals',
  tag: 'Operators',
  summary: 'What waits for a decision',
  description:
    "Extension. Senders, links and numbers (CTAs), and DLT templates that accounts asked for. Each account is shown once, with the oldest three that wait and how many wait in all (`account_waiting`), so that one that asks for thousands hides nobody. Pages go by the accounts' ids; on a page the account that has waited longest comes first. With `account_id` all of that account, oldest first.",
  scopes: ['admin:read'],
  query: {
    account_id: optional(accountId('All that this account waits for.')),
    limit,
    cursor: cursorOf('approvals', isPlace),
  },
  answer: pageShape('ApprovalPage', Approval),
  async handle(deps, { query: { account_id: account, limit, cursor } }) {
    if (account === undefined) {
      return cursor === undefined || isAccountId(cursor) ? inTurn(deps, cursor, limit) : ofOtherList();
    }
    return cursor === undefined || !isAccountId(cursor) ? ofAccount(deps, account, cursor, limit) : ofOtherList();
  },
});

/** The last account of a page; for one account the last thing, by its time in milliseconds and its id. */
type Place = AccountId | AgeText;
type AgeText = `${number}:${string}`;

function isPlace(text: string): text is Place {
  return isAccountId(text) || /^\d{1,15}:[\w:]{1,80}$/.test(text);
}

function ofOtherList(): Refused {
  const problems = new FieldProblems();
  problems.add('cursor', 'invalid_value', 'It must be the `next_cursor` of an earlier page of this list.');
  return invalid(problems);
}

type Deps = Pick<GatewayDeps, 'db' | 'clock'>;

async function inTurn({ db, clock }: Deps, after: AccountId | undefined, limit: number) {
  const { turns, next } = await readTurns(db, clock, 'all', after, limit);
  const accounts = await findAccounts(
    db,
    turns.map(({ account }) => account),
  );
  const names = new Map(accounts.map(({ _id, name }) => [_id, name]));
  const data = turns.flatMap(({ account, oldest, waiting }) =>
    oldest.map((one) => approvalRecord(one, names.get(account) ?? '', waiting)),
  );
  return pageOf('approvals', data, next);
}

async function ofAccount({ db, clock }: Deps, account: AccountId, after: AgeText | undefined, limit: number) {
  const { found, waiting } = await readWaitingOf(db, clock, 'all', account, after && placeOf(after), limit + 1);
  const [{ name = '' } = {}] = await findAccounts(db, [account]);
  const record = (one: Waiting) => approvalRecord(one, name, waiting);
  return pageOfFound('approvals', found, limit, record, (last) => `${last.createdAt.getTime()}:${last._id}`);
}

function placeOf(text: AgeText): AgePlace {
  const colon = text.indexOf(':');
  return { at: new Date(Number(text.slice(0, colon))), id: text.slice(colon + 1) };
}

function approvalRecord(one: Waiting, name: string, waiting: number): Shown<typeof Approval> {
  const about = {
    account_id: one.account,
    account_name: name,
    account_waiting: waiting,
    requested_at: isoTimestamp(one.createdAt),
  };
  if ('sender' in one) {
    return { kind: 'sender', ...about, sender: { sender_id: one._id, sender: one.sender, routes: one.routes } };
  }
  if ('value' in one) return { kind: 'cta', ...about, cta: { cta_id: one._id, kind: one.kind, value: one.value } };
  return { kind: 'template', ...about, template: templateRecord(one) };
}
