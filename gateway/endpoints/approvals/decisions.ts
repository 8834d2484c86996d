import type { Db } from 'mongodb';
import { z } from 'zod';
import { createSender, decideSender, findSender, SenderExists } from '../../../shared/carriers/sender.ts';
import type { Route } from '../../../shared/messages/document/message.ts';
import type { Clock } from '../../../shared/platform/runtime/clock.ts';
import { isSenderId } from '../../../shared/platform/runtime/ids.ts';
import { giveDltId, rejectTemplateRequest } from '../../../shared/templates/sms/request-store.ts';
import { type Decision, decideTemplate, TemplateExists } from '../../../shared/templates/sms/store.ts';
import { templateVersion } from '../../../shared/templates/sms/template.ts';
import { done, endpoint, invalid, refused } from '../../api/endpoint.ts';
import { id, success, text } from '../../api/shapes.ts';
import { changeAudited } from '../../http/audited.ts';
import { choice, Fault, list, optional, required, string, type Values, withDefault } from '../../http/fields/field.ts';
import { sender } from '../../http/fields/message-fields.ts';
import { type Rule, request } from '../../http/fields/request.ts';
import { type FoundTemplate, findOwnTemplate } from '../account-templates/templates.ts';
import { ACCOUNT_REFUSALS, openAccountOf } from '../accounts/account.ts';
import { ACCOUNT_IN_PATH, AccountIdText, line, matching } from '../operators/fields.ts';

/** Approves or rejects what accounts asked for. What waits: approvals.ts. */

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

const SenderName = text(undefined, { example: 'HARKRA' });

const ROUTES = ['transactional', 'promotional'] as const satisfies readonly Route[];

export const giveSender = endpoint({
  id: 'giveSender',
  method: 'post',
  path: '/v2/admin/accounts/{account_id}/senders',
  tag: 'Operators',
  summary: 'Give an account a sender',
  description: 'Extension. It may use it within seconds, unless it is `submitted`: then it waits for a decision.',
  scopes: ['admin:support'],
  params: ACCOUNT_IN_PATH,
  body: request({
    sender: required(sender),
    routes: withDefault(
      list(choice(ROUTES), { description: 'The routes it may be used on. Absent: both.', minItems: 1, maxItems: 2 }),
      ROUTES,
    ),
    status: withDefault(choice(['approved', 'submitted'], 'Whether the operators have approved it.'), 'approved'),
  }),
  answer: success('GivenSender', {
    account_id: AccountIdText,
    sender_id: id('snd', undefined, 'snd_01m7znjn7hdb5pft3awkb6pgvz'),
    sender: SenderName,
    routes: z.array(z.enum(ROUTES)).meta({ example: ['transactional'] }),
    state: z.enum(['approved', 'submitted']),
  }),
  problems: [...ACCOUNT_REFUSALS, 'sender_exists'],
  examples: { body: { example: { sender: 'HARKRA' } } },
  async handle(deps, { requester, params, body: { sender, routes, status } }) {
    const { db, clock } = deps;
    const account = await openAccountOf(db, params.account_id);
    if ('kind' in account) return account;
    const { _id: owner } = account;
    try {
      const made = await changeAudited(deps, requester, {
        action: 'sender.create',
        subject: { kind: 'sender', id: `${owner}:${sender}` },
        account: owner,
        make: () => createSender(db, clock, { account: owner, sender, routes, status }),
        madeOf: (one) => one,
        isRefusal: (error) => error instanceof SenderExists,
      });
      return done({ account_id: owner, sender_id: made._id, sender, routes, state: status });
    } catch (error) {
      if (error instanceof SenderExists) return refused('sender_exists');
      throw error;
    }
  },
});

export const senderDecision = endpoint({
  id: 'decideSender',
  method: 'post',
  path: '/v2/admin/accounts/{account_id}/senders/{sender}/decision',
  tag: 'Operators',
  summary: 'Approve or reject a sender',
  description: 'Extension. The account may use it, or not, within seconds.',
  scopes: ['admin:support'],
  params: { ...ACCOUNT_IN_PATH, sender: SenderName.describe('The sender, as recipients see it.') },
  body: request(
    {
      ...DECISION,
      sender_id: optional(
        string(
          {
            description:
              'The `sender_id` that was read. One that the account has asked for since is not decided then. Needed to approve what the account asked for itself.',
            pattern: '^snd_[0-9a-hjkmnp-tv-z]{26}$',
          },
          (text) => (isSenderId(text) ? text : new Fault('invalid_value', 'It must be a sender_id as GET shows it.')),
        ),
      ),
    },
    [],
    [reasonToReject],
  ),
  answer: success('SenderDecisionResult', {
    account_id: AccountIdText,
    sender: SenderName,
    decision: z.enum(DECISIONS),
    reason: text().nullable(),
  }),
  problems: [...ACCOUNT_REFUSALS, 'sender_not_found', 'sender_changed'],
  examples: { body: { example: { decision: 'approved' } } },
  async handle(deps, { requester, params, body, read: { problems } }) {
    const { db, clock } = deps;
    const account = await openAccountOf(db, params.account_id);
    if ('kind' in account) return account;
    const { decision, reason, sender_id: id } = body;
    const name = params.sender;
    const found = await findSender(db, account._id, name);
    if (found === undefined) return refused('sender_not_found');
    if (decision === 'approved' && found.requested === true && id === undefined) {
      const detail = 'The account asked for it itself: name the sender_id that you read.';
      problems.add('sender_id', 'missing_field', detail);
      return invalid(problems);
    }
    if (id !== undefined && id !== found._id) return refused('sender_changed');
    const before = { status: found.status, reason: found.reason ?? null };
    const decided = await changeAudited(deps, requester, {
      action: decision === 'approved' ? 'sender.approve' : 'sender.reject',
      subject: { kind: 'sender', id: `${account._id}:${name}` },
      account: account._id,
      read: async () => before,
      make: () => decideSender(db, clock, account._id, name, decision, reason, found._id),
      madeOf: (made) => (made ? { status: decision, reason: reason ?? null } : before),
    });
    if (!decided) return refused('sender_changed');
    return done({ account_id: account._id, sender: name, decision, reason: reason ?? null });
  },
});

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
