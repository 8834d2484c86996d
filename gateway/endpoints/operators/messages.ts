import type { Db } from 'mongodb';
import { z } from 'zod';
import type { BatchDocument } from '../../../shared/messages/batch.ts';
import type { AnyMessage } from '../../../shared/messages/document/any-message.ts';
import { isCustomerUserId } from '../../../shared/messages/document/recipient.ts';
import type { AccountDocument } from '../../../shared/money/accounts/account.ts';
import { homeOf, inCountry } from '../../../shared/money/accounts/number-check.ts';
import { findAccount, findAccounts } from '../../../shared/money/accounts/store.ts';
import {
  type AccountId,
  type BatchId,
  batchMessageRange,
  idDay,
  isBatchId,
  isMessageId,
  isTestAccount,
  liveAccountOf,
  lowestId,
  type MessageId,
} from '../../../shared/platform/runtime/ids.ts';
import { maskNumbers } from '../../../shared/platform/runtime/log.ts';
import { endpoint, refused } from '../../api/endpoint.ts';
import { pageFields, text } from '../../api/shapes.ts';
import { Fault, optional, required, string } from '../../http/fields/field.ts';
import { cursorOf, limit, pageOf } from '../../http/fields/query.ts';
import { daysFrom, findSummaries } from '../messages/message-list.ts';
import { MESSAGE_EXAMPLES, messageRecord, wholeRecord } from '../messages/messages.ts';
import { IN_PATH, Message, OF_ITS_KIND, WholeMessage } from '../messages/shapes.ts';
import { textRulesFor } from '../messages/texts.ts';
import { readWholeMessage } from '../messages/whole.ts';
import { AccountIdText, accountId } from './fields.ts';

/** Messages of all accounts, for the support desk. */

const OF_ACCOUNT = {
  account_id: AccountIdText,
  account_name: text(undefined, { example: 'Asha Stores' }),
  test: z.literal(true).meta({ description: 'It was sent as a test, and left to nobody.' }).optional(),
};

const FoundMessage = z
  .strictObject({ ...Message.shape, ...OF_ACCOUNT })
  .meta({ id: 'FoundMessage', description: 'A message, and whose it is.', allOf: OF_ITS_KIND });

const SEARCH_MAX = 256;
/** Messages that one search looks at: no person has more with one number or reference on a day. */
const LOOKED_AT_MAX = 1_000;
/** Messages may end so many days after they were accepted; only then does `HARKARA_MESSAGE_DAYS` begin. */
const OPEN_DAYS = 14;
const DAY_MS = 86_400_000;

export const findMessages = endpoint({
  id: 'findMessages',
  method: 'get',
  path: '/v2/admin/messages',
  tag: 'Operators',
  summary: 'Find messages of all accounts',
  description:
    'Extension. By a number in any form, also without its country code (of India and of the countries that accounts have), by message_id, event_id or batch_id, or by reference; newest first. What was sent to a number, and what was written from it. A message is found when its carrier has answered, or some three seconds after its 200. Of more than 1,000 messages of one number on a day some are left out: name the account then. The search stands in the audit, with the number masked.',
  scopes: ['admin:look'],
  query: {
    search: required(
      string(
        { description: 'A number, an id, a reference.', example: '9876543210', minLength: 1, maxLength: SEARCH_MAX },
        (given) => {
          const said = given.trim();
          if (said === '' || said.includes('\0'))
            return new Fault('invalid_text', 'Give a number, an id or a reference.');
          return said.length > SEARCH_MAX
            ? new Fault('too_long', `It may have at most ${SEARCH_MAX} characters.`)
            : said;
        },
      ),
    ),
    account_id: optional(accountId('Only of this account.')),
    limit,
    cursor: cursorOf('found', isMessageId),
  },
  reads: 10,
  answer: z
    .strictObject({
      ...pageFields(z.array(FoundMessage)),
      numbers: z.array(text()).meta({
        description: 'The numbers that the search was taken for.',
        example: ['919876543210'],
      }),
    })
    .meta({ id: 'FoundMessages' }),
  async handle({ db, clock, config, recordLook }, { requester, query }) {
    const { search, account_id: account, limit, cursor } = query;
    const numbers = await numbersOf(db, search, account);
    await recordLook(requester, {
      action: 'message.search',
      subject: { kind: 'search', id: maskNumbers(search) },
      ...(account && { account }),
    });
    const now = clock.now().getTime();
    const since = lowestId('msg', new Date(now - (config.messageDays + OPEN_DAYS) * DAY_MS));
    const until = cursor ?? lowestId('msg', new Date(now + DAY_MS));
    const ids = await idsFor(db, search, { numbers, account, since, until, limit: limit + 1 });
    const page = ids.slice(0, limit);
    const found = await findSummaries(db, page);
    const names = await namesOf(db, [...found.values()]);
    const data = page.flatMap((id) => {
      const one = found.get(id);
      if (one === undefined) return [];
      return { ...messageRecord(one), ...ownerOf(one.account, names.get(one.account) ?? '') };
    });
    return { ...pageOf('found', data, ids.length > limit ? page.at(-1) : undefined), numbers: [...numbers] };
  },
});

export const findMessage = endpoint({
  id: 'operatorMessage',
  method: 'get',
  path: '/v2/admin/messages/{message_id}',
  tag: 'Operators',
  summary: 'One message of any account',
  description:
    'Extension. As `GET /v2/messages/{message_id}` shows it, and whose it is. Codes in its text are masked. The look stands in the audit, which the account reads too.',
  scopes: ['admin:look'],
  params: IN_PATH,
  reads: 1,
  answer: z.strictObject({ ...WholeMessage.shape, ...OF_ACCOUNT }).meta({ id: 'OperatorMessage' }),
  problems: ['message_not_found'],
  examples: {
    answer: {
      delivered: {
        ...MESSAGE_EXAMPLES.delivered,
        account_id: 'acc_01m7znjn7hdb5pft3awkb6pgvz',
        account_name: 'Asha Stores',
      },
    },
  },
  async handle(gateway, { requester, params, told }) {
    const { db, recordLook } = gateway;
    const id = params.message_id;
    if (!isMessageId(id)) return refused('message_not_found');
    told.messageId = id;
    const [account] = (await accountsOf(db, [id])).values();
    const known = account && (await findAccount(db, account));
    if (account === undefined || known === undefined) return refused('message_not_found');
    const look = { action: 'message.look', subject: { kind: 'message', id }, account: liveAccountOf(account) };
    await recordLook(requester, look);
    const whole = await readWholeMessage(db, account, id, textRulesFor({ ...requester, account: known }));
    if (whole === undefined) return refused('message_not_found');
    return { ...(await wholeRecord(gateway, whole, true)), ...ownerOf(account, known.name) };
  },
});

function ownerOf(account: AccountId, name: string) {
  return {
    ...{ account_id: liveAccountOf(account), account_name: name },
    ...(isTestAccount(account) && { test: true as const }),
  };
}

interface Wanted {
  readonly numbers: readonly string[];
  readonly account: AccountId | undefined;
  readonly since: MessageId;
  readonly until: MessageId;
  readonly limit: number;
}

async function idsFor(db: Db, search: string, wanted: Wanted): Promise<readonly MessageId[]> {
  const { numbers, account, until, limit } = wanted;
  const [, ofEvent] = /^evt_([0-9a-z]{26})_/.exec(search) ?? [];
  const id = ofEvent === undefined ? search : `msg_${ofEvent}`;
  if (isMessageId(id)) {
    const owner = (await accountsOf(db, [id])).get(id);
    const isWanted = owner !== undefined && (account === undefined || account === owner) && id < until;
    return isWanted ? [id] : [];
  }
  if (isBatchId(search)) return idsOfBatch(db, search, wanted);
  const lists = await Promise.all([
    alongDays(db, 'to', 'to', numbers, wanted),
    alongDays(db, 'from', 'from', numbers, wanted),
    alongDays(db, 'by_reference', 'reference', [search], wanted),
  ]);
  return [...new Set(lists.flat())].sort().reverse().slice(0, limit);
}

async function idsOfBatch(db: Db, id: BatchId, { account, until, limit }: Wanted): Promise<readonly MessageId[]> {
  const batch = await db.collection<BatchDocument>('batches').findOne({ _id: id }, { projection: { account: 1 } });
  if (batch === null || (account !== undefined && batch.account !== account)) return [];
  const { $gte, $lte } = batchMessageRange(id);
  const found = await db
    .collection<AnyMessage>('messages')
    .find({ account: batch.account, _id: { $gte, $lte, $lt: until }, batch: id }, { projection: { _id: 1 } })
    .sort({ _id: -1 })
    .hint('account')
    .limit(limit)
    .toArray();
  return found.map(({ _id }) => _id);
}

/**
 * Walks an index by days, newest first: one look per day and value. Within a day messages are ordered by account, so a
 * day is read whole.
 */
async function alongDays(
  db: Db,
  index: string,
  field: 'to' | 'from' | 'reference',
  values: readonly string[],
  { account, since, until }: Wanted,
): Promise<readonly MessageId[]> {
  if (values.length === 0) return [];
  const found = await db
    .collection<AnyMessage>('messages')
    .find({
      day: { $in: [...daysFrom(since, until)] },
      [field]: { $in: [...values] },
      ...(account && { account }),
      _id: { $lt: until },
    })
    .sort({ day: -1, [field]: -1, account: -1, _id: -1 })
    .hint(index)
    .limit(LOOKED_AT_MAX)
    .batchSize(LOOKED_AT_MAX + 1)
    .project<Pick<AnyMessage, '_id'>>({ _id: 1 })
    .toArray();
  const ids = found.map(({ _id }) => _id);
  const last = ids.at(-1);
  if (last === undefined || ids.length < LOOKED_AT_MAX) return ids;
  // The last day was not read to its end. The next page shows it, unless it is the only one.
  const whole = ids.filter((id) => idDay(id) !== idDay(last));
  return whole.length > 0 ? whole : ids;
}

async function accountsOf(db: Db, ids: readonly MessageId[]): Promise<ReadonlyMap<MessageId, AccountId>> {
  const found = await db
    .collection<AnyMessage>('messages')
    .find({ _id: { $in: [...ids] } }, { projection: { account: 1 } })
    .toArray();
  return new Map(found.map(({ _id, account }) => [_id, account]));
}

async function namesOf(db: Db, messages: readonly { readonly account: AccountId }[]) {
  const accounts = await findAccounts(db, [...new Set(messages.map(({ account }) => account))]);
  return new Map(accounts.map(({ _id, name }) => [_id, name]));
}

/** Most traffic is Indian: its numbers are found without country code, whatever countries accounts have. */
const ALWAYS = 'IN';

/**
 * The numbers that may be meant by `+91 98765-43210`, `0091…`, `098765 43210`, `9876543210`: as written, and as dialled
 * in the accounts' countries. Empty if it is no number.
 */
async function numbersOf(db: Db, search: string, account: AccountId | undefined): Promise<readonly string[]> {
  if (isCustomerUserId(search)) return [search];
  const digits = search.replaceAll(/[\s().+/-]/g, '');
  if (!/^\d{3,17}$/.test(digits)) return [];
  const accounts = await db
    .collection<AccountDocument>('accounts')
    .find(account === undefined ? {} : { _id: account }, { projection: { country: 1, dlt: 1 } })
    .toArray();
  const countries = new Set([ALWAYS, ...accounts.flatMap((one) => homeOf(one) ?? [])]);
  const national = [...countries].flatMap((country) => inCountry(digits, country) ?? []);
  return [...new Set([digits, digits.replace(/^00/, ''), ...national])];
}
