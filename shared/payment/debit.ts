import type { Db, Document, Filter } from 'mongodb';
import type { AccountDocument } from '../accounts/account.ts';
import { PAYER, type Payer, payerFilter, type Refusal, refusalOf } from '../ledger/refusal.ts';
import { updateEach } from '../mongo/update-each.ts';
import type { AccountId, GroupId } from '../runtime/ids.ts';
import { type Decided, encodePurchase, type Purchase, priceOf } from './pending.ts';

/** What one attempt to pay for a group gave. */
export type Debit = { readonly kind: 'paid' } | { readonly kind: 'refused'; readonly why: Refusal };

export const PAID = { kind: 'paid' } as const;

export interface DebitRequest extends Purchase {
  readonly account: AccountId;
  readonly group: GroupId;
  /** UTC day, for the expiry of the credits. */
  readonly today: string;
  /** Groups of this account that are followed up in full: their pending changes are cleared on the way. */
  readonly done: readonly GroupId[];
  /** By the store's time: from then on the debit is refused, wherever it was held up (idempotency/once.ts relies on it). */
  readonly payBy?: Date | undefined;
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

export function debitPipeline(request: DebitRequest): Document[] {
  const { group, done } = request;
  const required = priceOf(request);
  const seq = { $add: ['$seq', 1] };
  const balance = { $subtract: ['$balance', required] };
  const pending = {
    ...({ seq, balanceAfter: balance, at: '$$NOW' } satisfies Record<Decided, unknown>),
    ...encodePurchase(request),
  };
  const set = {
    $set: { balance, seq, pendingAt: { $ifNull: ['$pendingAt', '$$NOW'] }, [`pending.${group}`]: pending },
  };
  return done.length === 0 ? [set] : [set, { $unset: done.map((id) => `pending.${id}`) }];
}
