import { z } from 'zod';
import {
  createSender,
  findSender,
  findSenderById,
  isSenderForm,
  listSenderPage,
  removeSender as remove,
  type SenderDocument,
  SenderExists,
} from '../../../shared/carriers/sender.ts';
import type { Route } from '../../../shared/messages/document/message.ts';
import { QuotaReached } from '../../../shared/money/accounts/quotas.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { isSenderId, newId } from '../../../shared/platform/runtime/ids.ts';
import { done, endpoint, refused, type Shown } from '../../api/endpoint.ts';
import { id, named, pageShape, success, text, time } from '../../api/shapes.ts';
import { changeAudited } from '../../http/audited.ts';
import { choice, list, required } from '../../http/fields/field.ts';
import { sender } from '../../http/fields/message-fields.ts';
import { cursorOf, limit, pageOfFound } from '../../http/fields/query.ts';
import { request } from '../../http/fields/request.ts';
import { type Accepted, type Refused, refusedLate } from '../../http/idempotency/action.ts';
import { quotaProblem } from '../../http/quota-problem.ts';

/** The senders that an account asked for or was given. */

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

/** This many entries of a page count as one request. */
const ENTRIES_PER_REQUEST = 250;

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
  reads: ({ limit }) => Math.ceil(limit / ENTRIES_PER_REQUEST),
  answer: pageShape('SenderPage', AccountSender, 'Senders, by name.'),
  async handle({ db }, { caller, query: { limit, cursor } }) {
    const found = await listSenderPage(db, caller.account._id, cursor ?? '', limit + 1);
    return pageOfFound('senders', found, limit, senderRecord, ({ sender }) => sender);
  },
});

/** It can be used when an operator has approved it. */
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
    async act({ caller, body }, { id, payBy }) {
      const { db, clock } = deps;
      const account = caller.account._id;
      const late = refusedLate(clock, payBy);
      if (late !== undefined) return late;
      const routes = ROUTES.filter((route) => body.routes.includes(route));
      const wanted = { _id: id, account, sender: body.sender, routes, status: 'submitted', requested: true } as const;
      try {
        const made = await changeAudited(deps, caller, {
          action: 'sender.request',
          subject: { kind: 'sender', id },
          make: () => createSender(db, clock, wanted),
          madeOf: senderRecord,
          isRefusal: (error) => error instanceof SenderExists || error instanceof QuotaReached,
        });
        return asked(made);
      } catch (error) {
        if (error instanceof QuotaReached) return { kind: 'refused', problem: quotaProblem(error) };
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

/** Messages that wait with it are refused and refunded. */
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

/** A sender as its account sees it. */
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
