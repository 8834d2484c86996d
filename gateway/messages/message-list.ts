import type { Db } from 'mongodb';
import type { AnyMessage } from '../../shared/messages/any-message.ts';
import type { ChannelName, MessageState } from '../../shared/messages/message.ts';
import { RARE_STATES, type RareState } from '../../shared/mongo/indexes.ts';
import { type AccountId, type BatchId, batchMessageRange, lowestId, type MessageId } from '../../shared/runtime/ids.ts';
import { type MessageSummary, SUMMARY_FIELDS } from './view.ts';
import { ALL_VIEWS } from './views.ts';

const FIELDS = [...SUMMARY_FIELDS, ...ALL_VIEWS.flatMap((view) => view.summaryFields)];
const PROJECTION = Object.fromEntries(FIELDS.map((name) => [name, 1]));

export interface MessageFilter {
  readonly channel?: ChannelName | undefined;
  /** `in`: what customers wrote. */
  readonly direction?: 'in' | 'out' | undefined;
  readonly states?: readonly MessageState[] | undefined;
  readonly to?: string | undefined;
  readonly reference?: string | undefined;
  readonly batch?: BatchId | undefined;
  /** By the time that ids carry: from `createdFrom` on, before `createdBefore`. */
  readonly createdFrom?: Date | undefined;
  readonly createdBefore?: Date | undefined;
}

export interface MessagePage {
  readonly messages: readonly MessageSummary[];
  /** Where the next page begins, exclusive; undefined when all messages have been looked at. */
  readonly next: MessageId | undefined;
}

/**
 * Messages that one call looks at when it filters by what its index does not have (recipient, reference, channel, direction,
 * and states that most messages are in). An index for each of these would be paid in writes by every message; like this a
 * page may have fewer entries than asked for, even none, and still say where to go on. The embedded store takes some 4 ms.
 */
export const WALK_MAX = 1_000;

/**
 * Up to `limit` messages of an account, newest first, older than `after`. Time and batch are ranges of `_id`: everything is
 * one walk backwards along an index, never longer than `WALK_MAX`, however many messages the account has. A rare state has
 * an index of its own, so that what failed among a million is found at once.
 */
export async function listMessages(
  db: Db,
  account: AccountId,
  filter: MessageFilter,
  after: MessageId | undefined,
  limit: number,
): Promise<MessagePage> {
  const { channel, states, to, reference, batch } = filter;
  const messages = db.collection<AnyMessage>('messages');
  const range = idRange(filter, after);
  const rare = rareState(filter);
  // Named, so that no plan walks another account's messages because they are sorted too.
  const [index, walked] = rare === undefined ? ['account', { account }] : ['rare_states', { account, state: rare }];
  const direction = directionOf(filter, rare);
  const wanted = {
    ...(channel === undefined ? {} : { channel }),
    ...(direction === undefined ? {} : { direction }),
    ...(states === undefined || rare !== undefined ? {} : { state: { $in: [...states] } }),
    ...(to === undefined ? {} : { to }),
    ...(reference === undefined ? {} : { reference }),
  };

  let walkEnd: MessageId | undefined;
  if (Object.keys(wanted).length > 0) {
    const [last, more] = await messages
      .find({ ...walked, _id: range })
      .sort({ _id: -1 })
      .hint(index)
      .skip(WALK_MAX - 1)
      .limit(2)
      .project<Pick<AnyMessage, '_id'>>({ _id: 1 })
      .toArray();
    if (more !== undefined) walkEnd = last?._id;
  }
  const found = await messages
    .find({
      ...walked,
      ...wanted,
      ...(batch === undefined ? {} : { batch }), // its range is as good as exact; its name makes it exact
      _id: walkEnd === undefined ? range : { ...range, $gte: walkEnd },
    })
    .sort({ _id: -1 })
    .hint(index)
    .limit(limit + 1)
    .batchSize(limit + 2) // all in one answer: the server's own first batch holds 101
    .project<MessageSummary>(PROJECTION)
    .toArray();
  if (found.length <= limit) return { messages: found, next: walkEnd };
  const page = found.slice(0, limit);
  return { messages: page, next: page.at(-1)?._id };
}

/** The one state asked for, when few messages are in it. What customers wrote is `received`, and stays it. */
function rareState({ states, direction }: MessageFilter): RareState | undefined {
  if (states === undefined) return direction === 'in' ? 'received' : undefined;
  const [state, ...others] = states;
  return others.length > 0 ? undefined : RARE_STATES.find((rare) => rare === state);
}

/** As a condition, where the state does not say it. SMS have no direction: all of them go out. */
function directionOf(
  { direction }: MessageFilter,
  rare: RareState | undefined,
): 'in' | { readonly $ne: 'in' } | undefined {
  if (direction === 'in') return rare === 'received' ? undefined : 'in';
  return direction === 'out' ? { $ne: 'in' } : undefined;
}

interface IdRange {
  readonly $gte: MessageId;
  readonly $lt?: MessageId;
  readonly $lte?: MessageId;
}

function idRange({ batch, createdFrom, createdBefore }: MessageFilter, after: MessageId | undefined): IdRange {
  const ofBatch = batch === undefined ? undefined : batchMessageRange(batch);
  const first = lowestId('msg', createdFrom ?? new Date(0));
  const before = createdBefore === undefined ? undefined : lowestId('msg', createdBefore);
  const $lt = before === undefined || (after !== undefined && after < before) ? after : before;
  return {
    $gte: ofBatch !== undefined && ofBatch.$gte > first ? ofBatch.$gte : first,
    ...($lt === undefined ? {} : { $lt }),
    ...(ofBatch === undefined ? {} : { $lte: ofBatch.$lte }),
  };
}
