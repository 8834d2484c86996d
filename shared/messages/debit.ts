import { Binary, BSON, type Collection, type Db, type Document } from 'mongodb';
import type { AccountDocument, PendingChange } from '../accounts/account.ts';
import { CREDITS_PER_MESSAGE } from '../credits/refund.ts';
import type { AccountId, BatchId, GroupId } from '../runtime/ids.ts';
import type { ScheduleDocument } from '../schedules/schedule.ts';
import type { MessageDocument } from './message.ts';

/** What one attempt to pay for a group gave. */
export type Debit =
  | { readonly kind: 'paid'; readonly pending: PendingChange }
  | { readonly kind: 'refused'; readonly why: Refusal };

export type Refusal =
  | { readonly kind: 'insufficient_credits'; readonly balance: number; readonly required: number }
  | { readonly kind: 'account_suspended' }
  | { readonly kind: 'credits_expired'; readonly expiryDate: string }
  /** `payBy` had passed by the store's time. */
  | { readonly kind: 'too_late' };

export interface DebitRequest {
  readonly account: AccountId;
  readonly group: GroupId;
  readonly messages: readonly MessageDocument[];
  /** Paid now, released at their time. */
  readonly schedules?: readonly ScheduleDocument[];
  /** What is paid for instead of messages and schedules. */
  readonly batch?: BatchOrder | undefined;
  /** UTC day, for the expiry of the credits. */
  readonly today: string;
  /** Groups of this account that are followed up in full: their pending changes are cleared on the way. */
  readonly done: readonly GroupId[];
  /** By the store's time: from then on the debit is refused, wherever it was held up (http/idempotency.ts relies on it). */
  readonly payBy?: Date | undefined;
}

/** A batch that is stored and waits to be paid (batches/batch.ts). */
export interface BatchOrder {
  readonly id: BatchId;
  /** Recipients. */
  readonly total: number;
}

/**
 * The one atomic update that decides: the account pays for the group and carries its messages, or nothing happens. May be
 * asked again with the same group when the answer was lost: the filter lets a group be paid only once, and a group that
 * was paid is recognised by its pending change. (It is cleared by a later debit of the same process or by the sweep, which
 * leaves changes alone that are younger than any repeated attempt.)
 */
export async function debit(accounts: Collection<AccountDocument>, request: DebitRequest): Promise<Debit> {
  const { account, group, today, payBy } = request;
  const required = priceOf(request);
  const pendingPath = `pending.${group}`;
  const withoutMessages = Object.fromEntries(
    (['seq', 'amount', 'balanceAfter', 'reason', 'reference', 'at'] as const).map((name) => [
      `${pendingPath}.${name}`,
      1,
    ]),
  );
  const after = await accounts.findOneAndUpdate(
    {
      _id: account,
      status: 'active',
      balance: { $gte: required },
      expiryDate: { $gte: today },
      [pendingPath]: { $exists: false },
      ...(payBy === undefined ? {} : { $expr: { $lt: ['$$NOW', payBy] } }),
    },
    debitPipeline(request, required),
    { returnDocument: 'after', projection: withoutMessages },
  );
  const paid = after?.pending?.[group];
  if (paid !== undefined) return { kind: 'paid', pending: paid };

  const now = await accounts.findOne(
    { _id: account },
    { projection: { status: 1, balance: 1, expiryDate: 1, ...withoutMessages } },
  );
  const before = now?.pending?.[group];
  if (before !== undefined) return { kind: 'paid', pending: before };
  const why = refusalOf(now, required, today);
  if (why !== undefined) return { kind: 'refused', why };
  if (payBy !== undefined) return { kind: 'refused', why: { kind: 'too_late' } };
  // What stood in the way is gone since; the answer is about the moment of the debit.
  return { kind: 'refused', why: { kind: 'insufficient_credits', balance: now?.balance ?? 0, required } };
}

/** Why a debit of `required` credits would be refused now; undefined when it would be paid. Charges nothing. */
export async function wouldRefuse(
  db: Db,
  account: AccountId,
  required: number,
  today: string,
): Promise<Refusal | undefined> {
  const now = await db
    .collection<AccountDocument>('accounts')
    .findOne({ _id: account }, { projection: { status: 1, balance: 1, expiryDate: 1 } });
  return refusalOf(now, required, today);
}

/** The debit's filter, said in words: what an account is refused for, in the order in which it is told. */
function refusalOf(
  account: Pick<AccountDocument, 'status' | 'balance' | 'expiryDate'> | null,
  required: number,
  today: string,
): Refusal | undefined {
  if (account === null || account.status !== 'active') return { kind: 'account_suspended' };
  if (account.expiryDate < today) return { kind: 'credits_expired', expiryDate: account.expiryDate };
  if (account.balance < required) return { kind: 'insufficient_credits', balance: account.balance, required };
  return undefined;
}

/** The messages that a pending change paid for. */
export function paidMessages(pending: PendingChange): readonly MessageDocument[] {
  return paidDocuments(pending).m;
}

/** The schedules that a pending change paid for. */
export function paidSchedules(pending: PendingChange): readonly ScheduleDocument[] {
  return paidDocuments(pending).s ?? [];
}

interface PaidDocuments {
  readonly m: readonly MessageDocument[];
  /** Absent when there are none. */
  readonly s?: readonly ScheduleDocument[];
}

function paidDocuments({ messages }: PendingChange): PaidDocuments {
  if (messages === undefined) return { m: [] };
  return BSON.deserialize(messages.buffer) as PaidDocuments; // written by debitPipeline below
}

function priceOf({ messages, schedules = [], batch }: DebitRequest): number {
  const booked = schedules.reduce((sum, { credits }) => sum + credits, 0);
  return (batch?.total ?? messages.length) * CREDITS_PER_MESSAGE + booked;
}

function debitPipeline({ group, messages, schedules = [], batch, done }: DebitRequest, required: number): Document[] {
  const paid: PaidDocuments = { m: messages, ...(schedules.length === 0 ? {} : { s: schedules }) };
  const pending = {
    seq: { $add: ['$seq', 1] },
    amount: -required,
    balanceAfter: { $subtract: ['$balance', required] },
    reason: 'send',
    at: '$$NOW',
    ...(batch === undefined
      ? { messages: new Binary(BSON.serialize(paid, { ignoreUndefined: true })) }
      : { reference: { $literal: batch.id } }),
  } satisfies Partial<Record<keyof PendingChange, unknown>>;
  const set = {
    $set: {
      balance: { $subtract: ['$balance', required] },
      seq: { $add: ['$seq', 1] },
      pendingAt: { $ifNull: ['$pendingAt', '$$NOW'] },
      [`pending.${group}`]: pending,
    },
  };
  return done.length === 0 ? [set] : [set, { $unset: done.map((id) => `pending.${id}`) }];
}
