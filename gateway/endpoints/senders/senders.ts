import { z } from 'zod';
import {
  createSender,
  decideSender,
  findSender,
  findSenderById,
  isSenderForm,
  listSenderPage,
  removeSender as remove,
  type SenderDocument,
  SenderExists,
} from '../../../shared/carriers/sender.ts';
import type { Route } from '../../../shared/messages/document/message.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { isSenderId, newId } from '../../../shared/platform/runtime/ids.ts';
import { done, endpoint, invalid, refused, type Shown } from '../../api/endpoint.ts';
import { id, named, pageShape, success, text, time } from '../../api/shapes.ts';
import { changeAudited } from '../../http/audited.ts';
import { choice, Fault, list, optional, required, string, withDefault } from '../../http/fields/field.ts';
import { sender } from '../../http/fields/message-fields.ts';
import { cursorOf, limit, pageOfFound, readsPer } from '../../http/fields/query.ts';
import { request } from '../../http/fields/request.ts';
import type { Accepted, Refused } from '../../http/idempotency/action.ts';
import { ACCOUNT_REFUSALS, openAccountOf } from '../accounts/account.ts';
import { DECISION, DECISIONS, reasonToReject } from '../approvals/approvals.ts';
import { ACCOUNT_IN_PATH, AccountIdText } from '../operators/fields.ts';

/** The senders that an account asked for or was given, and operators' decisions about them. */

const ROUTES = ['transactional', 'promotional'] as const satisfies readonly Route[];

const SenderIdText = id('snd', undefined, 'snd_01m7znjn7hdb5pft3awkb6pgvz');

const AccountSender = named('AccountSender', 'A sender of the account and its approval.', {
  sender_id: SenderIdText,
  sender: text('As recipients see it. Case matters.', { example: 'HARKRA' }),
  routes: z.array(z.enum(ROUTES)).meta({ example: ['transactional'] }),
  state: z.enum(['submitted', 'approved', 'rejected']).meta({ description: '`submitted`: an operator has to decide.' }),
  reason: text('What the operator said with the decision.').nullable(),
  requested_at: time(undefined, '2026-11-22T10:00:00+00:00'),
  decided_at: time().nullable(),
});

export const senders = endpoint({
  id: 'senders',
  call: 'senders.list',
  method: 'get',
  path: '/v2/account/senders',
  tag: 'Account',
  summary: 'Senders',
  description:
    'Extension. The senders that the account asked for or was given, by name. Without DLT, and unless the account may use registered senders alone, messages may have any sender of valid form. A page counts as one request for each 250 of `limit`.',
  scopes: ['read', 'manage'],
  test: 'same',
  query: { limit, cursor: cursorOf('senders', (text): text is string => isSenderForm(text)) },
  reads: readsPer(250),
  answer: pageShape('SenderPage', AccountSender, 'Senders, by name.'),
  async handle({ db }, { caller, query: { limit, cursor } }) {
    const found = await listSenderPage(db, caller.account._id, cursor ?? '', limit + 1);
    return pageOfFound('senders', found, limit, senderRecord, ({ sender }) => sender);
  },
});

export const requestSender = endpoint({
  id: 'requestSender',
  call: 'senders.request',
  method: 'post',
  path: '/v2/account/senders',
  tag: 'Account',
  summary: 'Ask for a sender',
  description:
    'Extension. An operator decides; it can be used within seconds of the approval. A rejected one is removed first, then asked for again. An account may have 100 that nobody has approved; one more is `quota_reached`.',
  scopes: ['manage'],
  body: request({
    sender: required(sender),
    routes: required(list(choice(ROUTES), { description: 'The routes that it is for.', minItems: 1, maxItems: 2 })),
  }),
  answer: success('SenderResult', AccountSender.shape),
  problems: ['sender_exists', 'quota_reached'],
  examples: { body: { sender: { sender: 'HARKRA', routes: ['transactional'] } } },
  newId: ({ clock }) => newId('snd', clock.now().getTime()),
  action: (deps) => ({
    async act({ caller, body }, { id }) {
      const { db, clock } = deps;
      const account = caller.account._id;
      const routes = ROUTES.filter((route) => body.routes.includes(route));
      const wanted = { _id: id, account, sender: body.sender, routes, status: 'submitted', requested: true } as const;
      try {
        const made = await changeAudited(deps, caller, {
          action: 'sender.request',
          subject: { kind: 'sender', id },
          make: () => createSender(db, clock, wanted),
          madeOf: senderRecord,
          isRefusal: (error) => error instanceof SenderExists,
        });
        return asked(made);
      } catch (error) {
        if (!(error instanceof SenderExists)) throw error;
        const known = await findSender(db, account, body.sender);
        return known?._id === id ? asked(known) : exists(known);
      }
    },
    async recover(account, id) {
      const found = await findSenderById(deps.db, account, id);
      return found && asked(found);
    },
  }),
});

function asked(made: SenderDocument): Accepted {
  return { kind: 'accepted', body: done(senderRecord(made)) };
}

function exists(known: SenderDocument | undefined): Refused {
  if (known === undefined) return refused('sender_exists');
  return refused('sender_exists', {
    detail: `The account has the sender ${known.sender} already; it is ${known.status}. To ask again, or for other routes, remove it first.`,
  });
}

const NO_SENDER = {
  detail: 'Check the sender_id: the account has no such sender. `GET /v2/account/senders` lists them.',
};

export const removeSender = endpoint({
  id: 'removeSender',
  call: 'senders.remove',
  method: 'delete',
  path: '/v2/account/senders/{sender_id}',
  tag: 'Account',
  summary: 'Give a sender up',
  description:
    'Extension. Messages with it are refused within seconds; what waits with it is rejected and refunded, unless the account may use any sender. To use it again, ask for it again.',
  scopes: ['manage'],
  params: { sender_id: text('Id of the sender.', { example: 'snd_01m7znjn7hdb5pft3awkb6pgvz' }) },
  answer: success('RemovedSender', {
    sender_id: SenderIdText,
    message: text(undefined, { example: 'The sender is removed.' }),
  }),
  problems: ['sender_not_found'],
  async handle(deps, { caller, params: { sender_id: id } }) {
    const { db } = deps;
    const account = caller.account._id;
    const found = isSenderId(id) ? await findSenderById(db, account, id) : undefined;
    if (found === undefined) return refused('sender_not_found', NO_SENDER);
    await changeAudited(deps, caller, {
      action: 'sender.remove',
      subject: { kind: 'sender', id: found._id },
      read: async () => senderRecord(found),
      make: () => remove(db, account, found._id),
      madeOf: () => ({ removed: true }),
    });
    return done({ sender_id: found._id, message: 'The sender is removed.' });
  },
});

function senderRecord(found: SenderDocument): Shown<typeof AccountSender> {
  const { _id, sender, routes, status, reason, createdAt, decidedAt } = found;
  return {
    sender_id: _id,
    sender,
    routes,
    state: status,
    reason: reason ?? null,
    requested_at: isoTimestamp(createdAt),
    decided_at: decidedAt === undefined ? null : isoTimestamp(decidedAt),
  };
}

const SenderName = text(undefined, { example: 'HARKRA' });

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
