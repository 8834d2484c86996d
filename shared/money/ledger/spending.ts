import type { Document } from 'mongodb';
import { isoDate } from '../../platform/runtime/clock.ts';
import { type GroupId, idTime } from '../../platform/runtime/ids.ts';
import type { AccountDocument, Caps, Spending } from '../accounts/account.ts';

export type Refusal =
  | { readonly kind: 'insufficient_credits'; readonly balance: number; readonly required: number }
  | { readonly kind: 'account_suspended' }
  | { readonly kind: 'credits_expired'; readonly expiryDate: string }
  | CapReached
  /** By the store's clock, the request's `payBy` had passed. */
  | { readonly kind: 'too_late' };

export type Payer = Pick<AccountDocument, 'status' | 'balance' | 'expiryDate' | 'caps' | 'spent' | 'keysSpent'>;

export const PAYER = {
  status: 1,
  balance: 1,
  expiryDate: 1,
  caps: 1,
  spent: 1,
  keysSpent: 1,
} as const satisfies Record<keyof Payer, 1>;

/**
 * Why the account does not pay `required` credits on this UTC day, the first reason found; undefined when it would pay.
 * `keys`: what it takes of the caps of keys. The filters of the updates that decide say the same
 * (money/payment/debit.ts, money/conversations/pay.ts).
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

/** `refusalOf` as a filter, for the update that decides. `uncapped`: only without caps, which is cheaper. */
export function payerFilter(required: number, today: string, keys: readonly KeyCharge[] = [], uncapped = false) {
  return {
    status: 'active',
    balance: { $gte: required },
    expiryDate: { $gte: today },
    ...(uncapped ? { caps: { $exists: false } } : { $and: withinCaps(required, today, keys) }),
  } as const;
}

/**
 * What an account, or a key, has spent in the running UTC day and month, and its caps. Counted by the update that pays,
 * and given back by the update that refunds: so a cap holds exactly over all gateways. What is booked for later counts
 * when it is booked, because it is paid for then (docs/decisions/0046).
 */

/** A key with caps. `key`: its line (people/keys/key.ts), so that a key that replaces it goes on. */
export interface KeyCaps extends Caps {
  readonly key: string;
}

export interface KeyCharge extends KeyCaps {
  readonly amount: number;
}

/** The orders' charges by key. `caps`: those of the keys that an order counts for. */
export function chargesOf(
  orders: readonly { readonly caps: readonly KeyCaps[]; readonly amount: number }[],
): KeyCharge[] {
  const charges = new Map<string, KeyCharge>();
  for (const { caps, amount } of orders) {
    for (const one of caps) charges.set(one.key, { ...one, amount: amount + (charges.get(one.key)?.amount ?? 0) });
  }
  return [...charges.values()];
}

/** Part of a stored message, batch or schedule: the keys that a refund is given back to. */
export function keysOf(caps: readonly KeyCaps[]): { readonly keys?: readonly string[] } {
  return caps.length === 0 ? {} : { keys: caps.map(({ key }) => key) };
}

export type CapKind = 'account_day' | 'account_month' | 'key_day' | 'key_month';

export interface CapReached {
  readonly kind: 'spend_limit_reached';
  readonly limit: CapKind;
  readonly cap: number;
  /** In the running day or month. */
  readonly spent: number;
  readonly required: number;
  readonly key?: string;
  /** The UTC day from which on it counts anew. */
  readonly from: string;
}

type Spender = Pick<AccountDocument, 'caps' | 'spent' | 'keysSpent'>;

const PERIODS = ['day', 'month'] as const;
type Period = (typeof PERIODS)[number];
const FIELD = { day: 'ofDay', month: 'ofMonth' } as const satisfies Record<Period, keyof Spending>;

/** A number that sorts like `2026-11-28`: 20261128 or 202611. */
function numberOf(period: Period, today: string): number {
  return Number(today.slice(0, period === 'day' ? 10 : 7).replaceAll('-', ''));
}

/** In the period that is running on this UTC day. */
export function spentIn(period: Period, spent: Spending | undefined, today: string): number {
  return spent !== undefined && spent[period] >= numberOf(period, today) ? spent[FIELD[period]] : 0;
}

/** The first UTC day on which the period counts anew. */
export function resetOf(period: Period, today: string): string {
  const next = new Date(`${today}T00:00:00Z`);
  if (period === 'day') next.setUTCDate(next.getUTCDate() + 1);
  else next.setUTCMonth(next.getUTCMonth() + 1, 1);
  return next.toISOString().slice(0, 10);
}

function capReached(
  account: Spender,
  required: number,
  today: string,
  keys: readonly KeyCharge[],
): CapReached | undefined {
  // A cap below what is spent stops nothing that is free.
  if (required === 0) return undefined;
  const whose = [
    { who: 'account', caps: account.caps ?? {}, spent: account.spent, amount: required, key: undefined },
    ...keys.map(
      ({ key, amount, ...caps }) => ({ who: 'key', caps, spent: account.keysSpent?.[key], amount, key }) as const,
    ),
  ] as const;
  for (const { who, caps, spent: of, amount, key } of whose) {
    for (const period of PERIODS) {
      const [cap, spent] = [caps[period], spentIn(period, of, today)];
      if (cap === undefined || spent + amount <= cap) continue;
      const reached = {
        limit: `${who}_${period}`,
        cap,
        spent,
        required: amount,
        from: resetOf(period, today),
      } as const;
      return { kind: 'spend_limit_reached', ...reached, ...(key === undefined ? {} : { key }) };
    }
  }
  return undefined;
}

/** For who decides about several, one after the other. */
export function afterSpending<A extends Spender>(
  account: A,
  amount: number,
  today: string,
  keys: readonly KeyCharge[],
): A {
  const add = (spent: Spending | undefined, more: number): Spending => ({
    day: Math.max(spent?.day ?? 0, numberOf('day', today)),
    month: Math.max(spent?.month ?? 0, numberOf('month', today)),
    ofDay: spentIn('day', spent, today) + more,
    ofMonth: spentIn('month', spent, today) + more,
  });
  const keysSpent = { ...account.keysSpent };
  for (const { key, amount: more } of keys) keysSpent[key] = add(keysSpent[key], more);
  return { ...account, spent: add(account.spent, amount), keysSpent };
}

/** `capReached` as a filter, for the update that decides. */
function withinCaps(required: number, today: string, keys: readonly KeyCharge[]) {
  const own = PERIODS.map((period) => ({
    $lte: [spentWith('spent', period, today, required), { $ifNull: [`$caps.${period}`, Number.MAX_SAFE_INTEGER] }],
  }));
  const ofKeys = keys.flatMap(({ key, amount, ...caps }) =>
    PERIODS.flatMap((period) => {
      const cap = caps[period];
      return cap === undefined ? [] : [{ $lte: [spentWith(`keysSpent.${key}`, period, today, amount), cap] }];
    }),
  );
  const account = { $or: [{ caps: { $exists: false } }, { $expr: { $and: own } }] };
  return ofKeys.length === 0 ? [account] : [account, { $expr: { $and: ofKeys } }];
}

/**
 * For the `$set` of the update that pays. A gateway whose clock is behind counts for the day that has begun already.
 * `begun`: an earlier debit of this day has paid, so no new period begins, which is cheaper for the store.
 */
export function spending(required: number, today: string, keys: readonly KeyCharge[], begun = false): Document {
  if (begun && keys.length === 0) {
    return {
      'spent.ofDay': { $add: ['$spent.ofDay', required] },
      'spent.ofMonth': { $add: ['$spent.ofMonth', required] },
    };
  }
  const count = (path: string, amount: number) => ({
    day: { $max: [`$${path}.day`, numberOf('day', today)] },
    month: { $max: [`$${path}.month`, numberOf('month', today)] },
    ofDay: spentWith(path, 'day', today, amount),
    ofMonth: spentWith(path, 'month', today, amount),
  });
  const ofKeys = Object.fromEntries(keys.map(({ key, amount }) => [key, count(`keysSpent.${key}`, amount)]));
  return { spent: count('spent', required), ...(keys.length === 0 ? {} : { keysSpent: ofKeys }) };
}

function spentWith(path: string, period: Period, today: string, amount: number): Document {
  const isRunning = { $gte: [`$${path}.${period}`, numberOf(period, today)] };
  return { $add: [{ $cond: [isRunning, `$${path}.${FIELD[period]}`, 0] }, amount] };
}

export interface GivenBack {
  readonly amount: number;
  readonly paid?: { readonly by: GroupId; readonly keys?: readonly string[] | undefined } | undefined;
}

/** For the `$set` of a refund: makes room only for what was paid in the running day or month. */
export function givingBack(credits: readonly GivenBack[]): Document {
  const byPath = new Map<string, { readonly today: string; readonly amount: number }[]>();
  for (const { amount, paid } of credits) {
    if (paid === undefined) continue;
    const today = isoDate(idTime(paid.by));
    for (const path of ['spent', ...(paid.keys ?? []).map((key) => `keysSpent.${key}`)]) {
      byPath.set(path, [...(byPath.get(path) ?? []), { today, amount }]);
    }
  }
  const set: Document = {};
  for (const [path, backs] of byPath) {
    for (const period of PERIODS) {
      const amounts = new Map<number, number>();
      for (const { today, amount } of backs) {
        const at = numberOf(period, today);
        amounts.set(at, (amounts.get(at) ?? 0) + amount);
      }
      const back = [...amounts].map(([at, amount]) => ({ $cond: [{ $lte: [`$${path}.${period}`, at] }, amount, 0] }));
      const field = `${path}.${FIELD[period]}`;
      set[field] = { $max: [0, { $subtract: [{ $ifNull: [`$${field}`, 0] }, { $add: back }] }] };
    }
  }
  return set;
}
