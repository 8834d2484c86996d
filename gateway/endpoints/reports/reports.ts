import { z } from 'zod';
import { CHANNEL_NAMES } from '../../../shared/messages/document/channel.ts';
import { ROUTES } from '../../../shared/messages/document/routing.ts';
import {
  type Day,
  type Dimension,
  dayAfter,
  daysOf,
  placeOf,
  type Report,
  type Row,
  readReport,
} from '../../../shared/messages/report.ts';
import { type LossDocument, listLosses, mostFrequent, readNewestCount } from '../../../shared/messages/statistics.ts';
import { isDay, isoTimestamp, isZone } from '../../../shared/platform/runtime/clock.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import { type AccountId, idTime, isConversationId } from '../../../shared/platform/runtime/ids.ts';
import { pageAccount, pageMode } from '../../access/page-query.ts';
import { type Columns, CSV_TYPE, csvAnswer, csvText } from '../../api/csv.ts';
import { CostlyRead, endpoint, type Gateway, invalid, type Shown } from '../../api/endpoint.ts';
import { decimal, id, named, pageFields, pageShape, text, time, whole } from '../../api/shapes.ts';
import { FieldProblems } from '../../http/field-problems.ts';
import {
  choice,
  Fault,
  type Kind,
  optional,
  otherwise,
  string,
  type Values,
  withDefault,
} from '../../http/fields/field.ts';
import { cursorOf, limit, pageOf, pageOfFound } from '../../http/fields/query.ts';
import { explainCounted } from '../messages/explain/explain.ts';
import { AccountIdText, accountId } from '../operators/fields.ts';

/** Reports: messages and costs by day and other groups, counted by the hour (docs/decisions/0047). */

const OWN = {
  day: 'day',
  channel: 'channel',
  sender: 'sender',
  template_id: 'template',
  route: 'route',
  carrier: 'carrier',
  country: 'country',
  category: 'category',
  operator: 'operator',
} as const satisfies Readonly<Record<string, Dimension>>;
const OPERATORS = { ...OWN, account_id: 'account', routed_by: 'rule' } as const satisfies Readonly<
  Record<string, Dimension>
>;

type Names = Readonly<Record<string, Dimension>>;

/** A quarter. For a year ask four times. */
const DAYS_MAX = 93;
const DEFAULT_DAYS = 7;
/** Days per request: 500 rows of a busy account take the store some 10 ms. */
const DAYS_PER_REQUEST = 5;
const ERRORS_SHOWN = 10;

const day = (description: string): Kind<Day> =>
  string({ description, format: 'date' }, (text) =>
    isDay(text) ? text : new Fault('invalid_value', 'It must be a day, like 2026-11-21.'),
  );

export const zone = string(
  { description: 'Whose days: a time zone like `Asia/Kolkata`. Rounded to half hours.' },
  (text) =>
    isZone(text) ? text : new Fault('invalid_value', 'It must be a time zone of the IANA, like Asia/Kolkata.'),
);

const oneOf = (description: string) => optional(string({ description }, (text) => text));

function queryOf<N extends Names>(names: N) {
  const all = Object.keys(names);
  return {
    group_by: otherwise(
      string(
        {
          description: `What rows agree in, with commas between: ${all.map((name) => `\`${name}\``).join(', ')}. Left out: \`day\`.`,
          pattern: `^(${all.join('|')})(,(${all.join('|')}))*$`,
        },
        (text) => {
          const asked = text.split(',');
          const isGood = asked.every((name) => all.includes(name)) && new Set(asked).size === asked.length;
          return isGood
            ? asked
            : new Fault('invalid_value', `It must be some of ${all.join(', ')}, each once, with commas between.`);
        },
      ),
      () => ['day'],
    ),
    from: optional(
      day(`The first day. Left out: ${DEFAULT_DAYS} days with \`to\`. At most ${DAYS_MAX} days, and 400 days ago.`),
    ),
    to: optional(day('The last day, included. Left out: today.')),
    zone: withDefault(zone, 'UTC'),
    channel: optional(choice(CHANNEL_NAMES)),
    sender: oneOf('Only of this sender; of the chat-app number that it left from.'),
    template_id: oneOf('Only of this template: its DLT id, or the name of a chat-app template.'),
    route: optional(choice(ROUTES)),
    carrier: oneOf('Only of this carrier.'),
    country: oneOf('Only to this country: two letters (ISO 3166-1).'),
    category: oneOf('Chat-app: only what the provider bills under this word, like `service`.'),
    operator: oneOf('Only of this network.'),
    format: withDefault(choice(['json', 'csv'], '`csv`: all rows as a file, without `limit` and `cursor`.'), 'json'),
    limit,
    cursor: cursorOf('report', (place): place is string => place.length < 4_000),
  };
}

const OWN_QUERY = queryOf(OWN);
const ADMIN_QUERY = {
  ...queryOf(OPERATORS),
  account_id: optional(accountId('Only of this account. Senders and templates are known of one account alone.')),
  routed_by: oneOf('Only what this route carried.'),
};

const count = (description: string, example: number) => whole(description, { minimum: 0, example });

const ReportError = named('ReportError', 'How many messages failed with a code.', {
  error_code: text(undefined, { example: '1' }),
  messages: count('Messages.', 3),
  cause: text(undefined, { example: 'The number is not in use.' }).optional(),
});

const COUNTS = {
  messages: count('Messages made in that time: recipients.', 121),
  segments: count('SMS that their texts were sent as. A chat-app message is one.', 140),
  queued: count('Not sent yet.', 0),
  sent: count('A carrier took them, and no receipt has come yet, or none will.', 1),
  delivered: count('Delivered, read ones included.', 117),
  read: count('Chat-app: of the delivered ones, those that were read.', 0),
  failed: count('The carrier took them, and they did not arrive.', 3),
  expired: count('Their validity ended first.', 0),
  rejected: count('No carrier took them.', 0),
  delivery_rate: decimal('`delivered` of those whose end is known, from 0 to 1; null if there are none.', {
    example: 0.975,
  }).nullable(),
  credits: whole('What they cost, without what came back.', { example: 121 }),
  refunded: whole('Credits that came back.', { example: 0 }),
  errors: z.array(ReportError).meta({ description: 'Why messages ended without arriving, the most frequent reasons.' }),
};

const Amount = named('ReportAmount', 'An amount in one currency.', {
  currency: text('ISO 4217; `none` where the route names none.', { example: 'INR' }),
  amount: text('Exact, as a decimal.', { example: '14.52' }),
});
const MONEY = {
  sales: z.array(Amount).meta({
    description:
      "The routes' `price` of messages that were not refunded, and what conversations earn (`credit_value` of the provider's price list).",
  }),
  costs: z.array(Amount).meta({
    description:
      "The routes' `costs` of segments that carriers took, and chat-app messages by the provider's price list.",
  }),
  margin: z.array(Amount).meta({ description: '`sales` without `costs`.' }),
  unpriced: count('Chat-app messages that the provider bills, whose price no list says: `costs` lack them.', 0),
};

const KIND = {
  day: text('If grouped by it.', { format: 'date', example: '2026-11-21' }).optional(),
  channel: z.enum(CHANNEL_NAMES).optional(),
  sender: text(undefined, { example: 'HARKRA' }).nullable().optional(),
  template_id: text().nullable().optional(),
  route: text('`transactional` or `promotional`; null on the chat-app channel.', { example: 'transactional' })
    .nullable()
    .optional(),
  carrier: text().nullable().optional(),
  country: text('ISO 3166-1.', { example: 'IN' }).nullable().optional(),
  category: text('Chat-app: what the provider bills it as; null until it says so.', { example: 'service' })
    .nullable()
    .optional(),
  operator: text('The network, where the carrier names it.').nullable().optional(),
  other: z.literal(true).meta({ description: 'Messages that were too different to be counted apart.' }).optional(),
};
const ADMIN_KIND = { ...KIND, account_id: text().nullable().optional(), routed_by: text().nullable().optional() };

const about = {
  from: text(undefined, { format: 'date', example: '2026-11-15' }),
  to: text(undefined, { format: 'date', example: '2026-11-21' }),
  zone: text(undefined, { example: 'Asia/Kolkata' }),
  counted_at: time('When hours were counted last. What happened later is not in the numbers yet.').nullable(),
  unsorted: whole('Messages that may fit the filters or not: they were too different to be counted apart.', {
    minimum: 0,
    example: 0,
  }),
};

const ReportRow = named('ReportRow', 'The figures of one combination of what was grouped by.', { ...KIND, ...COUNTS });
const AdminReportRow = named(
  'AdminReportRow',
  'The figures of one combination of what was grouped by, with sales and costs.',
  { ...ADMIN_KIND, ...COUNTS, ...MONEY },
);

const ReportPage = named('ReportPage', {
  ...about,
  total: named('ReportTotal', 'The sums of all rows.', COUNTS),
  ...pageFields(z.array(ReportRow)),
});
const AdminReportPage = named('AdminReportPage', {
  ...about,
  total: named('AdminReportTotal', 'The sums of all rows, with sales and costs.', { ...COUNTS, ...MONEY }),
  ...pageFields(z.array(AdminReportRow)),
});

const DESCRIPTION =
  'What was sent, what became of it and what it cost, grouped by `group_by`; the newest day first. Counted from the messages, again and again for eleven days because receipts come late, and kept for 400 days. A message is of the day on which it was made: a scheduled one of its time, one of a batch when the batch was accepted. An account is counted by 200 combinations of values in an hour; the messages of others are together in rows that say `other`. With `format=csv` all rows as a file. Counts as one request for each 5 days.';

const FILE = csvAnswer('day,messages\r\n2026-11-21,121\r\n');

export const accountReports = endpoint({
  id: 'accountReports',
  call: 'account.reports',
  method: 'get',
  path: '/v2/account/reports',
  tag: 'Account',
  summary: 'Reports',
  description: `Extension. ${DESCRIPTION}`,
  scopes: ['read'],
  test: 'apart',
  query: { ...OWN_QUERY, account: pageAccount(), mode: pageMode() },
  answer: ReportPage,
  openapi: FILE,
  handle: (gateway, { caller, query }) => answer(gateway, OWN, query, caller.account._id, ownRecord, ownTotal),
});

export const adminReports = endpoint({
  id: 'adminReports',
  method: 'get',
  path: '/v2/admin/reports',
  tag: 'Operators',
  summary: 'Reports of all accounts',
  description: `Extension. ${DESCRIPTION} Operators also see what the routes' \`price\` and \`costs\`, and the price lists of chat-app providers, come to. Without \`account_id\` it is of all accounts, of which 1,000 combinations are counted in an hour.`,
  scopes: ['admin:read'],
  query: ADMIN_QUERY,
  queryRules: [
    ({ account_id, ...query }, _has, problems) => {
      if (account_id !== undefined) return;
      const oneAccount = 'Senders and templates are counted for each account: give `account_id` too.';
      for (const name of ['sender', 'template_id'] as const) {
        if (query[name] !== undefined) problems.add(name, 'conflict', oneAccount);
        if (query.group_by?.includes(name)) problems.add('group_by', 'conflict', oneAccount);
      }
    },
  ],
  answer: AdminReportPage,
  openapi: FILE,
  handle: (gateway, { query }) => answer(gateway, OPERATORS, query, query.account_id, adminRecord, adminTotal),
});

type Query = Values<typeof OWN_QUERY> & { readonly routed_by?: string };

async function answer<Shape extends object, Total extends object>(
  { db, clock }: Gateway,
  names: Names,
  query: Query,
  account: AccountId | undefined,
  record: (row: Row, groupBy: readonly string[]) => Shape,
  totalOf: (row: Row) => Total,
) {
  const { zone, format, limit, cursor } = query;
  const to = query.to ?? daysOf(zone)(clock.now().getTime());
  const from = query.from ?? dayAfter(to, 1 - DEFAULT_DAYS);
  const days = Math.round((Date.parse(to) - Date.parse(from)) / 86_400_000) + 1;
  const problems = new FieldProblems();
  if (days < 1) problems.add('from', 'invalid_value', 'It must not be after `to`.');
  if (days > DAYS_MAX)
    problems.add('from', 'out_of_range', `A report has ${DAYS_MAX} days at most: ask for less at a time.`);
  if (problems.count > 0) return invalid(problems);
  const {
    channel,
    sender,
    template_id: template,
    route,
    carrier,
    country,
    category,
    operator,
    routed_by: rule,
  } = query;
  const groupBy = query.group_by.flatMap((name) => names[name] ?? []);
  const asked = {
    ...defined({ account }),
    ...{ zone, from, to, groupBy },
    filter: defined({ channel, sender, template, route, carrier, country, category, operator, rule }),
  };
  const cost = Math.ceil(days / DAYS_PER_REQUEST);
  if (format === 'csv') {
    const file = { name: `report-${from}-${to}.csv`, contentType: CSV_TYPE };
    return new CostlyRead<never>(
      cost,
      async () => reportFile(names, query.group_by, await readReport(db, asked)),
      file,
    );
  }
  return new CostlyRead(cost, async () => {
    const [report, countedAt] = await Promise.all([readReport(db, asked), readNewestCount(db)]);
    const begin = cursor === undefined ? 0 : report.rows.findIndex((row) => placeOf(row, groupBy) === cursor) + 1;
    const shown = report.rows.slice(begin, begin + limit);
    const last = begin + limit < report.rows.length ? shown.at(-1) : undefined;
    const page = pageOf(
      'report',
      shown.map((row) => record(row, query.group_by)),
      last && placeOf(last, groupBy),
    );
    return {
      ...{ from, to, zone, counted_at: countedAt === undefined ? null : isoTimestamp(countedAt) },
      ...{ unsorted: report.unsorted, total: totalOf(report.total), ...page },
    };
  });
}

function ownRecord(row: Row, groupBy: readonly string[]): Shown<typeof ReportRow> {
  return { ...kindRecord(OWN, row, groupBy), ...ownTotal(row) };
}

function adminRecord(row: Row, groupBy: readonly string[]): Shown<typeof AdminReportRow> {
  return { ...kindRecord(OPERATORS, row, groupBy), ...adminTotal(row) };
}

function kindRecord(names: Names, { values, other }: Row, groupBy: readonly string[]) {
  const kind = Object.fromEntries(groupBy.map((name) => [name, values[names[name] ?? 'day'] ?? null]));
  return other ? { ...kind, other } : kind;
}

function numbersOf({ messages, segments, states, credits, refunded }: Row) {
  const of = (state: Parameters<typeof states.get>[0]): number => states.get(state) ?? 0;
  const delivered = of('delivered') + of('read');
  const ended = delivered + of('failed') + of('expired') + of('rejected');
  return {
    ...{ messages, segments, queued: of('queued'), sent: of('sent'), delivered, read: of('read') },
    ...{ failed: of('failed'), expired: of('expired'), rejected: of('rejected') },
    delivery_rate: ended === 0 ? null : Math.round((delivered / ended) * 10_000) / 10_000,
    ...{ credits, refunded },
  };
}

function ownTotal(row: Row) {
  return {
    ...numbersOf(row),
    errors: mostFrequent(row.errors, ERRORS_SHOWN).map(({ code, messages }) => ({
      error_code: code,
      messages,
      cause: explainCounted(code).cause,
    })),
  };
}

function adminTotal(row: Row) {
  const { sales, costs, unpriced } = row;
  const currencies = [...new Set([...sales.keys(), ...costs.keys()])].sort();
  const margin = new Map(currencies.map((one) => [one, (sales.get(one) ?? 0) - (costs.get(one) ?? 0)]));
  return { ...ownTotal(row), sales: amounts(sales), costs: amounts(costs), margin: amounts(margin), unpriced };
}

function amounts(sums: ReadonlyMap<string, number>): Shown<typeof Amount>[] {
  return [...sums].map(([currency, millionths]) => ({ currency, amount: decimalText(millionths) }));
}

/** At least two decimals, and as many as needed. */
function decimalText(millionths: number): string {
  const digits = String(Math.abs(millionths)).padStart(7, '0');
  const [before, after] = [digits.slice(0, -6), digits.slice(-6).replace(/0{1,4}$/, '')];
  return `${millionths < 0 ? '-' : ''}${before}.${after}`;
}

/** All rows, then the total. Amounts have a column for each currency. */
function reportFile(names: Names, groupBy: readonly string[], { rows, total }: Report): Promise<string> {
  const isOperators = names === OPERATORS;
  const currencies = [...new Set([...total.sales.keys(), ...total.costs.keys()])].sort();
  const money = isOperators ? currencies.flatMap((one) => moneyColumns(one)) : [];
  const columns: Columns<Row> = {
    ...Object.fromEntries(
      groupBy.map((name, i) => [
        name,
        (row) =>
          row === total
            ? i === 0
              ? 'total'
              : undefined
            : (row.values[names[name] ?? 'day'] ?? (row.other ? 'other' : undefined)),
      ]),
    ),
    ...Object.fromEntries(NUMBERS.map((name) => [name, (row) => numbersOf(row)[name]])),
    errors: ({ errors }) =>
      mostFrequent(errors, ERRORS_SHOWN)
        .map(({ code, messages }) => `${code}: ${messages}`)
        .join('; '),
    ...Object.fromEntries(money),
    ...(isOperators && { unpriced: ({ unpriced }) => unpriced }),
  };
  return csvText(columns, [...rows, total]);
}

const NUMBERS = [
  ...(['messages', 'segments', 'queued', 'sent', 'delivered', 'read', 'failed', 'expired', 'rejected'] as const),
  ...(['delivery_rate', 'credits', 'refunded'] as const),
];

function moneyColumns(currency: string): [string, (row: Row) => string][] {
  const sum = (sums: ReadonlyMap<string, number>): number => sums.get(currency) ?? 0;
  return [
    [`sales_${currency}`, ({ sales }) => decimalText(sum(sales))],
    [`costs_${currency}`, ({ costs }) => decimalText(sum(costs))],
    [`margin_${currency}`, ({ sales, costs }) => decimalText(sum(sales) - sum(costs))],
  ];
}

const Loss = named('ConversationLoss', 'A conversation that cost the operator more than it earned.', {
  conversation_id: id('cnv', undefined, 'cnv_01m7znjn7hdb5pft3awkb6pgvy'),
  account_id: AccountIdText,
  opened_at: time(undefined, '2026-11-28T10:00:00+00:00'),
  opener: id('msg', 'The message that opened it.', 'msg_01m7znjn7hdb5pft3awkb6pgvz'),
  messages: whole('Messages that the provider billed.', { minimum: 1, example: 24 }),
  credits: whole('What the account paid for it.', { minimum: 0, example: 1 }),
  currency: text(undefined, { example: 'USD' }),
  earned: text('`credits` by the value of a credit.', { example: '0.0025' }),
  cost: text('Of all its messages, by the price list.', { example: '0.0336' }),
  lost: text(undefined, { example: '0.0311' }),
});

export const conversationLosses = endpoint({
  id: 'conversationLosses',
  method: 'get',
  path: '/v2/admin/conversation-losses',
  tag: 'Operators',
  summary: 'Conversations that cost more than they earned',
  description:
    "Extension. The newest first. An account pays a conversation once, and the provider takes money for each of its messages. Counted with the hours, for accounts whose provider has a price list and whose credits have a value in its currency: of each hour the 200 conversations of an account with the most billed messages, 2,000 of all. Kept for 31 days. `messages_per_conversation` of an account's limits prevents them.",
  scopes: ['admin:read'],
  query: {
    account_id: optional(accountId('Only of this account.')),
    limit,
    cursor: cursorOf('conversation-losses', isConversationId),
  },
  answer: pageShape('ConversationLossPage', Loss),
  async handle({ db }, { query: { account_id: account, limit, cursor } }) {
    return pageOfFound('conversation-losses', await listLosses(db, account, cursor, limit + 1), limit, lossRecord);
  },
});

function lossRecord({
  _id,
  account,
  opener,
  messages,
  credits,
  currency,
  earned,
  cost,
}: LossDocument): Shown<typeof Loss> {
  return {
    ...{ conversation_id: _id, account_id: account, opened_at: isoTimestamp(idTime(_id)), opener },
    ...{ messages, credits, currency, earned: decimalText(earned), cost: decimalText(cost) },
    lost: decimalText(cost - earned),
  };
}
