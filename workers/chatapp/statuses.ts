import type { Db } from 'mongodb';
import { errorRule } from '../../shared/carriers/providers/graph-error.ts';
import { chatMessageKey } from '../../shared/carriers/providers/provider.ts';
import type { InboxItemDocument, StatusItem } from '../../shared/messages/chat-inbox.ts';
import { applyChange, type Change, entryAt, fitted, joinChanges } from '../../shared/messages/document/change.ts';
import type { ChatMessageDocument, Pricing } from '../../shared/messages/document/chat-message.ts';
import { isHeldOpen, isOpen, mayHaveLeft, UNCONFIRMED } from '../../shared/messages/document/copies.ts';
import type { Copy, HistoryEntry, Part } from '../../shared/messages/document/message.ts';
import { isBeforeSent, mayBecome, STATES } from '../../shared/messages/document/status.ts';
import { sentWith } from '../../shared/messages/settlement/decide-outcome.ts';
import { isMessageId, type MessageId } from '../../shared/platform/runtime/ids.ts';
import { errorReason } from './provider/answer.ts';

export interface MatchedMessage {
  readonly message: ChatMessageDocument;
  readonly statuses: StatusItem[];
  readonly items: InboxItemDocument[];
}

interface Status {
  readonly item: InboxItemDocument;
  readonly status: StatusItem;
  readonly key: string;
}

/** Finds the messages that the statuses among these items concern, and the items that fit no message (yet). */
export async function matchStatuses(
  db: Db,
  items: readonly InboxItemDocument[],
): Promise<{ readonly matched: readonly MatchedMessage[]; readonly unmatched: readonly InboxItemDocument[] }> {
  const statuses = items.flatMap((item): readonly Status[] => {
    if (item.what.kind !== 'status') return [];
    return [{ item, status: item.what, key: chatMessageKey(item.account, item.what.upstreamId) }];
  });
  if (statuses.length === 0) return { matched: [], unmatched: [] };
  const byKey = await findByKey(db, statuses);
  const byOurs = await findByOurs(
    db,
    statuses.filter(({ key }) => !byKey.has(key)),
  );
  // Grouped by message, not by key: two changes of one message in one settle would conflict.
  const matched = new Map<MessageId, MatchedMessage>();
  const unmatched: InboxItemDocument[] = [];
  for (const { item, status, key } of statuses) {
    const message = byKey.get(key) ?? byOurs.get(status.ours ?? '');
    if (message === undefined || message.account !== item.account) {
      unmatched.push(item);
      continue;
    }
    const group = matched.get(message._id) ?? { message, statuses: [], items: [] };
    group.statuses.push(status);
    group.items.push(item);
    matched.set(message._id, group);
  }
  return { matched: [...matched.values()], unmatched };
}

async function findByKey(db: Db, statuses: readonly Status[]): Promise<ReadonlyMap<string, ChatMessageDocument>> {
  const keys = statuses.map(({ key }) => key);
  const found = await db
    .collection<ChatMessageDocument>('messages')
    .find({ 'parts.key': { $in: keys } })
    .toArray();
  return new Map(
    found.flatMap((message) => (message.parts ?? []).flatMap(({ key }) => (key === undefined ? [] : [[key, message]]))),
  );
}

/** By our id, which the status repeats. Needed when the answer with the provider's id was not stored, or never came. */
async function findByOurs(db: Db, statuses: readonly Status[]): Promise<ReadonlyMap<string, ChatMessageDocument>> {
  const ids = statuses.flatMap(({ status: { ours } }) => (ours !== undefined && isMessageId(ours) ? [ours] : []));
  if (ids.length === 0) return new Map();
  const found = await db
    .collection<ChatMessageDocument>('messages')
    .find({ _id: { $in: ids }, channel: 'chatapp', direction: 'out' })
    .toArray();
  return new Map(found.map((message) => [message._id, message]));
}

const RANK = { sent: 0, delivered: 1, read: 2, failed: 3 } as const satisfies Record<StatusItem['status'], number>;

/** The change of all given statuses together, in any order: missing ones are skipped, late ones change nothing. */
export function decideStatuses(
  message: ChatMessageDocument,
  statuses: readonly StatusItem[],
  now: Date,
  costOf: CostOf = () => undefined,
): Change | undefined {
  let current = message;
  let change: Change | undefined;
  const inOrder = statuses.toSorted((a, b) => a.at.getTime() - b.at.getTime() || RANK[a.status] - RANK[b.status]);
  for (const status of inOrder) {
    const next = decideStatus(current, status, now);
    if (next === undefined) continue;
    current = applyChange(current, next);
    change = change === undefined ? next : joinChanges(change, next);
  }
  return change && withPrice(current, change, inOrder, costOf);
}

export type CostOf = (pricing: Pricing, to: string) => string | undefined;

/** The provider repeats the price in each status, and charges for delivered messages. `after`: with the change. */
function withPrice(
  after: ChatMessageDocument,
  change: Change,
  statuses: readonly StatusItem[],
  costOf: CostOf,
): Change {
  const pricing = statuses.findLast((status) => status.pricing !== undefined)?.pricing ?? after.pricing;
  if (pricing === undefined) return change;
  const cost = after.cost ?? (after.deliveredAt === undefined ? undefined : costOf(pricing, after.to));
  return { ...change, set: { ...change.set, pricing, ...(cost === undefined ? {} : { cost }) } };
}

function decideStatus(message: ChatMessageDocument, status: StatusItem, now: Date): Change | undefined {
  const key = chatMessageKey(message.account, status.upstreamId);
  const known = message.parts?.[0];
  if (known?.key !== key && (status.status === 'sent' || status.status === 'failed')) {
    const meant = earlierCopy(message, key);
    if (meant !== undefined) {
      return status.status === 'sent'
        ? earlierSent(message, meant, key, now)
        : earlierFailed(message, meant, status, key, now);
    }
  }
  const another = known?.key !== undefined && known.key !== key;
  // The message had an unknown outcome and was sent again: the other copy decides, unless this one was delivered.
  if (another && (status.status === 'sent' || status.status === 'failed')) return undefined;
  const left = !isBeforeSent(message.state);
  const entries: HistoryEntry[] = left ? [] : [entryAt('sent', now, message.history)];
  const state = left ? message.state : 'sent';
  const history = [...message.history, ...entries];
  const next = status.status;
  if (next === 'sent' || !mayBecome(state, next, history, now)) {
    return left
      ? adopted(known, key)
      : fitted(message, {
          state,
          set: { parts: [part(known, key, 'accepted')] },
          unset: ['outcome', 'errorCode', 'errorReason'],
          entries,
        });
  }
  const failure = next === 'failed' ? failureOf(status) : undefined;
  return {
    state: next,
    set: {
      // The provider charges nothing for a message that failed before it was delivered, and a conversation that it
      // opened is refunded (money/conversations/charge.ts).
      parts: [{ ...part(known, key, failure === undefined ? 'delivered' : 'refused'), ...errorOf(failure) }],
      ...(failure === undefined ? deliveredAt(message, status, now) : failure),
    },
    unset: ['due', 'outcome', ...(failure === undefined ? (['errorCode', 'errorReason'] as const) : [])],
    entries: [...entries, entryAt(next, now, history)],
  };
}

/** The earlier copy that has this id; otherwise the first earlier copy whose fate is unknown. */
function earlierCopy({ earlier = [] }: ChatMessageDocument, key: string): Copy | undefined {
  return (
    earlier.find(({ parts }) => parts.some((one) => one.key === key)) ?? earlier.find(({ parts }) => isOpen(parts))
  );
}

/** Makes it the only accepted copy, unless the current copy is in progress: the status might mean that one. */
function earlierSent(message: ChatMessageDocument, copy: Copy, key: string, now: Date): Change | undefined {
  const { state, earlier = [] } = message;
  if (!isOpen(copy.parts) || !isBeforeSent(state)) return undefined;
  const others = isUnderWay(message) ? earlier : earlier.filter((other) => other !== copy);
  return sentWith(message, [{ key, state: 'accepted' }], now, others);
}

/** The provider accepted this copy, then failed it: so has the message, if no other copy is in progress or unknown. */
function earlierFailed(
  message: ChatMessageDocument,
  copy: Copy,
  status: StatusItem,
  key: string,
  now: Date,
): Change | undefined {
  const { state, earlier = [], errorCode } = message;
  if (copy.parts.every((one) => one.state === 'refused')) return undefined;
  const failure = failureOf(status);
  const parts: readonly Part[] = [{ key, state: 'refused', ...errorOf(failure) }];
  const set = { earlier: earlier.map((other) => (other === copy ? { ...copy, parts } : other)) };
  if (isUnderWay(message) || mayHaveLeft(set)) return { set };
  if (STATES[state].final) return { set: errorCode === UNCONFIRMED ? { ...set, ...failure } : set };
  if (state === 'sent') return { set };
  const sent = entryAt('sent', now, message.history);
  const entries = [sent, entryAt('failed', now, [...message.history, sent])];
  return fitted(message, { state: 'failed', set: { ...set, parts, ...failure }, unset: ['due', 'outcome'], entries });
}

/** Whether the current copy was claimed and has no known outcome yet. */
function isUnderWay(message: ChatMessageDocument): boolean {
  return message.state === 'submitting' && !isHeldOpen(message);
}

/** Stores an id that no answer contained, so that later statuses with this id find the message. */
function adopted(known: Part | undefined, key: string): Change | undefined {
  return known?.key === undefined ? { set: { parts: [part(known, key, 'accepted')] } } : undefined;
}

function part(known: Part | undefined, key: string, state: Part['state']): Part {
  return { key: known?.key ?? key, state };
}

function failureOf({ error }: StatusItem): { readonly errorCode: string; readonly errorReason: string } {
  if (error === undefined) return { errorCode: 'provider_refused', errorReason: 'The provider told no reason' };
  return {
    errorCode: errorRule(error.code)?.code ?? 'provider_refused',
    errorReason: errorReason(error.code, error.details ?? error.title),
  };
}

function errorOf(failure: { readonly errorCode: string } | undefined): Pick<Part, 'error'> {
  return failure === undefined ? {} : { error: failure.errorCode };
}

/** The provider's time, if plausible. A message read without a `delivered` status counts as delivered then. */
function deliveredAt(message: ChatMessageDocument, { at }: StatusItem, now: Date): { readonly deliveredAt?: Date } {
  if (message.deliveredAt !== undefined) return {};
  const sentMs = message.claim?.at.getTime() ?? 0;
  return { deliveredAt: new Date(Math.min(Math.max(at.getTime(), sentMs), now.getTime())) };
}
