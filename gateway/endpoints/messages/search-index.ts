import type { ChannelName, MessageState } from '../../../shared/messages/document/message.ts';
import type { Covers } from '../../../shared/money/accounts/account.ts';
import { RARE_STATES, type RareState } from '../../../shared/platform/mongo/indexes.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import {
  type AccountId,
  type BatchId,
  type GroupId,
  idDay,
  type MessageId,
} from '../../../shared/platform/runtime/ids.ts';

/** Which messages a list shows: those of which all of this is true. */
export interface MessageFilter {
  readonly channel?: ChannelName | undefined;
  /** `in`: messages from customers. */
  readonly direction?: 'in' | 'out' | undefined;
  readonly states?: readonly MessageState[] | undefined;
  readonly to?: string | undefined;
  /** The customer who wrote it; of what was sent on the chat-app channel the account's number. */
  readonly from?: string | undefined;
  readonly reference?: string | undefined;
  readonly sender?: string | undefined;
  readonly batch?: BatchId | undefined;
  /** Those that a debit paid for, from the first to the last. */
  readonly paid?: ({ readonly group: GroupId } & Pick<Covers, 'first' | 'last'>) | undefined;
  /** The creation time is part of a message's id. `createdFrom` is inclusive, `createdBefore` exclusive. */
  readonly createdFrom?: Date | undefined;
  readonly createdBefore?: Date | undefined;
}

/** How a search walks the messages: along which index, which part of it, and what is looked at on the way. */
export interface Search {
  readonly index: string;
  /** Conditions that the index answers, beside a range of `_id`. */
  readonly walked: object;
  /** The name of the field behind `day`, for an index by days. Its walk goes through the days one by one. */
  readonly byDay?: 'to' | 'from' | 'reference';
  /** Conditions that each message on the way is compared with. Empty: every message of the walk is wanted. */
  readonly wanted: object;
}

/**
 * Chooses the index with the fewest messages to look at: one customer or recipient has few, then a reference, then a state that
 * few messages reach. A batch is a range of ids, which is narrow on any index.
 */
export function searchBy(account: AccountId, filter: MessageFilter): Search {
  const { to, from, direction, reference, batch } = filter;
  const rare = rareState(filter);
  // Of what was sent `to` is the customer, with fewer messages than the account's number.
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

/** The order of a search along its index, newest first. It names all fields, because several days are walked one after the other. */
export function orderOf({ byDay }: Search): Readonly<Record<string, -1>> {
  return byDay === undefined ? { _id: -1 } : { day: -1, [byDay]: -1, account: -1, _id: -1 };
}

/** The days on which messages from `oldest` to `newest` were made, for the field `day`. One look into the index for each. */
export function daysFrom(oldest: MessageId, newest: MessageId): readonly number[] {
  const first = idDay(oldest);
  const count = Math.max(0, idDay(newest) - first + 1);
  return Array.from({ length: count }, (_, i) => first + i);
}

/** The conditions that remain when the index answers the one by `answered`. */
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

/** The filter by direction, where the index does not imply it. SMS that the account sends have no `direction`. */
function directionOf(filter: MessageFilter, answered: string | undefined): 'in' | { readonly $ne: 'in' } | undefined {
  const { direction } = filter;
  // Only messages from customers have `from`, and only they are `received`.
  if (direction === 'in') {
    const implied = answered === 'from' || (answered === 'state' && rareState(filter) === 'received');
    return implied ? undefined : 'in';
  }
  return direction === 'out' ? { $ne: 'in' } : undefined;
}
