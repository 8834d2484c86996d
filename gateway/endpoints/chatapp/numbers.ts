import type { Db } from 'mongodb';
import { z } from 'zod';
import type { ProviderDocument } from '../../../shared/carriers/providers/provider.ts';
import { providersOf } from '../../../shared/carriers/providers/store.ts';
import { numbersWrittenTo, readPerson } from '../../../shared/money/conversations/person.ts';
import { FreshCache } from '../../../shared/platform/runtime/fresh-cache.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import { countListed, readTemplateStatuses } from '../../../shared/templates/chat/store.ts';
import { endpoint, type Gateway, invalid, perProcess } from '../../api/endpoint.ts';
import { flag, named, text } from '../../api/shapes.ts';
import { pageOfWhole, readWhole } from '../../api/whole-list.ts';
import { FieldProblems } from '../../http/field-problems.ts';
import { optional, string } from '../../http/fields/field.ts';

/** The numbers of an account on the chat-app channel, and which of them a message leaves from. */

const REMEMBERED_ACCOUNTS = 20_000;
/** The number of test messages while the account has none. */
export const TEST_NUMBER = '10000000000';

/** The default number first; undefined when there is none. Read at most once per `keyCacheMs`. */
export const numbersOf = perProcess(
  ({ db, clock, config }) =>
    new FreshCache<AccountId, readonly ProviderDocument[]>({
      freshMs: config.keyCacheMs,
      maxEntries: REMEMBERED_ACCOUNTS,
      clock,
      read: async (account) => {
        const numbers = await providersOf(db, [account]);
        return numbers.length === 0 ? undefined : numbers;
      },
    }),
);

interface Sender {
  readonly from: string | undefined;
  readonly to: string | undefined;
  /** Templates may be sent at any time; anything else only in a session. */
  readonly inSession: boolean;
}

/**
 * The number that a message leaves from: the one that the request names; else, in a session, the one that the customer
 * wrote to last, because the provider accepts an answer from no other; else the default. Undefined when the account has
 * no such number. Reads the customer only for accounts with several numbers.
 */
export async function numberFor(
  db: Db,
  account: AccountId,
  numbers: readonly ProviderDocument[],
  { from, to, inSession }: Sender,
): Promise<ProviderDocument | undefined> {
  const [first, second] = numbers;
  if (from !== undefined) return numbers.find(({ _id }) => _id === from);
  if (first === undefined || second === undefined || to === undefined || !inSession) return first;
  const written = numbersWrittenTo(await readPerson(db, account, to)).map(([number]) => number);
  const known = written.find((number) => numbers.some(({ _id }) => _id === number));
  return known === undefined ? first : numbers.find(({ _id }) => _id === known);
}

const NAMED_MAX = 10;

/** `It is none of the account's numbers, which are 919000000001 and 919000000002.` */
export function noSuchNumber(numbers: readonly ProviderDocument[]): string {
  const own = numbers.slice(0, NAMED_MAX).map(({ _id }) => _id);
  const more = numbers.length > NAMED_MAX ? `, and others: \`GET /v2/chatapp/numbers\` lists them` : '';
  return own.length === 1
    ? `The account's only number is ${own[0]}.`
    : `It is none of the account's numbers: ${own.join(', ')}${more}.`;
}

export const templatesOfNumber = optional(
  string(
    {
      description:
        "One of the account's numbers, as `GET /v2/chatapp/numbers` lists them: the templates of its business account are meant.",
      maxLength: 64,
    },
    (number) => number,
  ),
);

/** The requested number, or the default. Undefined when there is none; with a problem if it was requested. */
export async function numberMeant(
  { db }: Pick<Gateway, 'db'>,
  account: AccountId,
  from: string | undefined,
  problems: FieldProblems,
): Promise<ProviderDocument | undefined> {
  const own = await providersOf(db, [account]);
  const number = from === undefined ? own[0] : own.find(({ _id }) => _id === from);
  if (number === undefined && own.length > 0) problems.add('from', 'invalid_value', noSuchNumber(own));
  return number;
}

const ChatNumber = named('ChatNumber', 'A number of the account on the chat-app channel.', {
  number: text('Digits, country code first: what `from` of a send takes.', { example: '919000000001' }),
  default: flag('Templates that name no `from` leave from it.', true),
  state: z
    .enum(['active', 'paused', 'stopped'])
    .meta({ description: '`paused`: sends wait. `stopped`: sends from it are refused.', example: 'active' }),
  business_id: text("The provider's business account that it belongs to. Its templates can be sent from it.", {
    example: '102290129340398',
  }),
});

export const chatNumbers = endpoint({
  id: 'chatNumbers',
  call: 'chatapp.numbers',
  method: 'get',
  path: '/v2/chatapp/numbers',
  tag: 'Chat-app',
  summary: "The account's numbers on the chat-app channel",
  description: 'Extension. All of them, the default first. Your service provider sets them up.',
  scopes: ['read'],
  test: 'same',
  answer: named('ChatNumbers', {
    numbers: z.array(ChatNumber).meta({
      example: [{ number: '919000000001', default: true, state: 'active', business_id: '102290129340398' }],
    }),
  }),
  async handle({ db }, { caller }) {
    const numbers = await providersOf(db, [caller.account._id]);
    return {
      numbers: numbers.map(({ _id, status, stoppedReason, businessId }, i) => ({
        number: _id,
        default: i === 0,
        state: stoppedReason === undefined ? status : ('stopped' as const),
        business_id: businessId,
      })),
    };
  },
});

const ChatTemplate = named('ChatTemplate', 'A template of the chat app.', {
  name: text(undefined, { example: 'order_update' }),
  status: text(
    'Only `approved` templates can be sent. Others are `pending`, `rejected`, `paused`, `disabled`, or another state that the provider names.',
    { example: 'approved' },
  ),
  language: text('Language code, for example `en_US`.', { example: 'en_US' }),
});

const ChatTemplates = named('ChatTemplates', {
  templates: z.array(ChatTemplate).meta({
    description: 'As the provider last reported.',
    example: [
      { name: 'order_update', status: 'approved', language: 'en_US' },
      { name: 'sale', status: 'pending', language: 'hi' },
    ],
  }),
  next_cursor: text('Extension. Only of a page: pass it as `cursor` for the next one. Null on the last one.')
    .nullable()
    .optional(),
  has_more: flag('Extension. Only of a page.').optional(),
});

const LIST = 'chatapp_templates';

function isPlace(text: string): text is string {
  return /^[^\s:]{1,512}:[\w-]{1,35}$/.test(text);
}

export const chatappTemplates = endpoint({
  id: 'chatappTemplates',
  call: 'chatapp.templates',
  method: 'get',
  path: '/v2/chatapp/templates',
  tag: 'Chat-app',
  summary: 'Templates of the chat-app channel',
  description:
    'All of them; with several business accounts those of the default number, which a send without `from` takes, or those of the number that `from` names. Counts as one request for each 500 templates. Extension: with `limit` or `cursor` it answers a page, which has `next_cursor` and `has_more` too.',
  scopes: ['read'],
  test: 'same',
  query: { ...pageOfWhole(LIST, isPlace), from: templatesOfNumber },
  answer: ChatTemplates,
  async handle(gateway, { caller, query }) {
    const { db } = gateway;
    const problems = new FieldProblems();
    const number = await numberMeant(gateway, caller.account._id, query.from, problems);
    if (problems.count > 0) return invalid(problems);
    // Without a number there is no business account, and nothing can be sent.
    const businessOf = (account: AccountId) => ({ account, business: number?.businessId ?? '' });
    return readWhole<z.infer<typeof ChatTemplate>>(caller.account._id, query, {
      list: LIST,
      placeOf: ({ name, language }) => `${name}:${language}`,
      count: (account) => countListed(db, businessOf(account)),
      read: (account, after, limit) => readTemplateStatuses(db, businessOf(account), after, limit),
    });
  },
});
