import type { Db } from 'mongodb';
import type { AnyMessage } from '../../shared/messages/any-message.ts';
import type { ChannelName, MessageState } from '../../shared/messages/message.ts';
import { RARE_STATES, type RareState } from '../../shared/mongo/message-indexes.ts';
import { type AccountId, type BatchId, batchMessageRange, lowestId, type MessageId } from '../../shared/runtime/ids.ts';
import { type MessageSummary, SUMMARY_FIELDS } from './view.ts';
import { ALL_VIEWS } from './views.ts';

const FIELDS = [...SUMMARY_FIELDS, ...ALL_VIEWS.flatMap((view) => view.summaryFields)];
const PROJECTION = Object.fromEntries(FIELDS.map((name) => [name, 1]));

export interface MessageFilter {
  readonly channel?: ChannelName | undefined;
  /** `in`: messages from customers. */
  readonly direction?: 'in' | 'out' | undefined;
  readonly states?: readonly MessageState[] | undefined;
  readonly to?: string | undefined;
  readonly reference?: string | undefined;
  readonly batch?: BatchId | undefined;
  /** The creation time is part of a message's id. `createdFrom` is inclusive, `createdBefore` exclusive. */
  readonly createdFrom?: Date | undefined;
  readonly createdBefore?: Date | undefined;
}

export interface MessagePage {
  readonly messages: readonly MessageSummary[];
  /** Where the next page begins, exclusive. Undefined at the end of the list. */
  readonly next: MessageId | undefined;
}

/**
 * The most messages that one call looks at when it filters by something that its index does not contain: recipient,
 * reference, channel, direction, and the common states. An index for each of these would cost every message a write.
 * Instead a page may have fewer entries than asked for, even none, and still say where to continue. Takes the
 * embedded store some 4 ms.
 */
export const WALK_MAX = 1_000;

/**
 * Up to `limit` messages of an account, newest first, older than `after`. Time and batch are ranges of `_id`, so
 * every query is one backward walk along an index. It looks at no more than `WALK_MAX` messages, however many the
 * account has. Rare states have an index of their own: the few failed ones among a million are found at once.
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
  // The index is named. Otherwise a plan could walk other accounts' messages, because those are in the right order
  // too.
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
      ...(batch === undefined ? {} : { batch }), // the range of ids alone could include others
      _id: walkEnd === undefined ? range : { ...range, $gte: walkEnd },
    })
    .sort({ _id: -1 })
    .hint(index)
    .limit(limit + 1)
    .batchSize(limit + 2) // everything in one reply; MongoDB's default for the first is 101
    .project<MessageSummary>(PROJECTION)
    .toArray();
  if (found.length <= limit) return { messages: found, next: walkEnd };
  const page = found.slice(0, limit);
  return { messages: page, next: page.at(-1)?._id };
}

/** The requested state, if it is only one and has an index. Messages from customers are always `received`. */
function rareState({ states, direction }: MessageFilter): RareState | undefined {
  if (states === undefined) return direction === 'in' ? 'received' : undefined;
  const [state, ...others] = states;
  return others.length > 0 ? undefined : RARE_STATES.find((rare) => rare === state);
}

/** The filter by direction, where the state does not imply it. SMS have no `direction`: all of them are outgoing. */
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
