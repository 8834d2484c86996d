import { Binary, BSON, type Db, type Document, type Filter } from 'mongodb';
import type { AccountDocument, PendingChange } from '../accounts/account.ts';
import { CREDITS_PER_MESSAGE } from '../ledger/refund.ts';
import { PAYER, type Payer, payerFilter, type Refusal, refusalOf } from '../ledger/refusal.ts';
import type { MessageDocument } from '../messages/message.ts';
import { updateEach } from '../mongo/update-each.ts';
import type { AccountId, BatchId, GroupId } from '../runtime/ids.ts';
import type { ScheduleDocument } from '../schedules/schedule.ts';

/** What one attempt to pay for a group gave. */
export type Debit = { readonly kind: 'paid' } | { readonly kind: 'refused'; readonly why: Refusal };

export const PAID = { kind: 'paid' } as const;

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
  /** By the store's time: from then on the debit is refused, wherever it was held up (idempotency/once.ts relies on it). */
  readonly payBy?: Date | undefined;
}

/** A batch that is stored and waits to be paid (batches/batch.ts). */
export interface BatchOrder {
  readonly id: BatchId;
  /** Recipients. */
  readonly total: number;
}

/**
 * The one atomic update that decides: the account pays for the group and carries its messages, or nothing happens. For a group
 * of each of several accounts, which are different ones: as many updates as accounts, in one command. Each account decides for
 * itself. Returns how many have paid; when it is not all, `readDebits` (debit-again.ts) says which.
 *
 * For the first attempt: its filter lets a group be paid only once while its pending change is there. When the answer was lost,
 * or may have been, `debitAgain` (debit-again.ts) knows those too that were cleared since.
 */
export function debitEach(db: Db, requests: readonly DebitRequest[]): Promise<number> {
  return updateEach(
    db,
    'accounts',
    requests.map((request) => ({ filter: debitFilter(request), update: debitPipeline(request) })),
  );
}

/** What the store decides of a pending change; the rest of it the request says (`statedOf`). */
export const DECIDED = ['seq', 'balanceAfter', 'at'] as const;

/** What became of a debit, by the account as it is after it, whose pending change is not cleared yet. */
export function debitOf(now: (Payer & Pick<AccountDocument, 'pending'>) | null, request: DebitRequest): Debit {
  if (now?.pending?.[request.group] !== undefined) return PAID;
  const required = priceOf(request);
  const why = refusalOf(now, required, request.today);
  if (why !== undefined) return { kind: 'refused', why };
  if (request.payBy !== undefined) return { kind: 'refused', why: { kind: 'too_late' } };
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
  const now = await db.collection<AccountDocument>('accounts').findOne({ _id: account }, { projection: PAYER });
  return refusalOf(now, required, today);
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

/** Credits. */
export function priceOf({ messages, schedules = [], batch }: DebitRequest): number {
  const booked = schedules.reduce((sum, { credits }) => sum + credits, 0);
  return (batch?.total ?? messages.length) * CREDITS_PER_MESSAGE + booked;
}

/** Who may pay, once. */
export function debitFilter(request: DebitRequest): Filter<AccountDocument> {
  const { account, group, today, payBy } = request;
  return {
    _id: account,
    ...payerFilter(priceOf(request), today),
    [`pending.${group}`]: { $exists: false },
    ...(payBy === undefined ? {} : { $expr: { $lt: ['$$NOW', payBy] } }),
  };
}

/** What the request itself says of its pending change. */
export function statedOf(request: DebitRequest): Pick<PendingChange, 'amount' | 'reason' | 'reference' | 'schedules'> {
  const { batch, messages, schedules = [] } = request;
  const [only] = schedules;
  const reference = batch?.id ?? (messages.length === 0 && schedules.length === 1 ? only?._id : undefined);
  return {
    amount: -priceOf(request),
    reason: 'send',
    ...(reference === undefined ? {} : { reference }),
    // Requests that arrive together are paid together.
    ...(schedules.length === 0 ? {} : { schedules: schedules.map(({ _id }) => _id) }),
  };
}

export function debitPipeline(request: DebitRequest): Document[] {
  const { group, messages, schedules = [], batch, done } = request;
  const required = priceOf(request);
  const paid: PaidDocuments = { m: messages, ...(schedules.length === 0 ? {} : { s: schedules }) };
  const pending = {
    seq: { $add: ['$seq', 1] },
    balanceAfter: { $subtract: ['$balance', required] },
    at: '$$NOW',
    ...statedOf(request),
    ...(batch === undefined && { messages: new Binary(BSON.serialize(paid, { ignoreUndefined: true })) }),
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
