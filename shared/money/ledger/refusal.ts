import type { AccountDocument } from '../accounts/account.ts';
import { type CapReached, capReached, type KeyCharge, withinCaps } from './spending.ts';

/** Why an account does not pay. */
export type Refusal =
  | { readonly kind: 'insufficient_credits'; readonly balance: number; readonly required: number }
  | { readonly kind: 'account_suspended' }
  | { readonly kind: 'credits_expired'; readonly expiryDate: string }
  | CapReached
  /** The request had to be paid before a time (`payBy`), and by the store's clock that time had passed. */
  | { readonly kind: 'too_late' };

/** The fields that a refusal depends on. */
export type Payer = Pick<AccountDocument, 'status' | 'balance' | 'expiryDate' | 'caps' | 'spent' | 'keysSpent'>;

/** The same as a projection. */
export const PAYER = {
  status: 1,
  balance: 1,
  expiryDate: 1,
  caps: 1,
  spent: 1,
  keysSpent: 1,
} as const satisfies Record<keyof Payer, 1>;

/**
 * Why the account does not pay `required` credits on this UTC day; undefined when it would pay. The first reason found is the one
 * reported. `keys`: what it takes of the caps of keys. The filters of the updates that decide (money/payment/debit.ts, money/conversations/opening-store.ts) say the same.
 */
export function refusalOf(
  account: Payer | null,
  required: number,
  today: string,
  keys: readonly KeyCharge[] = [],
): Refusal | undefined {
  if (account === null || account.status !== 'active') return { kind: 'account_suspended' };
  if (account.expiryDate < today) return { kind: 'credits_expired', expiryDate: account.expiryDate };
  if (account.balance < required) return { kind: 'insufficient_credits', balance: account.balance, required };
  return capReached(account, required, today, keys);
}

/** The same as a filter, for the update that decides. `uncapped`: only while it has no caps, which is cheaper to ask. */
export function payerFilter(required: number, today: string, keys: readonly KeyCharge[] = [], uncapped = false) {
  return {
    status: 'active',
    balance: { $gte: required },
    expiryDate: { $gte: today },
    ...(uncapped ? { caps: { $exists: false } } : { $and: withinCaps(required, today, keys) }),
  } as const;
}
