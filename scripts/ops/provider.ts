import { providerCondition, troubleInWords, troublesOf } from '../../shared/carriers/providers/condition.ts';
import { PROVIDER_DEFAULTS, type ProviderDocument } from '../../shared/carriers/providers/provider.ts';
import { BadProvider, GRAPH_ID, RANGES } from '../../shared/carriers/providers/provider-form.ts';
import {
  findProvider,
  leadsTokenAway,
  listProviders,
  type ProviderChange,
  pauseProvider,
  resumeProvider,
  type SetProvider,
  setProvider,
  TokenNeeded,
} from '../../shared/carriers/providers/store.ts';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';
import { existing } from './account.ts';
import { type Command, type Context, defineCommand, Failure } from './command.ts';
import {
  accountId,
  choice,
  flag,
  integer,
  optional,
  type Parameter,
  phoneNumber,
  required,
  words,
} from './parameters.ts';
import { optionProblems } from './read-words.ts';
import { sheet, table } from './show.ts';

const TOKEN_VARIABLE = 'CHATAPP_TOKEN';
const SECRET_VARIABLE = 'CHATAPP_APP_SECRET';
const account = required(accountId, 'the account');
const graphId = words('ID', '1 to 64 letters, digits, _ and -', GRAPH_ID);

/** `standard` is only for the help. An absent option keeps its value, or takes the default the first time. */
function setting<T>(
  shape: Parameters<typeof optional<T>>[0],
  standard: unknown,
  about: string,
): Parameter<T | undefined> {
  return { ...optional(shape, about), standard: String(standard) };
}

function number(name: (typeof RANGES)[number][0], about: string): Parameter<number | undefined> {
  const [, min, max] = RANGES.find(([known]) => known === name) ?? [name, 0, 0];
  return setting(integer('N', min, max), PROVIDER_DEFAULTS[name], about);
}

const IS_MS = 'in milliseconds';
const NOTES =
  `The first time, --base-url, --phone-number-id, --business-id, --display-number and both secrets are required. Later only\n` +
  `the given options change; another --base-url needs the access token again. Secrets are never options, because the list of processes would show them. The access token comes\n` +
  `from ${TOKEN_VARIABLE}, the app secret from ${SECRET_VARIABLE}, or from stdin; otherwise the command asks for it. The first time\n` +
  'it shows the callback address and, only this once, the verify token. Enter both at the provider where you set up its webhook.\n' +
  'An app at Meta has one callback address: for further accounts at the same app (with the same app secret) leave it as it is.\n' +
  'Each business account must be subscribed to the app (POST /ID/subscribed_apps), or nothing of it is posted: docs/operating.md.';

export const PROVIDER_COMMANDS: readonly Command[] = [
  defineCommand({
    noun: 'provider',
    verb: 'set',
    about: 'Gives an account its number on the chat-app channel, or changes settings of it.',
    args: { account },
    options: {
      baseUrl: optional(
        words('URL', 'an address like https://graph.example/v23.0', /^https?:\/\/\S+$/),
        "the provider's API, version included",
      ),
      phoneNumberId: optional(graphId, "the provider's id of the number"),
      businessId: optional(graphId, 'id of the business account (WABA), which has the templates'),
      appId: optional(graphId, 'id of the app; templates with an image, video or document in their header need it'),
      displayNumber: optional(phoneNumber, 'the number'),
      token: flag('change the access token'),
      tokenStdin: flag('change the access token, to what is on stdin'),
      appSecret: flag('change the app secret'),
      appSecretStdin: flag('change the app secret, to what is on stdin'),
      newVerifyToken: flag('make a new verify token and show it'),
      optIn: setting(
        choice(['off', 'list']),
        PROVIDER_DEFAULTS.optIn,
        'whether templates go only to who is on the opt-in list',
      ),
      perSecond: number('perSecond', 'messages a second'),
      windowSize: number('windowSize', 'sends in flight at a time'),
      perCustomerMs: number('perCustomerMs', `least time between two messages to one customer, ${IS_MS}`),
      timeoutMs: number('timeoutMs', `how long a send may take, ${IS_MS}`),
      unknownPolicy: setting(
        choice(['assume_sent', 'resend']),
        PROVIDER_DEFAULTS.unknownPolicy,
        'for a send whose answer never came: charge it as sent (what never left is lost), or send it again (may arrive twice)',
      ),
      unknownWaitMs: number('unknownWaitMs', `after how long, ${IS_MS}`),
    },
    notes: NOTES,
    async run({ account, token, tokenStdin, appSecret, appSecretStdin, ...given }, { db, clock, box, secret }) {
      if (tokenStdin && appSecretStdin)
        throw new Failure('Only one secret can be on stdin. Give the other one in another way.');
      const store = await db();
      await existing(store, account);
      const stored = await findProvider(store, account);
      const first = stored === undefined;
      const settings = definedOnly(given);
      const needed = first || leadsTokenAway(stored, settings);
      const change: ProviderChange = {
        ...settings,
        ...(needed || token || tokenStdin ? { token: await secret(TOKEN_VARIABLE, tokenStdin) } : {}),
        ...(first || appSecret || appSecretStdin ? { appSecret: await secret(SECRET_VARIABLE, appSecretStdin) } : {}),
      };
      if (!first && Object.keys(change).length === 0) {
        throw new Failure('Nothing to change: see `provider set --help`.');
      }
      try {
        return shown(await setProvider(store, clock, await box(), account, change));
      } catch (error) {
        if (error instanceof BadProvider) throw new Failure(`Not set. ${optionProblems(error.problems)}`);
        if (error instanceof TokenNeeded) throw new Failure(`Not set: ${error.message}; give --token.`);
        throw error;
      }
    },
  }),
  defineCommand({
    noun: 'provider',
    verb: 'show',
    about: "Shows an account's number on the chat-app channel, without its secrets.",
    args: { account },
    options: {},
    async run({ account }, { db }) {
      const provider = await findProvider(await db(), account);
      if (provider === undefined) throw none(account);
      return { text: sheet(fieldsOf(provider)), json: view(provider) };
    },
  }),
  defineCommand({
    noun: 'provider',
    verb: 'list',
    about: 'Shows which accounts have a number on the chat-app channel.',
    args: {},
    options: {},
    async run(_, { db }) {
      const all = await listProviders(await db());
      const rows = all.map((one) => [
        one._id,
        [providerCondition(one), ...troubleTexts(one).slice(0, 1)].join(': '),
        one.displayNumber,
        one.optIn,
        one.baseUrl,
      ]);
      return {
        text: table(['ACCOUNT', 'STATUS', 'NUMBER', 'OPT-IN', 'ADDRESS'], rows, 'No account has one yet.'),
        json: all.map(view),
      };
    },
  }),
  going('pause', pauseProvider, 'paused', 'Lets what is sent wait; what customers write comes in all the same.'),
  going(
    'resume',
    resumeProvider,
    'active',
    'Sends messages again after a pause, or after the provider refused the account.',
  ),
];

function going(
  verb: string,
  change: (db: Awaited<ReturnType<Context['db']>>, account: AccountId) => Promise<boolean>,
  status: ProviderDocument['status'],
  about: string,
): Command {
  return defineCommand({
    noun: 'provider',
    verb,
    about,
    args: { account },
    options: {},
    async run({ account }, { db }) {
      if (!(await change(await db(), account))) throw none(account);
      return { text: `The number of ${account} is ${status}.`, json: { account, status } };
    },
  });
}

function none(account: AccountId): Failure {
  return new Failure(`${account} has no number on the chat-app channel: \`provider list\` shows those that have.`);
}

/** The options that were given; a switch that was not set counts as not given. */
function definedOnly<T extends object>(given: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  const named = Object.entries(given).filter(([, value]) => value !== undefined && value !== false);
  return Object.fromEntries(named) as { [Name in keyof T]?: Exclude<T[Name], undefined> }; // a part of `given`
}

function shown({ provider, created, verifyToken }: SetProvider) {
  const lines = [sheet(fieldsOf(provider))];
  if (verifyToken !== undefined) {
    lines.push(
      `verify token  ${verifyToken}`,
      'Now enter the callback address (with the public https address of the gateways before it) and the verify token at the provider:',
      'the token is not shown again (--new-verify-token makes another). The field to subscribe to is `messages`;',
      'docs/operating.md names those for templates and for warnings about the business account.',
      'If another account has its number at the same app, leave the address there as it is: what is posted to it finds this account too.',
      `Then subscribe the business account to the app, or nothing is posted: POST ${provider.baseUrl}/${provider.businessId}/subscribed_apps`,
    );
  }
  const json = { ...view(provider), created, ...(verifyToken === undefined ? {} : { verify_token: verifyToken }) };
  return { text: lines.join('\n'), json };
}

function troubleTexts(provider: ProviderDocument): readonly string[] {
  return troublesOf(provider).map((trouble) => `${troubleInWords(trouble)}, at ${trouble.at.toISOString()}`);
}

function callbackPath({ callback }: ProviderDocument): string {
  return `/chatapp/callback/${callback}`;
}

function fieldsOf(one: ProviderDocument) {
  return {
    account: one._id,
    status: providerCondition(one),
    ...(one.stoppedReason === undefined ? {} : { why: one.stoppedReason }),
    ...(troubleTexts(one).length === 0 ? {} : { trouble: troubleTexts(one).join('; ') }),
    number: one.displayNumber,
    address: one.baseUrl,
    'number id': one.phoneNumberId,
    'business id': one.businessId,
    'app id': one.appId ?? 'none (needed for templates with a file in their header: --app-id)',
    'per second': one.perSecond,
    window: one.windowSize,
    'per customer': `${one.perCustomerMs} ms`,
    timeout: `${one.timeoutMs} ms`,
    'opt-in': one.optIn,
    unknown: `${one.unknownPolicy} after ${one.unknownWaitMs} ms`,
    callback: callbackPath(one),
  };
}

/** The settings for programs, without the secrets, not even in their sealed form. */
function view(one: ProviderDocument): Readonly<Record<string, unknown>> {
  return {
    account: one._id,
    status: providerCondition(one),
    stopped_reason: one.stoppedReason ?? null,
    troubles: one.troubles ?? {},
    display_number: one.displayNumber,
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
    callback: callbackPath(one),
    created_at: one.createdAt,
  };
}
