import type { Filter } from 'mongodb';
import { z } from 'zod';
import { EXEMPTIONS } from '../../../shared/carriers/opt-outs/store.ts';
import {
  type AccountDocument,
  accountInAudit,
  defaultExpiry,
  dltIdDoubt,
} from '../../../shared/money/accounts/account.ts';
import {
  type AccountChanges,
  closeAccount,
  createAccount,
  findAccount,
  LIVE,
  pauseAccount,
  REMAINING,
  setAccountStatus,
  updateAccount,
} from '../../../shared/money/accounts/store.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import { isAccountId, newId } from '../../../shared/platform/runtime/ids.ts';
import { scopeMissing } from '../../access/scopes.ts';
import { done, endpoint, invalid, refused } from '../../api/endpoint.ts';
import { pageShape, success, text } from '../../api/shapes.ts';
import { changeAudited } from '../../http/audited.ts';
import {
  choice,
  Fault,
  list,
  number,
  optional,
  otherwise,
  required,
  string,
  withDefault,
} from '../../http/fields/field.ts';
import { cursorOf, limit, pageOfFound } from '../../http/fields/query.ts';
import { request } from '../../http/fields/request.ts';
import { type Accepted, refusedLate } from '../../http/idempotency/action.ts';
import { ACCOUNT_IN_PATH, country, currency, entityId, expiryDate, line, reason } from '../operators/fields.ts';
import {
  ACCOUNT_REFUSALS,
  accountDetail,
  accountOf,
  accountRecord,
  NewOperatorAccount,
  newAccountRecord,
  OperatorAccount,
  OperatorAccountDetail,
  openAccountOf,
  SET_STATUSES,
  STATUSES,
  statusOf,
} from './account.ts';
import { billing, messageTexts } from './own-settings.ts';

/** Accounts, made and changed by operators. Their credits: credits.ts. */

const SEARCH_MAX = 100;
const IDS_MAX = 100;
const OF_STATUS = {
  active: { status: 'active', held: { $ne: true } },
  paused: { status: 'active', held: true },
  suspended: { status: 'suspended' },
  closed: { status: 'closed' },
} as const satisfies Readonly<Record<(typeof STATUSES)[number], Filter<AccountDocument>>>;

/** Walks the accounts by id; an installation has thousands at most. */
export const listAccounts = endpoint({
  id: 'operatorAccounts',
  method: 'get',
  path: '/v2/admin/accounts',
  tag: 'Operators',
  summary: 'Accounts',
  description: 'Extension. All accounts, newest first.',
  scopes: ['admin:read', 'admin:look'],
  query: {
    search: optional(
      string(
        { description: 'A part of the name, or the beginning of the id.', maxLength: SEARCH_MAX },
        // No name has a NUL character, and patterns of the store must not.
        (text) =>
          text.length > SEARCH_MAX
            ? new Fault('too_long', `It must have at most ${SEARCH_MAX} characters.`)
            : text.includes('\0')
              ? new Fault('invalid_text', 'It must have no NUL character.')
              : text,
      ),
    ),
    status: optional(choice(STATUSES, 'Only of this status.')),
    ids: optional(
      string({ description: `Only these, up to ${IDS_MAX} with commas: their names for a list of ids.` }, (text) => {
        const ids = text.split(',');
        if (ids.length > IDS_MAX) return new Fault('too_long', `It must have at most ${IDS_MAX} ids.`);
        return ids.every(isAccountId) ? ids : new Fault('invalid_value', 'It must be account ids with commas.');
      }),
    ),
    limit,
    cursor: cursorOf('accounts', isAccountId),
  },
  answer: pageShape('OperatorAccountPage', OperatorAccount),
  async handle({ db }, { query: { search = '', status, ids, limit, cursor } }) {
    const filter: Filter<AccountDocument> = {
      ...LIVE,
      ...((cursor ?? ids) && { _id: { ...(cursor && { $lt: cursor }), ...(ids && { $in: ids }) } }),
      ...(status && OF_STATUS[status]),
      ...(search !== '' && { $or: matches(search) }),
    };
    const found = await db
      .collection<AccountDocument>('accounts')
      .find(filter, { projection: { pending: 0 } })
      .sort({ _id: -1 })
      .limit(limit + 1)
      .toArray();
    return pageOfFound('accounts', found, limit, accountRecord);
  },
});

function matches(search: string): Filter<AccountDocument>[] {
  const literal = search.trim().replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  return [{ name: { $regex: literal, $options: 'i' } }, { _id: { $regex: `^${literal}` } }];
}

const NAME = line('What people call it.', 100);
const SENDERS = choice(
  ['any', 'registered'],
  '`registered`: only senders that are registered to the account and approved.',
);
const DLT = choice(
  ['on', 'off'],
  "India's DLT: senders must be registered, texts must match approved templates. `on` brings `senders` registered, `number_check` on and the country IN, unless the request says otherwise.",
);
const NUMBER_CHECK = choice(
  ['off', 'on', 'mobile'],
  "`on`: recipients must be numbers of their country's plan. `mobile`: they must be mobile numbers too.",
);

const CTA_CHECK = choice(
  ['off', 'warn', 'refuse'],
  'Links, apps and callback numbers in texts that the account has not registered (`/v2/account/ctas`). `warn`: a dry run and the page of the message name them. `refuse`: such a text is refused, and costs nothing.',
);

const WARNINGS = { warnings: z.array(text()).meta({ description: 'What should be looked at again.' }).optional() };

export const newAccount = endpoint({
  id: 'createAccount',
  method: 'post',
  path: '/v2/admin/accounts',
  tag: 'Operators',
  summary: 'Create an account',
  description: 'Extension. It has no credits yet.',
  scopes: ['admin:support'],
  confirmed: true,
  body: request({
    name: required(NAME),
    currency: withDefault(currency, 'INR'),
    expiry_date: otherwise(expiryDate, ({ now }) => defaultExpiry(now)),
    senders: withDefault(SENDERS, 'registered'),
    dlt: withDefault(DLT, 'off'),
    entity_id: optional(entityId),
    number_check: optional(NUMBER_CHECK),
    country: optional(country),
  }),
  answer: success('NewOperatorAccountResult', { account: NewOperatorAccount, ...WARNINGS }),
  examples: {
    body: { example: { name: 'Asha Stores', dlt: 'on', entity_id: '1101456789012345678', number_check: 'on' } },
  },
  newId: ({ clock }) => newId('acc', clock.now().getTime()),
  action: (deps) => ({
    async act({ requester, body }, { id, payBy }) {
      const { db, clock } = deps;
      const { name, currency, expiry_date, senders, dlt, entity_id, number_check, country } = body;
      const given = { name, currency, expiryDate: expiry_date, senders, dlt, entityId: entity_id, country };
      const check = number_check ?? (dlt === 'on' ? 'on' : 'off');
      const numberCheck = check === 'off' ? undefined : check;
      const late = refusedLate(clock, payBy);
      if (late !== undefined) return late;
      const made = await changeAudited(deps, requester, {
        action: 'account.create',
        subject: { kind: 'account', id },
        account: id,
        make: () => createAccount(db, clock, { ...given, numberCheck }, id),
        madeOf: (account) => account,
      });
      return created(made);
    },
    async recover(_owner, id) {
      const made = await findAccount(deps.db, id);
      return made && created(made);
    },
  }),
});

function created(account: AccountDocument): Accepted {
  return { kind: 'accepted', body: done({ account: newAccountRecord(account), ...warningsOf(account) }) };
}

function warningsOf({ entityId }: Pick<AccountDocument, 'entityId'>): { readonly warnings?: string[] } {
  const doubt = dltIdDoubt('The PE id', entityId);
  return doubt === undefined ? {} : { warnings: [doubt] };
}

export const showAccount = endpoint({
  id: 'operatorAccount',
  method: 'get',
  path: '/v2/admin/accounts/{account_id}',
  tag: 'Operators',
  summary: 'One account',
  description: 'Extension. With its settings, and counts of what it has.',
  scopes: ['admin:read', 'admin:look'],
  params: ACCOUNT_IN_PATH,
  answer: OperatorAccountDetail,
  problems: ['account_not_found'],
  async handle({ db, clock }, { params }) {
    const account = await accountOf(db, params.account_id);
    return account === undefined ? refused('account_not_found') : accountDetail(db, account, clock.now());
  },
});

const ChangedAccount = success('OperatorAccountResult', { account: OperatorAccountDetail, ...WARNINGS });

export const changeAccount = endpoint({
  id: 'updateAccount',
  method: 'patch',
  path: '/v2/admin/accounts/{account_id}',
  tag: 'Operators',
  summary: 'Change an account',
  description:
    'Extension. Fields that are left out stay as they are. Gateways and workers see it within seconds. `expiry_date` needs `admin:money` too.',
  scopes: ['admin:support'],
  fieldScopes: { expiry_date: 'admin:money' },
  confirmed: true,
  params: ACCOUNT_IN_PATH,
  body: request({
    name: optional(NAME),
    expiry_date: optional(expiryDate),
    senders: optional(SENDERS),
    dlt: optional(DLT),
    entity_id: optional(entityId),
    number_check: optional(NUMBER_CHECK),
    cta_check: optional(CTA_CHECK),
    country: optional(country),
    line_breaks: optional(
      choice(
        ['any', 'exact'],
        'How texts are compared with DLT templates. `any`: CR LF, CR and LF are one line break. `exact`: they differ, for operators that compare octets.',
      ),
    ),
    key_per_minute: optional(
      number({
        ...{ type: 'integer', minimum: 1, maximum: 1_000_000_000 },
        description: 'Most requests a minute of a key that the account makes itself.',
      }),
    ),
    log: optional(choice(['unusual', 'all'], 'Which receipts and answers of carriers are kept for its timelines.')),
    message_days: optional(
      number({
        ...{ type: 'integer', minimum: 14, maximum: 3_650 },
        description:
          'How many days its messages are kept after their end. More than the product keeps them (`HARKARA_MESSAGE_DAYS`) changes nothing.',
      }),
    ),
    opt_out_exempt: optional(
      list(choice(EXEMPTIONS), {
        description: 'Messages that go to customers who opted out, too.',
        maxItems: 2,
      }),
    ),
    message_texts: optional(messageTexts),
    billing: optional(billing),
  }),
  answer: ChangedAccount,
  problems: ACCOUNT_REFUSALS,
  examples: { body: { example: { expiry_date: '2027-12-31' } } },
  async handle(deps, { requester, params, body }) {
    const { db, clock } = deps;
    const {
      expiry_date,
      entity_id,
      number_check,
      cta_check,
      line_breaks,
      opt_out_exempt,
      key_per_minute,
      message_days,
      message_texts,
      ...same
    } = body;
    const { who, scopes } = requester;
    if (expiry_date !== undefined && !scopes.includes('admin:money')) {
      // A later expiry makes expired credits spendable again.
      return { kind: 'refused', problem: scopeMissing(who, scopes, ['admin:support', 'admin:money']) };
    }
    const account = await openAccountOf(db, params.account_id);
    if ('kind' in account) return account;
    const { _id: id } = account;
    const changes: AccountChanges = {
      ...(same.dlt === 'on' && account.dlt !== 'on' && dltDefaults(account)),
      ...defined({
        ...same,
        expiryDate: expiry_date,
        entityId: entity_id,
        lineBreaks: line_breaks,
        optOutExempt: opt_out_exempt,
        keyPerMinute: key_per_minute,
        messageDays: message_days,
        texts: message_texts,
      }),
      ...(number_check !== undefined && { numberCheck: number_check === 'off' ? undefined : number_check }),
      ...(cta_check !== undefined && { ctaCheck: cta_check === 'off' ? undefined : cta_check }),
    };
    const changed = await changeAudited(deps, requester, {
      action: 'account.update',
      subject: { kind: 'account', id },
      account: id,
      read: async () => accountInAudit(account),
      make: async () => {
        if (Object.keys(changes).length > 0) await updateAccount(db, id, changes);
        return (await findAccount(db, id)) ?? account;
      },
      madeOf: accountInAudit,
    });
    return done({
      account: await accountDetail(db, changed, clock.now()),
      ...(entity_id !== undefined && warningsOf(changed)),
    });
  },
});

/** Defaults for sending under DLT. The country is India anyway (money/accounts/number-check.ts). */
function dltDefaults({ numberCheck }: AccountDocument): AccountChanges {
  return { senders: 'registered', ...(numberCheck === undefined && { numberCheck: 'on' }) };
}

export const changeAccountStatus = endpoint({
  id: 'setAccountStatus',
  method: 'post',
  path: '/v2/admin/accounts/{account_id}/status',
  tag: 'Operators',
  summary: 'Suspend, pause or resume an account',
  description: 'Extension. What waits stays where it is until the account is active again.',
  scopes: ['admin:support'],
  confirmed: true,
  params: ACCOUNT_IN_PATH,
  body: request({
    status: required(
      choice(
        SET_STATUSES,
        '`suspended`: its sends are refused. `paused`: they are accepted, and wait. Under both, what waits does not leave.',
      ),
    ),
    reason: optional(reason),
  }),
  answer: ChangedAccount,
  problems: ACCOUNT_REFUSALS,
  examples: { body: { example: { status: 'suspended', reason: 'Unpaid since October' } } },
  async handle(deps, { requester, params, body: { status, reason }, read: { problems } }) {
    const { db, clock } = deps;
    const account = await openAccountOf(db, params.account_id);
    if ('kind' in account) return account;
    if (status === 'paused' && account.status === 'suspended') {
      // Pausing a suspended account would change nothing, and resuming it would end both states.
      problems.add(
        'status',
        'invalid_value',
        'The account is suspended: its messages wait already. To take sends again but keep them waiting, resume it first.',
      );
      return invalid(problems);
    }
    const { _id: id } = account;
    const shown = (one: typeof account) => ({ ...accountInAudit(one), status: statusOf(one) });
    const changed = await changeAudited(deps, requester, {
      action: { active: 'account.resume', paused: 'account.pause', suspended: 'account.suspend' }[status],
      subject: { kind: 'account', id },
      account: id,
      read: async () => shown(account),
      make: async () => {
        if (status === 'paused') await pauseAccount(db, id);
        else await setAccountStatus(db, id, status);
        return (await findAccount(db, id)) ?? account;
      },
      madeOf: (one) => ({ ...shown(one), ...(reason === undefined ? {} : { reason }) }),
    });
    return done({ account: await accountDetail(db, changed, clock.now()) });
  },
});

export const closeAccountForGood = endpoint({
  id: 'closeAccount',
  method: 'post',
  path: '/v2/admin/accounts/{account_id}/close',
  tag: 'Operators',
  summary: 'Close an account for good',
  description:
    'Extension. Its keys, users, webhooks and numbers stop working within seconds, schedules are cancelled and batches stopped, each with its refund; single messages that wait are refunded when their validity ends. When nothing waits any more, a line in the statement takes the credits that are left. After `HARKARA_CLOSED_ACCOUNT_DAYS` everything of it is erased.',
  scopes: ['admin:money'],
  confirmed: true,
  params: ACCOUNT_IN_PATH,
  body: request({
    remaining: required(
      choice(
        REMAINING,
        'What becomes of the credits that are left: the customer is paid for them, or they are forfeited.',
      ),
    ),
    reason: required(reason),
  }),
  answer: ChangedAccount,
  problems: ACCOUNT_REFUSALS,
  examples: { body: { example: { remaining: 'paid_out', reason: 'Contract ended on 30 November' } } },
  async handle(deps, { requester, params, body }) {
    const { db, clock } = deps;
    const account = await openAccountOf(db, params.account_id);
    if ('kind' in account) return account;
    const by = `${requester.who.kind} ${requester.who.id}`;
    const closed = await changeAudited(deps, requester, {
      action: 'account.close',
      subject: { kind: 'account', id: account._id },
      account: account._id,
      read: async () => accountInAudit(account),
      make: () => closeAccount(db, account._id, { at: clock.now(), by, ...body }),
      madeOf: (one) => one && accountInAudit(one),
    });
    if (closed === undefined) return refused('account_closed');
    return done({ account: await accountDetail(db, closed, clock.now()) });
  },
});
