import { BadProvider, GRAPH_ID, PROVIDER_DEFAULTS, RANGES } from '../../../shared/carriers/providers/provider.ts';
import {
  NUMBERS_MAX,
  NumberTaken,
  type ProviderChange,
  setProvider,
  TokenNeeded,
  TooManyNumbers,
} from '../../../shared/carriers/providers/store.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import { done, endpoint, invalid } from '../../api/endpoint.ts';
import { flag, success, text } from '../../api/shapes.ts';
import { changeAudited } from '../../http/audited.ts';
import type { FieldProblems } from '../../http/field-problems.ts';
import { boolean, choice, type Kind, matching, number, optional } from '../../http/fields/field.ts';
import { request } from '../../http/fields/request.ts';
import { ACCOUNT_REFUSALS, openAccountOf } from '../accounts/account.ts';
import { accountId } from '../operators/fields.ts';
import { NUMBER_IN_PATH, numberAsked, OperatorProvider, shownProvider } from './providers.ts';

const graphId = (description: string) => matching(description, GRAPH_ID, '1 to 64 letters, digits, _ and -');
const secret = (description: string) =>
  matching(
    `${description} It is stored encrypted and never shown.`,
    /^[\x21-\x7e]{1,4096}$/,
    '1 to 4096 visible ASCII characters',
  );

function whole(name: (typeof RANGES)[number][0], about: string): Kind<number> {
  const [, minimum, maximum] = RANGES.find(([known]) => known === name) ?? [name, 0, 0];
  const description = `${about} Default: ${PROVIDER_DEFAULTS[name]}.`;
  return number({ type: 'integer', description, minimum, maximum });
}

const fields = {
  account_id: optional(accountId('The account that gets it. Needed the first time; a number stays with its account.')),
  base_url: optional(
    matching("The provider's API, version included.", /^https?:\/\/\S{1,2040}$/, 'like https://graph.example/v23.0'),
  ),
  phone_number_id: optional(graphId("The provider's id of the number.")),
  business_id: optional(graphId('The id of the business account (WABA), which has the templates.')),
  app_id: optional(graphId('The id of the app. Templates with a file in their header need it.')),
  token: optional(secret('The access token. Another `base_url` needs it again.')),
  app_secret: optional(secret('The app secret, which signs callbacks.')),
  new_verify_token: optional(boolean('`true`: makes another verify token, and shows it once.')),
  opt_in: optional(choice(['off', 'list'], '`list`: templates go only to who is on the opt-in list.')),
  per_second: optional(whole('perSecond', 'Messages a second.')),
  window_size: optional(whole('windowSize', 'Sends in flight at a time.')),
  per_customer_ms: optional(whole('perCustomerMs', 'Least time between two messages to one customer.')),
  timeout_ms: optional(whole('timeoutMs', 'How long a send may take.')),
  unknown_policy: optional(
    choice(
      ['assume_sent', 'resend'],
      'For a send whose answer never came: charge it as sent (what never left is lost), or send it again (may arrive twice).',
    ),
  ),
  unknown_wait_ms: optional(whole('unknownWaitMs', 'After how long.')),
};

export const changeProvider = endpoint({
  id: 'updateProvider',
  method: 'patch',
  path: '/v2/admin/providers/{number}',
  tag: 'Operators',
  summary: 'Give an account a chat-app number, or change it',
  description:
    'Extension. Fields that are left out stay as they are. The first time `account_id`, `base_url`, `phone_number_id`, `business_id`, `token` and `app_secret` are required; the answer has the verify token, only this once. Enter it and the callback address at the provider, then subscribe the business account to the app (`POST /{business_id}/subscribed_apps`), or nothing is posted. An account may have 50 numbers, of one or several business accounts. A number, and its `phone_number_id`, belongs to one account.',
  scopes: ['admin:routing'],
  confirmed: true,
  params: NUMBER_IN_PATH,
  body: request(fields),
  answer: success('OperatorProviderChange', {
    provider: OperatorProvider,
    created: flag('The account had it not before.'),
    verify_token: text('Only when it is new.', { example: '3q2-7wX…' }).nullable(),
  }),
  problems: ACCOUNT_REFUSALS,
  examples: {
    body: {
      example: {
        account_id: 'acc_01m7znjn7hdb5pft3awkb6pgvz',
        ...{ base_url: 'https://graph.example.com/v23.0', phone_number_id: '1066', business_id: '1020' },
        ...{ token: 'EAAGm0PX4ZCps', app_secret: 'secret', opt_in: 'list' },
      },
    },
  },
  async handle(deps, { requester, params: { number }, body, read: { problems } }) {
    const { db, clock, box } = deps;
    const given = body.account_id ?? (await numberAsked(db, number))?.account;
    if (given === undefined) {
      problems.add('account_id', 'missing_field', 'It is required: no account has the number yet.');
      return invalid(problems);
    }
    const account = await openAccountOf(db, given);
    if ('kind' in account) return account;
    const { _id: id } = account;
    const change: ProviderChange = defined({
      ...{ baseUrl: body.base_url, phoneNumberId: body.phone_number_id, businessId: body.business_id },
      ...{ appId: body.app_id, token: body.token, appSecret: body.app_secret },
      ...{ newVerifyToken: body.new_verify_token, optIn: body.opt_in, perSecond: body.per_second },
      ...{ windowSize: body.window_size, perCustomerMs: body.per_customer_ms, timeoutMs: body.timeout_ms },
      ...{ unknownPolicy: body.unknown_policy, unknownWaitMs: body.unknown_wait_ms },
    });
    try {
      const { provider, created, verifyToken } = await changeAudited(deps, requester, {
        action: 'provider.set',
        subject: { kind: 'provider', id: number },
        account: id,
        read: () => numberAsked(db, number),
        make: () => setProvider(db, clock, box, id, number, change),
        madeOf: (made) => made.provider,
        isRefusal,
      });
      return done({ provider: await shownProvider(db, provider), created, verify_token: verifyToken ?? null });
    } catch (error) {
      if (!isRefusal(error)) throw error;
      noteRefusal(error, problems);
      return invalid(problems);
    }
  },
});

type Refusing = BadProvider | NumberTaken | TokenNeeded | TooManyNumbers;

function isRefusal(error: unknown): error is Refusing {
  return [BadProvider, NumberTaken, TokenNeeded, TooManyNumbers].some((kind) => error instanceof kind);
}

function noteRefusal(error: Refusing, problems: FieldProblems): void {
  if (error instanceof TokenNeeded) problems.add('token', 'missing_field', 'Another `base_url` needs it.');
  else if (error instanceof TooManyNumbers) {
    problems.add('account_id', 'conflict', `The account has ${NUMBERS_MAX} numbers, and may have no more.`);
  } else if (error instanceof BadProvider) for (const one of error.problems) addProblem(one, problems);
  else if (error.by === 'number') {
    problems.add('account_id', 'invalid_value', `${error.account} has the number. Remove it there first.`);
  } else {
    problems.add('phone_number_id', 'invalid_value', `Another number has it, of the account ${error.account}.`);
  }
}

/** `baseUrl: it is required.` is about `base_url`. */
function addProblem(said: string, problems: FieldProblems): void {
  const [name = '', words = ''] = said.split(': ');
  const field = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  if (words === 'it is required.') problems.add(field, 'missing_field', 'It is required.');
  else problems.add(field, 'invalid_value', `It must be ${words}`);
}
