import type { Db } from 'mongodb';
import { z } from 'zod';
import {
  type ProviderDocument,
  providerCondition,
  stopOf,
  troubleInWords,
  troublesOf,
} from '../../../shared/carriers/providers/provider.ts';
import {
  findProvider,
  listProviderPage,
  makeDefault,
  pauseProvider,
  providersOf,
  removeProvider,
  resumeProvider,
} from '../../../shared/carriers/providers/store.ts';
import { isBusinessNumber } from '../../../shared/messages/document/chat-message.ts';
import { isCustomerUserId } from '../../../shared/messages/document/recipient.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { done, endpoint, type Gateway, refused, type Shown } from '../../api/endpoint.ts';
import { flag, named, pageShape, success, text, time, whole } from '../../api/shapes.ts';
import { changeAudited } from '../../http/audited.ts';
import { choice, list, matching, optional, required, string, withDefault } from '../../http/fields/field.ts';
import { cursorOf, limit, pageOfFound } from '../../http/fields/query.ts';
import { request } from '../../http/fields/request.ts';
import { AccountIdText, accountId, reason } from '../operators/fields.ts';
import { customer } from '../opt-ins/customer.ts';
import { postToProvider, providerPoster, readProviderAnswer } from './post-to-provider.ts';

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
  default: flag('Sends of the account that name no number leave from it.', true),
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

/** Users know it by these digits, so it is named by them everywhere. */
export const NUMBER_IN_PATH = {
  number: text('The number: digits, country code first.', { example: '919000000001' }),
};

/** Undefined also when it is not a number. */
export async function numberAsked(db: Db, number: string): Promise<ProviderDocument | undefined> {
  return isBusinessNumber(number) ? findProvider(db, number) : undefined;
}

export const providers = endpoint({
  id: 'operatorProviders',
  method: 'get',
  path: '/v2/admin/providers',
  tag: 'Operators',
  summary: 'Chat-app providers',
  description: "Extension. The accounts' numbers on the chat-app channel, with what fails just now.",
  scopes: ['admin:read'],
  query: {
    account_id: optional(accountId('Only the numbers of this account.')),
    limit,
    cursor: cursorOf('providers', isBusinessNumber),
  },
  answer: pageShape('OperatorProviderPage', OperatorProvider),
  async handle({ db }, { query: { account_id: account, limit, cursor } }) {
    const found = await listProviderPage(db, account, cursor, limit + 1);
    const isDefault = await defaultsOf(db, found);
    return pageOfFound('providers', found, limit, (one) => providerRecord(one, isDefault(one)));
  },
});

export const showProvider = endpoint({
  id: 'operatorProvider',
  method: 'get',
  path: '/v2/admin/providers/{number}',
  tag: 'Operators',
  summary: 'A chat-app number',
  description: 'Extension. With its settings, but the secrets.',
  scopes: ['admin:read'],
  params: NUMBER_IN_PATH,
  answer: OperatorProvider,
  problems: ['provider_not_found'],
  async handle({ db }, { params: { number } }) {
    const found = await numberAsked(db, number);
    return found === undefined ? refused('provider_not_found') : shownProvider(db, found);
  },
});

const OperatorProviderResult = success('OperatorProviderResult', { provider: OperatorProvider });

export const changeProviderStatus = endpoint({
  id: 'setProviderStatus',
  method: 'post',
  path: '/v2/admin/providers/{number}/status',
  tag: 'Operators',
  summary: 'Pause or start a chat-app number',
  description: 'Extension. `active` also starts one that the provider had refused.',
  scopes: ['admin:routing'],
  params: NUMBER_IN_PATH,
  body: request({
    status: required(
      choice(
        ['active', 'paused'],
        '`paused`: sends are accepted and wait. `active` also starts a stopped number again.',
      ),
    ),
    reason: optional(reason),
  }),
  answer: OperatorProviderResult,
  problems: ['provider_not_found'],
  examples: { body: { example: { status: 'active' } } },
  async handle(deps, { requester, params: { number: asked }, body: { status, reason } }) {
    const { db } = deps;
    const provider = await numberAsked(db, asked);
    if (provider === undefined) return refused('provider_not_found');
    const { _id: number } = provider;
    const shown = (one: ProviderDocument) => ({ status: one.status, stoppedReason: one.stoppedReason ?? null });
    const changed = await changeAudited(deps, requester, {
      action: status === 'paused' ? 'provider.pause' : 'provider.resume',
      subject: { kind: 'provider', id: number },
      account: provider.account,
      read: async () => shown(provider),
      make: async () => {
        await (status === 'paused' ? pauseProvider : resumeProvider)(db, number);
        return (await findProvider(db, number)) ?? provider;
      },
      madeOf: (one) => ({ ...shown(one), ...(reason === undefined ? {} : { reason }) }),
    });
    return done({ provider: await shownProvider(db, changed) });
  },
});

export const makeProviderDefault = endpoint({
  id: 'makeProviderDefault',
  method: 'post',
  path: '/v2/admin/providers/{number}/default',
  tag: 'Operators',
  summary: "Make a chat-app number its account's default",
  description:
    'Extension. Templates that name no `from` leave from the default number. Without any choice it is the oldest number; if the default is removed, the one before it is the default again.',
  scopes: ['admin:routing'],
  params: NUMBER_IN_PATH,
  answer: OperatorProviderResult,
  problems: ['provider_not_found'],
  async handle(deps, { requester, params: { number: asked } }) {
    const { db, clock } = deps;
    const provider = await numberAsked(db, asked);
    if (provider === undefined) return refused('provider_not_found');
    const { _id: number } = provider;
    const changed = await changeAudited(deps, requester, {
      action: 'provider.default',
      subject: { kind: 'provider', id: number },
      account: provider.account,
      read: async () => ({ default: (await providersOf(db, [provider.account]))[0]?._id ?? null }),
      make: async () => {
        await makeDefault(db, number, clock.now());
        return (await findProvider(db, number)) ?? provider;
      },
      madeOf: () => ({ default: number }),
    });
    return done({ provider: await shownProvider(db, changed) });
  },
});

export const deleteProvider = endpoint({
  id: 'removeProvider',
  method: 'delete',
  path: '/v2/admin/providers/{number}',
  tag: 'Operators',
  summary: 'Take a chat-app number from its account',
  description:
    'Extension. What the provider posts for it from now on is refused. Messages that wait to leave from it are rejected within seconds (`number_removed`), and their conversations are given back. What was sent and received stays in lists and in the inbox.',
  scopes: ['admin:routing'],
  confirmed: true,
  params: NUMBER_IN_PATH,
  answer: success('RemovedProvider', { number: NUMBER_IN_PATH.number, account_id: AccountIdText }),
  problems: ['provider_not_found'],
  async handle(deps, { requester, params: { number: asked } }) {
    const { db } = deps;
    const provider = await numberAsked(db, asked);
    if (provider === undefined) return refused('provider_not_found');
    const { _id: number, account } = provider;
    await changeAudited(deps, requester, {
      action: 'provider.remove',
      subject: { kind: 'provider', id: number },
      account,
      read: async () => provider,
      make: () => removeProvider(db, number, account),
      madeOf: () => undefined,
    });
    return done({ number, account_id: account });
  },
});

async function defaultsOf(db: Db, shown: readonly ProviderDocument[]): Promise<(one: ProviderDocument) => boolean> {
  const all = await providersOf(db, [...new Set(shown.map(({ account }) => account))]);
  const first = new Map(all.toReversed().map(({ account, _id }) => [account, _id]));
  return ({ account, _id }) => first.get(account) === _id;
}

export async function shownProvider(db: Db, one: ProviderDocument): Promise<Shown<typeof OperatorProvider>> {
  return providerRecord(one, (await defaultsOf(db, [one]))(one));
}

function providerRecord(one: ProviderDocument, isDefault: boolean): Shown<typeof OperatorProvider> {
  return {
    account_id: one.account,
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
    number: one._id,
    default: isDefault,
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

const ProviderTest = named('ProviderTest', {
  ok: flag('The provider took the message.', true),
  words: text(undefined, { example: 'The provider took it: wamid.HBgM…' }),
});

export const testProvider = endpoint({
  id: 'testProvider',
  method: 'post',
  path: '/v2/admin/providers/{number}/test',
  tag: 'Operators',
  summary: 'Send a test over a chat-app number',
  description:
    'Extension. One template message goes to the provider as it is, with the stored token. It is charged to nobody here and stands in no list; the provider may bill it. What becomes of it, the phone shows.',
  scopes: ['admin:routing'],
  confirmed: true,
  costs: 10,
  params: NUMBER_IN_PATH,
  body: request({
    to: required(customer('Your own number, or user id.')),
    template: withDefault(
      matching('Name of an approved template.', /^[a-z0-9_]{1,512}$/, 'a-z, 0-9 and _'),
      'hello_world',
    ),
    language: withDefault(matching('Its language.', /^[a-zA-Z_]{2,10}$/, 'a code like en_US'), 'en_US'),
    params: withDefault(
      list(
        string({ description: 'A value.', minLength: 1, maxLength: 1_024 }, (value) => value),
        { description: 'The values of its text, in their order.', maxItems: 50 },
      ),
      [],
    ),
  }),
  answer: ProviderTest,
  problems: ['provider_not_found'],
  examples: { body: { example: { to: '919876543210', template: 'hello_world', language: 'en_US' } } },
  async handle(deps, { requester, params: { number }, body }) {
    const provider = await numberAsked(deps.db, number);
    if (provider === undefined) return refused('provider_not_found');
    return changeAudited(deps, requester, {
      action: 'provider.test',
      subject: { kind: 'provider', id: number },
      account: provider.account,
      make: () => send(deps, provider, body),
      madeOf: ({ ok }) => ({ ok, template: body.template }),
    });
  },
});

interface Test {
  readonly to: string;
  readonly template: string;
  readonly language: string;
  readonly params: readonly string[];
}

/** As the Cloud API documents it ("Template messages"). */
async function send(
  deps: Gateway,
  provider: ProviderDocument,
  { to, template, language, params }: Test,
): Promise<Shown<typeof ProviderTest>> {
  const components = [{ type: 'body', parameters: params.map((value) => ({ type: 'text', text: value })) }];
  const message = {
    ...{ messaging_product: 'whatsapp', recipient_type: 'individual', type: 'template' },
    ...(isCustomerUserId(to) ? { recipient: to } : { to: `+${to}` }),
    template: { name: template, language: { code: language }, ...(params.length > 0 && { components }) },
  };
  const poster = providerPoster(deps, provider.timeoutMs);
  const answer = readProviderAnswer(
    await postToProvider(poster, deps, provider, message).finally(() => poster.close()),
  );
  if (!answer.ok) return { ok: false, words: answer.words };
  if (answer.id === undefined) return { ok: false, words: 'The provider answered without the id of a message.' };
  return { ok: true, words: `The provider took it: ${answer.id}` };
}
