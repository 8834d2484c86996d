import type { Db } from 'mongodb';
import { z } from 'zod';
import { CTA_KINDS } from '../../../shared/carriers/cta.ts';
import { findAccounts } from '../../../shared/money/accounts/store.ts';
import { type Clock, isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { type AccountId, isAccountId } from '../../../shared/platform/runtime/ids.ts';
import { type AgePlace, readTurns, readWaitingOf, type Waiting } from '../../../shared/templates/sms/approval-queue.ts';
import { giveDltId, rejectTemplateRequest } from '../../../shared/templates/sms/request-store.ts';
import { type Decision, decideTemplate, TemplateExists } from '../../../shared/templates/sms/store.ts';
import { templateVersion } from '../../../shared/templates/sms/template.ts';
import { done, endpoint, invalid, refused, type Shown } from '../../api/endpoint.ts';
import { id, named, pageShape, success, text, time, whole } from '../../api/shapes.ts';
import { changeAudited } from '../../http/audited.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { FieldProblems } from '../../http/field-problems.ts';
import { choice, matching, optional, required, type Values } from '../../http/fields/field.ts';
import { cursorOf, limit, pageOf, pageOfFound } from '../../http/fields/query.ts';
import { type Rule, request } from '../../http/fields/request.ts';
import type { Refused } from '../../http/idempotency/action.ts';
import {
  AccountTemplate,
  type FoundTemplate,
  findOwnTemplate,
  templateRecord,
} from '../account-templates/templates.ts';
import { ACCOUNT_REFUSALS, openAccountOf } from '../accounts/account.ts';
import { ACCOUNT_IN_PATH, AccountIdText, accountId, line } from '../operators/fields.ts';

/** Senders, CTAs and DLT templates that wait for a decision, and the decision about templates. */

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
  template: AccountTemplate.optional(),
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

/** Where the next page begins: the account, or within one account the thing, by time in milliseconds and id. */
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

export const DECISIONS = ['approved', 'rejected'] as const;

export const DECISION = {
  decision: required(choice(DECISIONS, 'A later decision replaces an earlier one.')),
  reason: optional(line('Why. The account reads it. Required with `rejected`.', 200)),
};

export const reasonToReject: Rule<typeof DECISION> = ({ decision }, has, problems) => {
  if (decision === 'rejected' && !has('reason')) {
    problems.add('reason', 'missing_field', 'Say why, so that the account knows what to change.');
  }
};

const TEMPLATE_DECISION = {
  ...DECISION,
  dlt_id: optional(
    matching(
      'The id that the operators gave to a requested template. A request without one needs it to be approved.',
      /^[0-9]{10,20}$/,
      '10 to 20 digits',
    ),
  ),
  version: optional(
    matching(
      '`version` of the text that was read. Another text is not approved then. Needed to approve what the account asked for itself.',
      /^[0-9a-f]{12}$/,
      'a version as GET shows it',
    ),
  ),
};

const NO_SUCH = { detail: 'Check the template_id: the account has no such template.' };

export const templateDecision = endpoint({
  id: 'decideTemplate',
  method: 'post',
  path: '/v2/admin/accounts/{account_id}/templates/{template_id}/decision',
  tag: 'Operators',
  summary: 'Approve or reject a DLT template',
  description: 'Extension. A request that has no id of the operators yet gets it with the approval.',
  scopes: ['admin:support'],
  params: {
    ...ACCOUNT_IN_PATH,
    template_id: text('The DLT id, or `tpr_…` of a request.', { example: 'tpr_01m7znjn7hdb5pft3awkb6pgvz' }),
  },
  body: request(TEMPLATE_DECISION, [], [reasonToReject]),
  answer: success('TemplateDecisionResult', {
    account_id: AccountIdText,
    template_id: text('The DLT id, once it has one.', { example: '1107160000000012345' }),
    decision: z.enum(DECISIONS),
    reason: text().nullable(),
  }),
  problems: [...ACCOUNT_REFUSALS, 'template_not_found', 'template_changed'],
  examples: { body: { example: { decision: 'approved', dlt_id: '1107160000000012345', version: '0123456789ab' } } },
  async handle(deps, { requester, params, body: wanted, read: { problems } }) {
    const { db, clock } = deps;
    const account = await openAccountOf(db, params.account_id);
    if ('kind' in account) return account;
    const template = await findOwnTemplate(db, clock, account._id, params.template_id);
    if (template === undefined) return refused('template_not_found', NO_SUCH);
    const { found } = template;
    const { decision, reason = null, dlt_id = null, version } = wanted;
    if (decision === 'approved' && template.kind === 'request' && dlt_id === null) {
      problems.add('dlt_id', 'missing_field', 'Give the id that the operators gave to it.');
      return invalid(problems);
    }
    const isOwn = template.kind === 'request' || template.found.requested === true;
    if (decision === 'approved' && isOwn && version === undefined) {
      const detail = 'The account asked for it itself: name the version of the text that you read.';
      problems.add('version', 'missing_field', detail);
      return invalid(problems);
    }
    if (version !== undefined && version !== templateVersion(found)) return refused('template_changed');
    try {
      const decided = await changeAudited(deps, requester, {
        action: decision === 'approved' ? 'template.approve' : 'template.reject',
        subject: { kind: 'template', id: `${account._id}:${params.template_id}` },
        account: account._id,
        read: async () => ({ status: found.status, reason: found.reason ?? null }),
        make: () => decide(db, clock, template, wanted),
        madeOf: () => ({ status: decision, reason, dltId: dlt_id }),
        isRefusal: (error) => error instanceof TemplateExists,
      });
      if (decided === 'changed') return refused('template_changed');
      if (decided === 'not_found') return refused('template_not_found', NO_SUCH);
      return done({ account_id: account._id, template_id: dlt_id ?? params.template_id, decision, reason });
    } catch (error) {
      if (!(error instanceof TemplateExists)) throw error;
      const detail = 'Another template of the account has this id. Check the id on the DLT platform.';
      problems.add('dlt_id', 'invalid_value', detail);
      return invalid(problems);
    }
  },
});

async function decide(
  db: Db,
  clock: Clock,
  { kind, found }: FoundTemplate,
  { decision, reason, dlt_id: dltId = '' }: Values<typeof TEMPLATE_DECISION>,
): Promise<Decision> {
  const { account } = found;
  if (kind === 'template') return decideTemplate(db, clock, account, found.dltId, decision, reason, found);
  if (decision === 'rejected') {
    return (await rejectTemplateRequest(db, clock, account, found._id, reason ?? '')) ? 'decided' : 'changed';
  }
  const template = await giveDltId(db, clock, account, found._id, dltId, 'operator');
  return template === undefined ? 'changed' : decideTemplate(db, clock, account, dltId, 'approved', reason, found);
}
