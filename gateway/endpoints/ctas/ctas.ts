import { z } from 'zod';
import { CTA_KINDS, CTA_MAX, type CtaDocument, homeOfCtas, readCta } from '../../../shared/carriers/cta.ts';
import type { NumberRules } from '../../../shared/money/accounts/number-check.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { isCtaId, newId } from '../../../shared/platform/runtime/ids.ts';
import { done, endpoint, invalid, refused, type Shown } from '../../api/endpoint.ts';
import { id, named, pageShape, success, text, time } from '../../api/shapes.ts';
import { changeAudited } from '../../http/audited.ts';
import type { FieldProblems } from '../../http/field-problems.ts';
import { required, string } from '../../http/fields/field.ts';
import { cursorOf, limit, pageOfFound, readsPer } from '../../http/fields/query.ts';
import { request } from '../../http/fields/request.ts';
import type { Accepted, Refused } from '../../http/idempotency/action.ts';
import { ACCOUNT_REFUSALS, openAccountOf } from '../accounts/account.ts';
import { DECISION, DECISIONS, reasonToReject } from '../approvals/approvals.ts';
import { ACCOUNT_IN_PATH, AccountIdText } from '../operators/fields.ts';
import {
  CtaExists,
  createCta,
  decideCta,
  findCta,
  findCtaById,
  type Giver,
  listCtaPage,
  type NewCta,
  removeCta,
} from '../sms/ctas/cta-store.ts';

/** The links, apps and callback numbers that an account registered. Texts are compared with them in sms/ctas/. */

const CtaIdText = id('cta', undefined, 'cta_01m7znjn7hdb5pft3awkb6pgvz');

const Cta = named('Cta', 'A link, an app or a callback number of the account, and its approval.', {
  cta_id: CtaIdText,
  kind: z.enum(CTA_KINDS).meta({ example: 'url' }),
  value: text('As it is compared: a link without its scheme, a number with its country code.', {
    example: 'acme.in/offers',
  }),
  state: z.enum(['submitted', 'approved', 'rejected']).meta({ description: '`submitted`: an operator has to decide.' }),
  reason: text('What the operator said with the decision.').nullable(),
  requested_at: time(undefined, '2026-11-22T10:00:00+00:00'),
  decided_at: time().nullable(),
});

function ctaRecord({ _id, kind, value, status, reason, createdAt, decidedAt }: CtaDocument): Shown<typeof Cta> {
  return {
    ...{ cta_id: _id, kind, value, state: status, reason: reason ?? null },
    requested_at: isoTimestamp(createdAt),
    decided_at: decidedAt === undefined ? null : isoTimestamp(decidedAt),
  };
}

export const ctas = endpoint({
  id: 'ctas',
  call: 'ctas.list',
  method: 'get',
  path: '/v2/account/ctas',
  tag: 'Account',
  summary: 'Registered links and numbers',
  description:
    'Extension. The links, apps and callback numbers that the account registered on the DLT platform, by value. A text with another one is refused, or warned of, as operators set it for the account. A page counts as one request for each 250 of `limit`.',
  scopes: ['read', 'manage'],
  test: 'same',
  query: { limit, cursor: cursorOf('ctas', (text): text is string => text.length <= 2 * CTA_MAX) },
  reads: readsPer(250),
  answer: pageShape('CtaPage', Cta, 'By value.'),
  async handle({ db }, { caller, query: { limit, cursor } }) {
    const found = await listCtaPage(db, caller.account._id, cursor ?? '', limit + 1);
    return pageOfFound('ctas', found, limit, ctaRecord, ({ value }) => value);
  },
});

/** Read by the account's country (`readWritten`). */
const written = string(
  {
    description:
      'A link (`https://acme.in/offers`; what follows after it may differ), the link of an app, or a number. Links are never opened.',
    minLength: 1,
    maxLength: CTA_MAX,
  },
  (text) => text,
);

function readWritten(
  text: string,
  account: Pick<NumberRules, 'country' | 'dlt'>,
  problems: FieldProblems,
): NewCta | Refused {
  const read = readCta(text, homeOfCtas(account));
  if (read.kind !== 'fault') return read;
  problems.add('value', 'invalid_value', read.detail);
  return invalid(problems);
}

export const requestCta = endpoint({
  id: 'requestCta',
  call: 'ctas.request',
  method: 'post',
  path: '/v2/account/ctas',
  tag: 'Account',
  summary: 'Register a link or number',
  description:
    'Extension. What is registered on the DLT platform. An operator decides; it counts within seconds of the approval. A link covers all that begins with it: `acme.in/offers` covers `https://acme.in/offers/7?x=1`, and not `www.acme.in` or `shop.acme.in`. Shorteners and stores need a path. An account may have 2,000; one more is `quota_reached`.',
  scopes: ['manage'],
  body: request({ value: required(written) }),
  answer: success('CtaResult', Cta.shape),
  problems: ['cta_exists', 'quota_reached'],
  examples: { body: { link: { value: 'https://acme.in/offers' } } },
  newId: ({ clock }) => newId('cta', clock.now().getTime()),
  action: (deps) => ({
    async act({ caller, body, read: { problems } }, { id }) {
      const { db, clock } = deps;
      const account = caller.account._id;
      const cta = readWritten(body.value, caller.account, problems);
      if (cta.kind === 'refused') return cta;
      try {
        const made = await changeAudited(deps, caller, {
          action: 'cta.request',
          subject: { kind: 'cta', id },
          make: () => createCta(db, clock, { account, requested: true }, cta, id),
          madeOf: ctaRecord,
          isRefusal,
        });
        return asked(made);
      } catch (error) {
        if (!isRefusal(error)) throw error;
        const known = await findCta(db, account, cta.value);
        return known?._id === id ? asked(known) : refused('cta_exists');
      }
    },
    async recover(account, id) {
      const found = await findCtaById(deps.db, account, id);
      return found && asked(found);
    },
  }),
});

function asked(made: CtaDocument): Accepted {
  return { kind: 'accepted', body: done(ctaRecord(made)) };
}

function isRefusal(error: unknown): boolean {
  return error instanceof CtaExists;
}

export const removeOwnCta = endpoint({
  id: 'removeCta',
  call: 'ctas.remove',
  method: 'delete',
  path: '/v2/account/ctas/{cta_id}',
  tag: 'Account',
  summary: 'Remove a registered link or number',
  description: 'Extension. Texts with it count as not registered within seconds. What was accepted before leaves.',
  scopes: ['manage'],
  params: { cta_id: text('Its id.', { example: 'cta_01m7znjn7hdb5pft3awkb6pgvz' }) },
  answer: success('RemovedCta', { cta_id: CtaIdText, message: text(undefined, { example: 'It is removed.' }) }),
  problems: ['cta_not_found'],
  async handle(deps, { caller, params: { cta_id: id } }) {
    const { db } = deps;
    const account = caller.account._id;
    const found = isCtaId(id) ? await findCtaById(db, account, id) : undefined;
    if (found === undefined) return refused('cta_not_found');
    await changeAudited(deps, caller, {
      action: 'cta.remove',
      subject: { kind: 'cta', id: found._id },
      read: async () => ctaRecord(found),
      make: () => removeCta(db, account, found._id),
      madeOf: () => ({ removed: true }),
    });
    return done({ cta_id: found._id, message: 'It is removed.' });
  },
});

export const giveCta = endpoint({
  id: 'giveCta',
  method: 'post',
  path: '/v2/admin/accounts/{account_id}/ctas',
  tag: 'Operators',
  summary: 'Register a link or number for an account',
  description: 'Extension. It is approved, and counts within seconds.',
  scopes: ['admin:support'],
  params: ACCOUNT_IN_PATH,
  body: request({ value: required(written) }),
  answer: success('GivenCta', { account_id: AccountIdText, ...Cta.shape }),
  problems: [...ACCOUNT_REFUSALS, 'cta_exists', 'quota_reached'],
  examples: { body: { example: { value: 'https://acme.in/offers' } } },
  async handle(deps, { requester, params, body, read: { problems } }) {
    const { db, clock } = deps;
    const account = await openAccountOf(db, params.account_id);
    if ('kind' in account) return account;
    const cta = readWritten(body.value, account, problems);
    if (cta.kind === 'refused') return cta;
    const giver: Giver = { account: account._id, requested: false };
    try {
      const made = await changeAudited(deps, requester, {
        action: 'cta.create',
        subject: { kind: 'cta', id: `${account._id}:${cta.value}` },
        account: account._id,
        make: () => createCta(db, clock, giver, cta),
        madeOf: ctaRecord,
        isRefusal,
      });
      return done({ account_id: account._id, ...ctaRecord(made) });
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return refused('cta_exists');
    }
  },
});

export const ctaDecision = endpoint({
  id: 'decideCta',
  method: 'post',
  path: '/v2/admin/accounts/{account_id}/ctas/{cta_id}/decision',
  tag: 'Operators',
  summary: 'Approve or reject a link or number',
  description: "Extension. The account's texts may hold it, or not, within seconds.",
  scopes: ['admin:support'],
  params: { ...ACCOUNT_IN_PATH, cta_id: text('Its id.', { example: 'cta_01m7znjn7hdb5pft3awkb6pgvz' }) },
  body: request(DECISION, [], [reasonToReject]),
  answer: success('CtaDecisionResult', {
    account_id: AccountIdText,
    cta_id: CtaIdText,
    value: text(undefined, { example: 'acme.in/offers' }),
    decision: z.enum(DECISIONS),
    reason: text().nullable(),
  }),
  problems: [...ACCOUNT_REFUSALS, 'cta_not_found'],
  examples: { body: { example: { decision: 'approved' } } },
  async handle(deps, { requester, params, body: { decision, reason } }) {
    const { db, clock } = deps;
    const account = await openAccountOf(db, params.account_id);
    if ('kind' in account) return account;
    const id = params.cta_id;
    const found = isCtaId(id) ? await findCtaById(db, account._id, id) : undefined;
    if (found === undefined) return refused('cta_not_found');
    const before = { status: found.status, reason: found.reason ?? null };
    const decided = await changeAudited(deps, requester, {
      action: decision === 'approved' ? 'cta.approve' : 'cta.reject',
      subject: { kind: 'cta', id: found._id },
      account: account._id,
      read: async () => before,
      make: () => decideCta(db, clock, found, decision, reason),
      madeOf: (made) => (made ? { status: decision, reason: reason ?? null } : before),
    });
    if (!decided) return refused('cta_not_found');
    const { _id: cta_id, value } = found;
    return done({ account_id: account._id, cta_id, value, decision, reason: reason ?? null });
  },
});
