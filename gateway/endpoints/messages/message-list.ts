import type { Db } from 'mongodb';
import type { AnyMessage } from '../../../shared/messages/document/any-message.ts';
import { type AccountId, batchMessageRange, lowestId, type MessageId } from '../../../shared/platform/runtime/ids.ts';
import { daysFrom, type MessageFilter, orderOf, searchBy } from './search-index.ts';
import { type MessageSummary, SUMMARY_FIELDS } from './view.ts';
import { ALL_VIEWS } from './views.ts';

const FIELDS = [...SUMMARY_FIELDS, ...ALL_VIEWS.flatMap((view) => view.summaryFields)];
const PROJECTION = Object.fromEntries(FIELDS.map((name) => [name, 1]));

export interface MessagePage {
  readonly messages: readonly MessageSummary[];
  /** Where the next page begins, exclusive. Undefined at the end of the list. */
  readonly next: MessageId | undefined;
  /** The oldest message that was looked at, when that ended the page (`WALK_MAX`). */
  readonly searchedTo?: MessageId | undefined;
}

/**
 * The most messages that one call looks at when it filters by something that its index does not contain: channel, sender,
 * direction, the common states, and whatever is asked beside what the index was chosen for. An index for each of these would
 * cost every message a write. Instead a page may have fewer entries than asked for, even none, and still say where to continue.
 * Takes the embedded store some 4 ms.
 */
export const WALK_MAX = 1_000;

/**
 * Up to `limit` messages of an account, newest first, older than `after`. Time and batch are ranges of `_id`, so
 * every query is one backward walk along an index (search-index.ts). It looks at no more than `WALK_MAX` messages, however many
 * the account has.
 */
export async function listMessages(
  db: Db,
  account: AccountId,
  filter: MessageFilter,
  after: MessageId | undefined,
  limit: number,
): Promise<MessagePage> {
  const search = searchBy(account, filter);
  const { wanted } = search;
  const range = idRange(filter, after);
  const days: object = search.byDay === undefined ? {} : { day: { $in: await daysOf(db, account, range) } };
  const walk = (_id: IdRange, conditions: object, fields: object) =>
    db
      .collection<AnyMessage>('messages')
      .find({ ...search.walked, ...days, ...conditions, _id })
      .sort(orderOf(search))
      // The index is named. Otherwise a plan could walk other accounts' messages, because those are in the right order too.
      .hint(search.index)
      .project<MessageSummary>(fields);

  let walkEnd: MessageId | undefined;
  if (Object.keys(wanted).length > 0) {
    const [last, more] = await walk(range, {}, { _id: 1 })
      .skip(WALK_MAX - 1)
      .limit(2)
      .toArray();
    if (more !== undefined) walkEnd = last?._id;
  }
  const { batch } = filter;
  const ofBatch = batch === undefined ? {} : { batch }; // the range of ids alone could include others
  const rest = walkEnd === undefined ? range : { ...range, $gte: walkEnd };
  const found = await walk(rest, { ...wanted, ...ofBatch }, PROJECTION)
    .limit(limit + 1)
    .batchSize(limit + 2) // everything in one reply; MongoDB's default for the first is 101
    .toArray();
  if (found.length <= limit) return { messages: found, next: walkEnd, searchedTo: walkEnd };
  const page = found.slice(0, limit);
  return { messages: page, next: page.at(-1)?._id };
}

/** What was written to a person, and what the person wrote, under these names, as one list. Each name's part is found by an index. */
export async function listMessagesWith(
  db: Db,
  account: AccountId,
  names: readonly string[],
  { number, ...filter }: Omit<MessageFilter, 'to' | 'from' | 'channel'> & { readonly number?: string | undefined },
  after: MessageId | undefined,
  limit: number,
): Promise<MessagePage> {
  const list = (more: MessageFilter) =>
    listMessages(db, account, { ...filter, channel: 'chatapp', ...more }, after, limit);
  const lists = await Promise.all(
    names.flatMap((name) => [
      ...(filter.direction === 'out' ? [] : [list({ from: name, to: number })]),
      ...(filter.direction === 'in' ? [] : [list({ to: name, from: number, direction: 'out' })]),
    ]),
  );
  // Where one of the lists ends and may go on, the others must not go further.
  const ends = lists.flatMap(({ next }) => next ?? []).sort();
  const cut = ends.at(-1);
  const all = lists
    .flatMap(({ messages }) => messages)
    .filter(({ _id }) => cut === undefined || _id >= cut)
    .sort((a, b) => (a._id < b._id ? 1 : -1));
  const messages = all.slice(0, limit);
  return { messages, next: all.length > limit ? messages.at(-1)?._id : cut };
}

/** Messages as lists show them, and whose they are. */
export async function findSummaries(
  db: Db,
  ids: readonly MessageId[],
): Promise<ReadonlyMap<MessageId, MessageSummary & Pick<AnyMessage, 'account'>>> {
  const found = await db
    .collection<AnyMessage>('messages')
    .find({ _id: { $in: [...ids] } })
    .project<MessageSummary & Pick<AnyMessage, 'account'>>({ ...PROJECTION, account: 1 })
    .batchSize(ids.length + 1)
    .toArray();
  return new Map(found.map((one) => [one._id, one]));
}

/** The days of the account's messages within a range of ids. */
async function daysOf(db: Db, account: AccountId, range: IdRange): Promise<readonly number[]> {
  const end = (direction: 1 | -1) =>
    db
      .collection<AnyMessage>('messages')
      .find({ account, _id: range })
      .sort({ _id: direction })
      .hint('account')
      .limit(1)
      .project<Pick<AnyMessage, '_id'>>({ _id: 1 })
      .next();
  const [oldest, newest] = await Promise.all([end(1), end(-1)]);
  return oldest === null || newest === null ? [] : daysFrom(oldest._id, newest._id);
}

interface IdRange {
  readonly $gte: MessageId;
  readonly $lt?: MessageId;
  readonly $lte?: MessageId;
}

function idRange({ batch, paid, createdFrom, createdBefore }: MessageFilter, after: MessageId | undefined): IdRange {
  const ofBatch = batch !== undefined ? batchMessageRange(batch) : paid && { $gte: paid.first, $lte: paid.last };
  const first = lowestId('msg', createdFrom ?? new Date(0));
  const before = createdBefore === undefined ? undefined : lowestId('msg', createdBefore);
  const $lt = before === undefined || (after !== undefined && after < before) ? after : before;
  return {
    $gte: ofBatch !== undefined && ofBatch.$gte > first ? ofBatch.$gte : first,
    ...($lt === undefined ? {} : { $lt }),
    ...(ofBatch === undefined ? {} : { $lte: ofBatch.$lte }),
  };
}
