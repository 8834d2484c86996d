import { z } from 'zod';
import { providerCondition, stopOf, troubleInWords, troublesOf } from '../../../shared/carriers/providers/condition.ts';
import type { ProviderDocument } from '../../../shared/carriers/providers/provider.ts';
import {
  findProvider,
  listProviderPage,
  pauseProvider,
  resumeProvider,
} from '../../../shared/carriers/providers/store.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { isAccountId } from '../../../shared/platform/runtime/ids.ts';
import { done, endpoint, refused, type Shown } from '../../api/endpoint.ts';
import { named, pageShape, success, text, time, whole } from '../../api/shapes.ts';
import { changeAudited } from '../../http/audited.ts';
import { choice, optional, required } from '../../http/fields/field.ts';
import { cursorOf, limit } from '../../http/fields/query.ts';
import { request } from '../../http/fields/request.ts';
import { pageOfFound } from '../../http/page.ts';
import { ACCOUNT_IN_PATH, AccountIdText, reason } from '../operators/fields.ts';

/** The accounts' numbers on the chat-app channel, with what fails. */

export const OperatorProvider = named('OperatorProvider', {
  account_id: AccountIdText,
  condition: z.enum(['active', 'paused', 'stopped', 'failing']).meta({ example: 'failing' }),
  stopped_reason: text('Why it is stopped; with `failing`: why it was, and one message at a time is tried.').nullable(),
  troubles: z.array(
    z.strictObject({
      duty: z.enum(['sends', 'statuses', 'templates', 'requests']).meta({ example: 'templates' }),
      words: text(undefined, { example: 'copying the templates: the provider answered 503' }),
      at: time(undefined, '2026-11-22T13:00:00+00:00'),
    }),
  ),
  notice: z
    .strictObject({
      words: text(undefined, { example: 'phone number quality update: FLAGGED' }),
      at: time(undefined, '2026-11-22T13:00:00+00:00'),
    })
    .meta({ description: 'What the provider told last of the business account or its number.' })
    .nullable(),
  tiers: z
    .array(
      z.strictObject({
        category: text(undefined, { example: 'UTILITY' }),
        region: text(undefined, { example: 'INDIA' }),
        tier: text('The messages of a month that it is for.', { example: '25000001:50000000' }),
        month: text(undefined, { example: '2026-11' }).nullable(),
        at: time('When the provider said so.', '2026-11-22T13:00:00+00:00'),
      }),
    )
    .meta({ description: "Volume tiers that the business account has reached, in the provider's words." }),
  number: text(undefined, { example: '919000000001' }),
  base_url: text(undefined, { example: 'https://graph.example.com/v23.0' }),
  phone_number_id: text(undefined, { example: '1066' }),
  business_id: text(undefined, { example: '1020' }),
  app_id: text("Id of the provider's app. Templates with a file in their header need it.").nullable(),
  per_second: whole(undefined, { example: 80 }),
  window_size: whole(undefined, { example: 20 }),
  per_customer_ms: whole('Least time between two messages to one customer.', { example: 0 }),
  timeout_ms: whole('How long a send may take.', { example: 10_000 }),
  opt_in: z.enum(['off', 'list']),
  unknown_policy: z.enum(['assume_sent', 'resend']),
  unknown_wait_ms: whole(undefined, { example: 900_000 }),
  callback: text('The path that the provider posts to, behind the public address of the gateways.', {
    example: '/chatapp/callback/cbk_3fa85f6457174562b3fc2c963f',
  }),
  created_at: time(undefined, '2026-11-22T10:00:00+00:00'),
});

export const providers = endpoint({
  id: 'operatorProviders',
  method: 'get',
  path: '/v2/admin/providers',
  tag: 'Operators',
  summary: 'Chat-app providers',
  description: "Extension. The accounts' numbers on the chat-app channel, with what fails just now.",
  scopes: ['admin:read'],
  query: { limit, cursor: cursorOf('providers', isAccountId) },
  answer: pageShape('OperatorProviderPage', OperatorProvider),
  async handle({ db }, { query: { limit, cursor } }) {
    return pageOfFound('providers', await listProviderPage(db, cursor, limit + 1), limit, providerRecord);
  },
});

export const showProvider = endpoint({
  id: 'operatorProvider',
  method: 'get',
  path: '/v2/admin/providers/{account_id}',
  tag: 'Operators',
  summary: 'The chat-app number of an account',
  description: 'Extension. With its settings, but the secrets.',
  scopes: ['admin:read'],
  params: ACCOUNT_IN_PATH,
  answer: OperatorProvider,
  problems: ['provider_not_found'],
  async handle({ db }, { params: { account_id: id } }) {
    const found = isAccountId(id) ? await findProvider(db, id) : undefined;
    return found === undefined ? refused('provider_not_found') : providerRecord(found);
  },
});

export const changeProviderStatus = endpoint({
  id: 'setProviderStatus',
  method: 'post',
  path: '/v2/admin/providers/{account_id}/status',
  tag: 'Operators',
  summary: 'Pause or start a chat-app number',
  description: 'Extension. `active` also starts one that the provider had refused.',
  scopes: ['admin:routing'],
  params: ACCOUNT_IN_PATH,
  body: request({
    status: required(
      choice(
        ['active', 'paused'],
        '`paused`: sends are accepted and wait. `active` also starts a stopped channel again.',
      ),
    ),
    reason: optional(reason),
  }),
  answer: success('OperatorProviderResult', { provider: OperatorProvider }),
  problems: ['provider_not_found'],
  examples: { body: { example: { status: 'active' } } },
  async handle(deps, { requester, params: { account_id: id }, body: { status, reason } }) {
    const { db } = deps;
    const provider = isAccountId(id) ? await findProvider(db, id) : undefined;
    if (provider === undefined) return refused('provider_not_found');
    const account = provider._id;
    const shown = (one: ProviderDocument) => ({ status: one.status, stoppedReason: one.stoppedReason ?? null });
    const changed = await changeAudited(deps, requester, {
      action: status === 'paused' ? 'provider.pause' : 'provider.resume',
      subject: { kind: 'provider', id: account },
      account,
      read: async () => shown(provider),
      make: async () => {
        await (status === 'paused' ? pauseProvider : resumeProvider)(db, account);
        return (await findProvider(db, account)) ?? provider;
      },
      madeOf: (one) => ({ ...shown(one), ...(reason === undefined ? {} : { reason }) }),
      isRefusal: () => false,
    });
    return done({ provider: providerRecord(changed) });
  },
});

/** Without the secrets, sealed or not. */
export function providerRecord(one: ProviderDocument): Shown<typeof OperatorProvider> {
  return {
    account_id: one._id,
    condition: providerCondition(one),
    stopped_reason: stopOf(one) ?? null,
    troubles: troublesOf(one).map((trouble) => ({
      duty: trouble.duty,
      words: troubleInWords(trouble),
      at: isoTimestamp(trouble.at),
    })),
    notice: one.notice === undefined ? null : { words: one.notice.words, at: isoTimestamp(one.notice.at) },
    tiers: (one.tiers ?? []).map(({ category, region, tier, month = null, at }) => ({
      ...{ category, region, tier, month, at: isoTimestamp(at) },
    })),
    number: one.displayNumber,
    base_url: one.baseUrl,
    phone_number_id: one.phoneNumberId,
    business_id: one.businessId,
    app_id: one.appId ?? null,
    per_second: one.perSecond,
    window_size: one.windowSize,
    per_customer_ms: one.perCustomerMs,
    timeout_ms: one.timeoutMs,
    opt_in: one.optIn,
    unknown_policy: one.unknownPolicy,
    unknown_wait_ms: one.unknownWaitMs,
    callback: `/chatapp/callback/${one.callback}`,
    created_at: isoTimestamp(one.createdAt),
  };
}
