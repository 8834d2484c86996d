import type { Db, Document, Filter } from 'mongodb';
import { updateEach } from '../../platform/mongo/update-each.ts';
import type { AccountId, GroupId } from '../../platform/runtime/ids.ts';
import type { AccountDocument } from '../accounts/account.ts';
import { PAYER, type Payer, payerFilter, type Refusal, refusalOf } from '../ledger/refusal.ts';
import { chargesOf, type KeyCaps, type KeyCharge, spending } from '../ledger/spending.ts';
import { inTime } from './pay-by.ts';
import { type Decided, encodePurchase, type Purchase, priceOf } from './pending.ts';

/** The result of one attempt to pay for a group. */
export type Debit = { readonly kind: 'paid' } | { readonly kind: 'refused'; readonly why: Refusal };

/**
 * `failed`: nothing happened to this one, for a reason of its own. `repeated`: an attempt with a lost answer may still reach the
 * store. It has no effect while the pending change exists, so only the maintenance worker may clear that.
 */
export type Answered =
  | (Debit & { readonly repeated?: true })
  | { readonly kind: 'unknown' }
  | { readonly kind: 'failed'; readonly error: unknown };

export const PAID = { kind: 'paid' } as const;

export interface DebitRequest extends Purchase {
  readonly account: AccountId;
  readonly group: GroupId;
  /** UTC day, for the expiry of the credits. */
  readonly today: string;
  /** Groups of this account whose follow-up is complete: this debit clears their pending changes. */
  readonly done: readonly GroupId[];
  /** Groups whose messages are in the queue: this debit takes them out of the pending change, which waits for its ledger entry. */
  readonly queued?: readonly GroupId[];
  /** By the store's time. From then on the debit is refused, however long it was delayed (gateway/http/idempotency/key-store.ts relies on it). */
  readonly payBy?: Date | undefined;
  /** What it takes of the caps of keys. */
  readonly keys?: readonly KeyCharge[];
  /** Nobody here knows of caps. It pays only if there are none; if there are, `readDebits` asks again, with them. */
  readonly uncapped?: boolean;
  /** This process has seen a debit of the account pay today. */
  readonly begun?: boolean;
}

/**
 * The one atomic update that decides: the account pays for the group and carries its messages, or nothing happens. Takes one
 * group each for several different accounts: one update per account, all in one command. Each account decides for itself. Returns
 * how many have paid; if not all have, `debitAnswers` says which.
 *
 * For first attempts only: the filter prevents a second payment only while the pending change exists. When an answer was lost, or
 * may have been, use `debitAgain` (debit-again.ts): it also recognizes debits that were cleared since.
 */
export function debitEach(db: Db, requests: readonly DebitRequest[]): Promise<number> {
  return updateEach(
    db,
    'accounts',
    requests.map((request) => ({ filter: debitFilter(request), update: debitPipeline(request) })),
  );
}

/** The result of a debit, from the account as it is afterwards, while its pending change is not cleared. */
export function debitOf(now: (Payer & Pick<AccountDocument, 'pending'>) | null, request: DebitRequest): Debit {
  if (now?.pending?.[request.group] !== undefined) return PAID;
  const required = priceOf(request);
  const why = refusalOf(now, required, request.today, request.keys);
  if (why !== undefined) return { kind: 'refused', why };
  if (request.payBy !== undefined) return { kind: 'refused', why: { kind: 'too_late' } };
  // The reason for the refusal is gone by now; the answer is about the moment of the debit.
  return { kind: 'refused', why: { kind: 'insufficient_credits', balance: now?.balance ?? 0, required } };
}

/** Why a debit of `required` credits would be refused now; undefined when it would be paid. Charges nothing. */
export async function wouldRefuse(
  db: Db,
  account: AccountId,
  required: number,
  today: string,
  caps: readonly KeyCaps[] = [],
): Promise<Refusal | undefined> {
  const now = await db.collection<AccountDocument>('accounts').findOne({ _id: account }, { projection: PAYER });
  return refusalOf(now, required, today, chargesOf([{ caps, amount: required }]));
}

/** Matches the account if it can pay now, and has no pending change of this group: it pays for a group once. */
export function debitFilter(request: DebitRequest): Filter<AccountDocument> {
  const { account, group, today, payBy, keys, uncapped } = request;
  return {
    _id: account,
    ...payerFilter(priceOf(request), today, keys, uncapped),
    [`pending.${group}`]: { $exists: false },
    ...inTime(payBy),
  };
}

export function debitPipeline(request: DebitRequest): Document[] {
  const { group, today, done, queued = [], keys = [], begun } = request;
  const required = priceOf(request);
  const seq = { $add: ['$seq', 1] };
  const balance = { $subtract: ['$balance', required] };
  const pending = {
    ...({ seq, balanceAfter: balance, at: '$$NOW' } satisfies Record<Decided, unknown>),
    ...encodePurchase(request),
  };
  const set = {
    $set: {
      balance,
      seq,
      pendingAt: { $ifNull: ['$pendingAt', '$$NOW'] },
      [`pending.${group}`]: pending,
      ...spending(required, today, keys, begun),
    },
  };
  const gone = [...done.map((id) => `pending.${id}`), ...queued.map((id) => `pending.${id}.messages`)];
  return gone.length === 0 ? [set] : [set, { $unset: gone }];
}
