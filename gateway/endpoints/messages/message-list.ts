import type { Db } from 'mongodb';
import type { AnyMessage } from '../../../shared/messages/document/any-message.ts';
import type { ChannelName } from '../../../shared/messages/document/channel.ts';
import type { MessageState } from '../../../shared/messages/document/message.ts';
import type { Covers } from '../../../shared/money/accounts/account.ts';
import { RARE_STATES, type RareState } from '../../../shared/platform/mongo/indexes.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import {
  type AccountId,
  type BatchId,
  batchMessageRange,
  type GroupId,
  idDay,
  lowestId,
  type MessageId,
} from '../../../shared/platform/runtime/ids.ts';
import { ALL_VIEWS, type MessageSummary, SUMMARY_FIELDS } from './views.ts';

const FIELDS = [...SUMMARY_FIELDS, ...ALL_VIEWS.flatMap((view) => view.summaryFields)];
const PROJECTION = Object.fromEntries(FIELDS.map((name) => [name, 1]));

interface MessagePage {
  readonly messages: readonly MessageSummary[];
  /** Exclusive. Undefined at the end of the list. */
  readonly next: MessageId | undefined;
  /** The oldest message looked at, if that ended the page (`WALK_MAX`). */
  readonly searchedTo?: MessageId | undefined;
}

/**
 * The most messages per call when filtering by something outside the index (channel, sender, direction, common states).
 * More indexes would cost every message a write. A page may then be short, even empty, and say where to continue. Takes
 * the embedded store some 4 ms.
 */
export const WALK_MAX = 1_000;

/**
 * Up to `limit` messages, newest first, older than `after`. Time and batch are ranges of `_id`, so every query is one
 * backward walk along an index (`searchBy`), over `WALK_MAX` messages at most.
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
      // The index is named. Otherwise a plan could walk other accounts' messages, which are in the right order too.
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

/** Messages to and from a person, under these names, as one list. Each name's part is found by an index. */
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

export interface MessageFilter {
  readonly channel?: ChannelName | undefined;
  readonly direction?: 'in' | 'out' | undefined;
  readonly states?: readonly MessageState[] | undefined;
  readonly to?: string | undefined;
  /** The customer who wrote; for what was sent on the chat-app channel the account's number. */
  readonly from?: string | undefined;
  readonly reference?: string | undefined;
  readonly sender?: string | undefined;
  readonly batch?: BatchId | undefined;
  /** Paid for by this debit. */
  readonly paid?: ({ readonly group: GroupId } & Pick<Covers, 'first' | 'last'>) | undefined;
  /** By the creation time in the id. `createdFrom` is inclusive, `createdBefore` exclusive. */
  readonly createdFrom?: Date | undefined;
  readonly createdBefore?: Date | undefined;
}

interface Search {
  readonly index: string;
  /** Conditions that the index answers, beside a range of `_id`. */
  readonly walked: object;
  /** The field after `day` in an index by days, whose days are walked one by one. */
  readonly byDay?: 'to' | 'from' | 'reference';
  /** Conditions that each message of the walk is compared with. Empty: all are wanted. */
  readonly wanted: object;
}

/** The index with the fewest messages: one customer or recipient, then a reference, then a rare state. */
export function searchBy(account: AccountId, filter: MessageFilter): Search {
  const { to, from, direction, reference, batch } = filter;
  const rare = rareState(filter);
  // For sent messages `to` is the customer, who has fewer messages than the account's number.
  if (from !== undefined && (direction !== 'out' || to === undefined)) {
    return { index: 'from', walked: { account, from }, byDay: 'from', wanted: wantedOf(filter, 'from') };
  }
  if (to !== undefined) {
    return { index: 'to', walked: { account, to }, byDay: 'to', wanted: wantedOf(filter, 'to') };
  }
  if (reference !== undefined && batch === undefined) {
    return {
      ...{ index: 'by_reference', walked: { account, reference }, byDay: 'reference' },
      wanted: wantedOf(filter, 'reference'),
    };
  }
  if (rare !== undefined) {
    return { index: RARE_STATES[rare], walked: { account, state: rare }, wanted: wantedOf(filter, 'state') };
  }
  return { index: 'account', walked: { account }, wanted: wantedOf(filter, undefined) };
}

/** Newest first along the index. Names all fields, because days are walked one after the other. */
export function orderOf({ byDay }: Search): Readonly<Record<string, -1>> {
  return byDay === undefined ? { _id: -1 } : { day: -1, [byDay]: -1, account: -1, _id: -1 };
}

/** For the field `day`: the days from `oldest` to `newest`. Each costs one look into the index. */
export function daysFrom(oldest: MessageId, newest: MessageId): readonly number[] {
  const first = idDay(oldest);
  const count = Math.max(0, idDay(newest) - first + 1);
  return Array.from({ length: count }, (_, i) => first + i);
}

function wantedOf(filter: MessageFilter, answered: 'to' | 'from' | 'reference' | 'state' | undefined): object {
  const { channel, states, to, from, reference, sender, paid } = filter;
  const direction = directionOf(filter, answered);
  return {
    ...defined({ channel, direction }),
    ...(states === undefined || answered === 'state' ? {} : { state: { $in: [...states] } }),
    ...(to === undefined || answered === 'to' ? {} : { to }),
    ...(from === undefined || answered === 'from' ? {} : { from }),
    ...(reference === undefined || answered === 'reference' ? {} : { reference }),
    ...defined({ sender, group: paid?.group }),
  };
}

/** The requested state, if it is only one and has an index. Messages from customers are always `received`. */
function rareState({ states, direction }: MessageFilter): RareState | undefined {
  if (states === undefined) return direction === 'in' ? 'received' : undefined;
  const [state, ...others] = states;
  return others.length === 0 && state !== undefined && isRare(state) ? state : undefined;
}

function isRare(state: MessageState): state is RareState {
  return state in RARE_STATES;
}

/** The filter by direction, where the index does not imply it. Sent SMS have no `direction`. */
function directionOf(filter: MessageFilter, answered: string | undefined): 'in' | { readonly $ne: 'in' } | undefined {
  const { direction } = filter;
  // Only messages from customers have `from`, and only they are `received`.
  if (direction === 'in') {
    const implied = answered === 'from' || (answered === 'state' && rareState(filter) === 'received');
    return implied ? undefined : 'in';
  }
  return direction === 'out' ? { $ne: 'in' } : undefined;
}
