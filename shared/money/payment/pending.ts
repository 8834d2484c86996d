import { Binary, BSON, type Db } from 'mongodb';
import type { ChatMessageDocument } from '../../messages/document/chat-message.ts';
import type { MessageDocument } from '../../messages/document/message.ts';
import { findInQueue } from '../../messages/queue/queue-store.ts';
import { readSchedule, type ScheduleDocument, storeBooked, withoutStored } from '../../messages/schedule.ts';
import { type FindOne, findCommitted, findNow } from '../../platform/mongo/find-one.ts';
import {
  type AccountId,
  type BatchId,
  type GroupId,
  isBatchId,
  type MessageId,
  type ScheduleId,
} from '../../platform/runtime/ids.ts';
import type { AccountDocument, Covers, PaidConversation, PendingChange } from '../accounts/account.ts';
import { creditsOf } from '../accounts/prices.ts';

/**
 * What a debit pays for travels in the account's own document, under `pending`, from the update that pays until everything is
 * stored where it belongs. Only this file writes and reads that form:
 *
 *     pending: {
 *       // Two messages, and a scheduled one whose request came at the same time. Under `messages`, as BSON:
 *       // {m: [{_id: 'msg_1', …}, {_id: 'msg_2', …}], s: [{_id: 'sch_1', …}]}
 *       grp_1: {seq: 7, amount: -3, balanceAfter: 97, at, reason: 'send', schedules: ['sch_1'], covers: {count: 2, first: 'msg_1', last: 'msg_2'},
 *               messages: <binary>},
 *       // A scheduled message or a scheduled batch alone: the ledger entry names it. {m: [], s: [{_id: 'sch_2', …}]}
 *       grp_2: {seq: 8, amount: -1, balanceAfter: 96, at, reason: 'send', reference: 'sch_2', schedules: ['sch_2'], messages: <binary>},
 *       // A batch. Its recipients were stored before it was paid for.
 *       grp_3: {seq: 9, amount: -50, balanceAfter: 46, at, reason: 'send', reference: 'bat_1'},
 *       // A conversation, with the message that opens it: {m: [], c: [{_id: 'msg_3', …}]}. What was opened is in
 *       // the account's `opening.grp_4`.
 *       grp_4: {seq: 10, amount: -2, balanceAfter: 44, at, reason: 'conversation', reference: 'cnv_1', messages: <binary>},
 *       // Credits that were added pay for nothing (money/ledger/change.ts).
 *       ref_msg_9: {seq: 11, amount: 1, balanceAfter: 45, at, reason: 'refund', reference: 'msg_9'},
 *     }
 */
export interface Paid {
  readonly messages: readonly MessageDocument[];
  readonly schedules: readonly ScheduleDocument[];
  readonly chatMessages: readonly ChatMessageDocument[];
  readonly batch: BatchId | undefined;
}

export interface Purchase {
  readonly messages: readonly MessageDocument[];
  readonly schedules?: readonly ScheduleDocument[];
  readonly batch?: BatchOrder | undefined;
}

export interface BatchOrder {
  readonly id: BatchId;
  readonly total: number;
  /** Absent: 1 for each. */
  readonly credits?: number;
}

/** The binary's content. Nested documents would take the store twice the time. */
interface Packed {
  readonly m: readonly MessageDocument[];
  readonly s?: readonly ScheduleDocument[];
  readonly c?: readonly ChatMessageDocument[];
}

/** The fields of a pending change that the store sets; the caller of the debit knows the others. */
export const DECIDED = ['seq', 'balanceAfter', 'at'] as const;

export type Decided = (typeof DECIDED)[number];

type Asked = Omit<PendingChange, Decided>;

export function priceOf({ messages, schedules = [], batch }: Purchase): number {
  const booked = schedules.reduce((sum, { credits }) => sum + credits, 0);
  if (batch !== undefined) return (batch.credits ?? batch.total) + booked;
  return messages.reduce((sum, message) => sum + creditsOf(message), booked);
}

export function purchaseEntry(purchase: Purchase): Omit<Asked, 'messages'> {
  const { batch, messages, schedules = [] } = purchase;
  const [only] = schedules;
  const reference = batch?.id ?? (messages.length === 0 && schedules.length === 1 ? only?._id : undefined);
  return {
    amount: -priceOf(purchase),
    reason: 'send',
    ...(reference === undefined ? {} : { reference }),
    ...(schedules.length === 0 ? {} : { schedules: schedules.map(({ _id }) => _id) }),
    ...(messages.length === 0 || batch !== undefined ? {} : { covers: coversOf(messages) }),
  };
}

function coversOf(messages: readonly Pick<MessageDocument, '_id'>[]): Covers {
  const ids = messages.map(({ _id }) => _id).sort();
  const [first, last] = [ids[0], ids.at(-1)];
  if (first === undefined || last === undefined) throw new Error('a debit of no messages covers none');
  return { count: ids.length, first, last };
}

export function encodePurchase(purchase: Purchase): Asked {
  const { batch, messages, schedules = [] } = purchase;
  if (batch !== undefined) return purchaseEntry(purchase);
  const packed = pack({ m: messages, ...(schedules.length === 0 ? {} : { s: schedules }) });
  return { ...purchaseEntry(purchase), messages: packed };
}

export function openingEntry({ id, credits }: PaidConversation): Omit<Asked, 'messages'> {
  return { amount: -credits, reason: 'conversation', reference: id };
}

export function encodeOpening(opening: PaidConversation, messages: readonly ChatMessageDocument[]): Asked {
  return { ...openingEntry(opening), messages: pack({ m: [], c: messages }) };
}

function decodePaid(pending: PendingChange): Paid {
  const {
    m,
    s = [],
    c = [],
  }: Packed = pending.messages === undefined ? { m: [] } : (BSON.deserialize(pending.messages.buffer) as Packed); // by `pack`
  return { messages: m, schedules: s, chatMessages: c, batch: paidBatch(pending) };
}

export function decodeDebits(changes: AccountDocument['pending'] = {}): ReadonlyMap<GroupId, Paid> {
  const debits = Object.entries(changes).filter(([, { reason }]) => reason === 'send' || reason === 'conversation');
  return new Map(debits.map(([change, debit]) => [change as GroupId, decodePaid(debit)])); // a debit's change is its group
}

function paidBatch({ reason, reference }: PendingChange): BatchId | undefined {
  return reason === 'send' && reference !== undefined && isBatchId(reference) ? reference : undefined;
}

function pack(packed: Packed): Binary {
  return new Binary(BSON.serialize(packed, { ignoreUndefined: true }));
}

/**
 * What an account has paid for and what may not be stored yet. Read this before reading what is stored, for SMS the
 * queue and then `messages`: a group that is no longer pending is stored by then. So once nobody can pay any more, "not
 * found" in all, by `findCommitted`, is final.
 */
export async function readPaid(
  db: Db,
  account: AccountId,
  find: FindOne = findNow,
): Promise<ReadonlyMap<GroupId, Paid>> {
  const accounts = db.collection<AccountDocument>('accounts');
  const payer = await find(accounts, { _id: account }, { pending: 1 });
  return decodeDebits(payer?.pending);
}

/** In the pending changes, the queue, or stored. After the time to pay is over, undefined is final. */
export async function findAccepted(
  db: Db,
  account: AccountId,
  id: MessageId,
): Promise<Pick<MessageDocument, '_id' | 'to' | 'credits'> | undefined> {
  for (const { messages } of (await readPaid(db, account, findCommitted)).values()) {
    const pending = messages.find((message) => message._id === id);
    if (pending !== undefined) return pending;
  }
  const waiting = await findInQueue(db, account, id, true);
  if (waiting !== undefined) return waiting;
  const messages = db.collection<MessageDocument>('messages');
  return (await findCommitted(messages, { _id: id, account }, { to: 1, credits: 1 })) ?? undefined;
}

/** A schedule that an account has paid for, stored or pending. Writes nothing: what is shown may be rolled back. */
export async function showBooked(db: Db, account: AccountId, id: ScheduleId): Promise<ScheduleDocument | undefined> {
  const pending = await readPending(db, account, id, findNow);
  return (await readSchedule(db, account, id)) ?? pending;
}

/** Like `showBooked`, but final once nobody can pay any more; stores it, because it may be cancelled next. */
export async function findBooked(db: Db, account: AccountId, id: ScheduleId): Promise<ScheduleDocument | undefined> {
  const pending = await readPending(db, account, id, findCommitted);
  if (pending !== undefined) await storeBooked(db, [pending]);
  return readSchedule(db, account, id, findCommitted);
}

async function readPending(
  db: Db,
  account: AccountId,
  id: ScheduleId,
  find: FindOne,
): Promise<ScheduleDocument | undefined> {
  return (await readAllPending(db, account, find)).find(({ _id }) => _id === id);
}

async function readAllPending(db: Db, account: AccountId, find: FindOne): Promise<readonly ScheduleDocument[]> {
  const paid = [...(await readPaid(db, account, find)).values()];
  return paid.flatMap(({ schedules }) => schedules);
}

/** Writes nothing. Read this before what is stored: one stored meanwhile is then in both, not in none. */
export async function showUnstored(db: Db, account: AccountId): Promise<readonly ScheduleDocument[]> {
  return withoutStored(db, account, await readAllPending(db, account, findNow));
}
