import type { Db } from 'mongodb';
import { z } from 'zod';
import { EXEMPTIONS } from '../../../shared/carriers/opt-outs/store.ts';
import { providerCondition } from '../../../shared/carriers/providers/provider.ts';
import { providersOf } from '../../../shared/carriers/providers/store.ts';
import { listApprovedNames, listSenderPage } from '../../../shared/carriers/sender.ts';
import { type AccountDocument, type Closed, TEXTS } from '../../../shared/money/accounts/account.ts';
import { homeOf } from '../../../shared/money/accounts/number-check.ts';
import { findAccount, REMAINING } from '../../../shared/money/accounts/store.ts';
import { REQUESTS_PER_MINUTE } from '../../../shared/people/keys/key.ts';
import { listLiveKeys } from '../../../shared/people/keys/store.ts';
import { countUsers } from '../../../shared/people/users/store.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { isAccountId } from '../../../shared/platform/runtime/ids.ts';
import { hasApproved } from '../../../shared/templates/sms/store.ts';
import { refused, type Shown } from '../../api/endpoint.ts';
import { flag, named, text, time, whole } from '../../api/shapes.ts';
import type { Refused } from '../../http/idempotency/action.ts';
import type { ProblemSlug } from '../../http/problem.ts';
import { AccountIdText } from '../operators/fields.ts';
import { BillingShape, billingRecord } from './own-settings.ts';

/** What operators may set. Closing has its own endpoint. */
export const SET_STATUSES = ['active', 'paused', 'suspended'] as const;
export const STATUSES = [...SET_STATUSES, 'closed'] as const;

export const OperatorAccount = named('OperatorAccount', 'An account, as lists show it.', {
  account_id: AccountIdText,
  name: text(undefined, { example: 'Asha Stores' }),
  status: z.enum(STATUSES).meta({
    description: '`suspended`: its sends are refused. `paused`: they are accepted, and wait. `closed`: for good.',
  }),
  balance: whole('Credits.', { minimum: 0, example: 4200 }),
  currency: text(undefined, { example: 'INR' }),
  expiry_date: text(undefined, { format: 'date', example: '2027-11-22' }),
  created_at: time(undefined, '2026-11-22T10:00:00+00:00'),
});

const ClosedAccount = z
  .strictObject({
    at: time(undefined, '2026-11-22T10:00:00+00:00'),
    by: text(undefined, { example: 'user usr_01m7znjn7hdb5pft3awkb6pgvz' }),
    reason: text(undefined, { example: 'Contract ended on 30 November' }),
    remaining: z.enum(REMAINING).meta({ description: 'What became of the credits that were left.' }),
    settled_at: time('When the rest of its credits was taken; null while something waits.').nullable(),
    erased_at: time('When all that was stored of it was erased.').nullable(),
  })
  .meta({ id: 'ClosedAccount', description: 'Of an account that is closed.' });

const OperatorAccountSettings = named('OperatorAccountSettings', 'What operators set for an account.', {
  senders: z.enum(['any', 'registered']).meta({ example: 'registered' }),
  dlt: z.enum(['on', 'off']),
  entity_id: text(undefined, { example: '1101456789012345678' }).nullable(),
  number_check: z.enum(['off', 'on', 'mobile']).meta({ example: 'on' }),
  cta_check: z.enum(['off', 'warn', 'refuse']).meta({ example: 'off' }),
  country: text(undefined, { example: 'IN' }).nullable(),
  line_breaks: z.enum(['any', 'exact']),
  key_per_minute: whole('Most requests a minute of a key that it makes itself.', { example: 1000 }),
  log: z.enum(['unusual', 'all']),
  opt_out_exempt: z.array(z.enum(EXEMPTIONS)),
  message_days: whole('How many days its messages are kept. Null: as long as all others.', { minimum: 14 }).nullable(),
  message_texts: z.enum(TEXTS),
  billing: BillingShape,
});

export const NewOperatorAccount = named('NewOperatorAccount', 'The account that was made.', {
  ...OperatorAccount.shape,
  settings: OperatorAccountSettings,
  closed: ClosedAccount.nullable(),
});

export const OperatorAccountDetail = named('OperatorAccountDetail', {
  ...NewOperatorAccount.shape,
  missing_to_send: z
    .array(z.enum(['entity_id', 'sender', 'template']))
    .meta({ description: 'Without these every send is refused.' }),
  keys: z
    .strictObject({ active: whole(undefined, { example: 2 }) })
    .meta({ description: 'How many keys it has, and how many of them work. Each is counted up to 10,000.' }),
  users: whole(undefined, { example: 2 }),
  senders: z.array(
    z.strictObject({
      sender: text(undefined, { example: 'HARKRA' }),
      status: z.enum(['approved', 'submitted', 'rejected']),
      routes: z.array(text()).meta({ example: ['transactional'] }),
      reason: text().nullable(),
    }),
  ),
  senders_more: flag('It has more senders than the 500 that are shown.'),
  chatapp: z
    .array(
      z.strictObject({
        number: text(undefined, { example: '919000000001' }),
        condition: text('`active`, `paused`, `stopped` or `failing`.', { example: 'active' }),
      }),
    )
    .meta({ description: 'Its chat-app numbers with their states, the default first.' }),
});

export async function accountOf(db: Db, id: string): Promise<AccountDocument | undefined> {
  return isAccountId(id) ? findAccount(db, id) : undefined;
}

export const ACCOUNT_REFUSALS = ['account_not_found', 'account_closed'] as const satisfies readonly ProblemSlug[];

/** The account for a change of it, or a refusal. Closed accounts do not change. */
export async function openAccountOf(db: Db, id: string): Promise<AccountDocument | Refused> {
  const account = await accountOf(db, id);
  if (account === undefined) return refused('account_not_found');
  return account.status === 'closed' ? refused('account_closed') : account;
}

/** `paused`: its sends are accepted and wait. */
export function statusOf({ status, held }: AccountDocument): (typeof STATUSES)[number] {
  return status === 'active' && held === true ? 'paused' : status;
}

export function accountRecord(account: AccountDocument): Shown<typeof OperatorAccount> {
  return {
    account_id: account._id,
    name: account.name,
    status: statusOf(account),
    balance: account.balance,
    currency: account.currency,
    expiry_date: account.expiryDate,
    created_at: isoTimestamp(account.createdAt),
  };
}

export function newAccountRecord(account: AccountDocument): Shown<typeof NewOperatorAccount> {
  const settings: Shown<typeof OperatorAccountSettings> = {
    senders: account.senders,
    dlt: account.dlt ?? 'off',
    entity_id: account.entityId ?? null,
    number_check: account.numberCheck ?? 'off',
    cta_check: account.ctaCheck ?? 'off',
    country: homeOf(account) ?? null,
    line_breaks: account.lineBreaks ?? 'any',
    key_per_minute: account.keyPerMinute ?? REQUESTS_PER_MINUTE,
    log: account.log ?? 'unusual',
    opt_out_exempt: account.optOutExempt ?? [],
    message_days: account.messageDays ?? null,
    message_texts: account.texts ?? 'shown',
    billing: billingRecord(account),
  };
  return { ...accountRecord(account), settings, closed: account.closed ? closedRecord(account.closed) : null };
}

function closedRecord({ at, by, reason, remaining, settledAt, erasedAt }: Closed): Shown<typeof ClosedAccount> {
  return {
    ...{ at: isoTimestamp(at), by, reason, remaining },
    settled_at: settledAt === undefined ? null : isoTimestamp(settledAt),
    erased_at: erasedAt === undefined ? null : isoTimestamp(erasedAt),
  };
}

const SENDERS_SHOWN = 500;
const MISSING = { 'PE id': 'entity_id', sender: 'sender', template: 'template' } as const;

export async function accountDetail(
  db: Db,
  account: AccountDocument,
  now: Date,
): Promise<Shown<typeof OperatorAccountDetail>> {
  const id = account._id;
  const [working, users, senders, numbers, missing] = await Promise.all([
    listLiveKeys(db, id, now),
    countUsers(db, id),
    listSenderPage(db, id, '', SENDERS_SHOWN + 1),
    providersOf(db, [id]),
    missingToSend(db, account),
  ]);
  return {
    ...newAccountRecord(account),
    missing_to_send: missing.map((what) => MISSING[what]),
    keys: { active: working.length },
    users,
    senders: senders
      .slice(0, SENDERS_SHOWN)
      .map(({ sender, status, routes, reason }) => ({ sender, status, routes, reason: reason ?? null })),
    senders_more: senders.length > SENDERS_SHOWN,
    chatapp: numbers.map((one) => ({ number: one._id, condition: providerCondition(one) })),
  };
}

type Missing = 'PE id' | 'sender' | 'template';

/** What the account still lacks before it can send. Credits are shown elsewhere. */
async function missingToSend(db: Db, { _id, dlt, entityId, senders }: AccountDocument): Promise<readonly Missing[]> {
  const underDlt = dlt === 'on';
  if (!underDlt && senders === 'any') return [];
  const approved = await listApprovedNames(db, _id);
  const missing: Missing[] = [];
  // A template may name the PE id of another business.
  if (underDlt && entityId === undefined && !(await hasApproved(db, _id, { entityId: { $exists: true } }))) {
    missing.push('PE id');
  }
  if (approved.length === 0) missing.push('sender');
  if (underDlt && !(await hasApproved(db, _id, { senders: { $in: approved } }))) missing.push('template');
  return missing;
}
