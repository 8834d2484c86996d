import type { Db } from 'mongodb';
import { z } from 'zod';
import { completionFor } from '../../../shared/carriers/numbers/store.ts';
import { CUSTOMER_FORM } from '../../../shared/messages/document/recipient.ts';
import {
  countUnfinished,
  ERASURES_MAX,
  type ErasureDocument,
  findErasure,
  insertErasure,
  listErasures,
} from '../../../shared/people/erasure.ts';
import { type Clock, isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { type AccountId, type ErasureId, isErasureId, newId } from '../../../shared/platform/runtime/ids.ts';
import { maskNumber } from '../../../shared/platform/runtime/log.ts';
import { done, endpoint, refused, type Shown } from '../../api/endpoint.ts';
import { id, named, pageShape, success, text, time, whole } from '../../api/shapes.ts';
import { changeAudited } from '../../http/audited.ts';
import type { Requester } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { matching, required } from '../../http/fields/field.ts';
import { cursorOf, limit, pageOfFound } from '../../http/fields/query.ts';
import { request } from '../../http/fields/request.ts';
import type { Accepted } from '../../http/idempotency/action.ts';

/** Deletes everything stored of a number, in one account or in all, for a person who asks to be forgotten. */

const ErasureIdText = id('ers', undefined, 'ers_01m7znjn7hdb5pft3awkb6pgvz');

const Erasure = named('Erasure', "A person's number that is erased, or will be.", {
  erasure_id: ErasureIdText,
  number: text('What stays known of the number.', { example: '9198******10' }),
  state: z.enum(['working', 'done']),
  requested_at: time(undefined, '2026-11-22T10:00:00+00:00'),
  done_at: time('When nothing was left to erase.', '2026-11-22T10:00:10+00:00').nullable(),
  erased: whole('Messages without number and text so far.', { example: 12 }),
  waiting: whole('Messages, schedules and conversations that have not ended: they are erased when they have.', {
    example: 0,
  }),
});

const number = required(
  matching(
    "The customer's number, country code first, or the user id of a chat-app customer without a number.",
    CUSTOMER_FORM,
    '8 to 15 digits, country code first',
    'invalid_phone',
  ),
);

const TOO_MANY = {
  detail: `An account may have ${ERASURES_MAX} unfinished erasures. Wait until some are done: each takes seconds, or as long as something of the customer waits.`,
  extra: { quota: 'erasures', limit: ERASURES_MAX },
};

const WHAT =
  'Extension. It cannot be undone. In every message from or to the number that has ended, the number, the text and the reference are erased, with what was posted to webhooks and kept for timelines of it, and the conversation and its opt-in. What messages cost and how they ended stays, and so does an opt-out, which keeps the customer from being written to again. What has not ended is erased when it has. Files of messages (exports) that may have the number are removed; ask for them anew.';

/** An account erases its own customer, an operator a person in all accounts. */
const ASK = {
  method: 'post',
  confirmed: true,
  body: request({ number }),
  newId: ({ clock }: Pick<GatewayDeps, 'clock'>) => newId('ers', clock.now().getTime()),
} as const;

export const erase = endpoint({
  ...ASK,
  id: 'eraseNumber',
  call: 'erasures.start',
  path: '/v2/account/erasures',
  tag: 'Account',
  summary: 'Erase a customer',
  description: `${WHAT} An account may have ${ERASURES_MAX} unfinished.`,
  scopes: ['manage'],
  costs: 20,
  answer: success('ErasureResult', Erasure.shape),
  problems: ['quota_reached'],
  examples: { body: { customer: { number: '919876543210' } } },
  action: (deps) => ({
    async act({ caller, body }, { id }) {
      const { db } = deps;
      const account = caller.account._id;
      if ((await countUnfinished(db, account)) >= ERASURES_MAX) return refused('quota_reached', TOO_MANY);
      const complete = (await completionFor(db, account))(body.number);
      return begin(deps, caller, id, complete, account);
    },
    recover: (account, id) => begun(deps.db, account, id),
  }),
});

export const erasures = endpoint({
  id: 'erasures',
  call: 'erasures.list',
  method: 'get',
  path: '/v2/account/erasures',
  tag: 'Account',
  summary: 'Erased customers',
  description: 'Extension. Newest first, without their numbers.',
  scopes: ['read', 'manage'],
  query: { limit, cursor: cursorOf('erasures', isErasureId) },
  answer: pageShape('ErasurePage', Erasure),
  handle: ({ db }, { caller, query }) => listed('erasures', db, caller.account._id, query),
});

export const eraseEverywhere = endpoint({
  ...ASK,
  id: 'eraseNumberEverywhere',
  path: '/v2/admin/erasures',
  tag: 'Operators',
  summary: 'Erase a person in all accounts',
  description: WHAT,
  scopes: ['admin:support'],
  answer: success('OperatorErasureResult', Erasure.shape),
  examples: { body: { person: { number: '919876543210' } } },
  action: (deps) => ({
    act: ({ requester, body }, { id }) => begin(deps, requester, id, body.number),
    recover: (_owner, id) => begun(deps.db, undefined, id),
  }),
});

export const erasuresEverywhere = endpoint({
  id: 'operatorErasures',
  method: 'get',
  path: '/v2/admin/erasures',
  tag: 'Operators',
  summary: 'Persons who were erased',
  description: 'Extension. Those that operators asked for, newest first, without their numbers.',
  scopes: ['admin:read'],
  query: { limit, cursor: cursorOf('operator_erasures', isErasureId) },
  answer: pageShape('OperatorErasurePage', Erasure),
  handle: ({ db }, { query }) => listed('operator_erasures', db, undefined, query),
});

async function listed(
  list: string,
  db: Db,
  account: AccountId | undefined,
  { limit, cursor }: { readonly limit: number; readonly cursor?: ErasureId | undefined },
) {
  return pageOfFound(list, await listErasures(db, account, limit + 1, cursor), limit, erasureRecord);
}

async function begin(
  deps: Pick<GatewayDeps, 'db' | 'clock' | 'config'>,
  requester: Requester,
  id: ErasureId,
  number: string,
  account?: AccountId,
): Promise<Accepted> {
  const erasure = newErasure(deps.clock, id, number, account);
  await changeAudited(deps, requester, {
    action: 'customer.erase',
    subject: { kind: 'erasure', id },
    make: () => insertErasure(deps.db, erasure),
    madeOf: () => ({ number: erasure.shown }),
  });
  return { kind: 'accepted', body: done(erasureRecord(erasure)) };
}

async function begun(db: Db, account: AccountId | undefined, id: ErasureId): Promise<Accepted | undefined> {
  const found = await findErasure(db, account, id);
  return found && { kind: 'accepted', body: done(erasureRecord(found)) };
}

function newErasure(clock: Clock, _id: ErasureId, number: string, account?: AccountId): ErasureDocument {
  const at = clock.now();
  return { _id, ...(account && { account }), number, shown: maskNumber(number), at, due: at, erased: 0, waiting: 0 };
}

function erasureRecord({ _id, shown, due, at, doneAt, erased, waiting }: ErasureDocument): Shown<typeof Erasure> {
  return {
    erasure_id: _id,
    number: shown,
    state: due === undefined ? 'done' : 'working',
    requested_at: isoTimestamp(at),
    done_at: doneAt === undefined ? null : isoTimestamp(doneAt),
    ...{ erased, waiting },
  };
}
