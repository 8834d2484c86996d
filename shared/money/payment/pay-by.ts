import type { Db, Filter } from 'mongodb';
import { NOW_MS } from '../../platform/mongo/store-time.ts';
import type { AccountId } from '../../platform/runtime/ids.ts';
import type { AccountDocument } from '../accounts/account.ts';

/**
 * The part of a debit's filter that lets it pay before `payBy` only. The store's time decides, but that may go back: another
 * primary, or another router, may have a clock that is behind. So whoever acts on "it is over" says so in the account first
 * (`declareOver`), and from then on the debit is refused whatever the time is.
 */
export function inTime(payBy: Date | undefined): Filter<AccountDocument> {
  return payBy === undefined ? {} : { lapsed: { $not: { $gte: payBy } }, $expr: { $lt: [NOW_MS, payBy.getTime()] } };
}

/** The first of these times. Undefined when there is none. */
export function earliest(times: readonly (Date | undefined)[]): Date | undefined {
  return times.reduce((a, b) => (a === undefined || (b !== undefined && b < a) ? b : a), undefined);
}

/**
 * Whether the time to pay is over, for good: true means that no debit of the account with this `payBy`, or an earlier one, pays
 * from now on, whatever clock it meets. What it had paid by then is found by `findCommitted`. One atomic update of the account. Call
 * this before looking for what was paid: then "not found" is final. May be repeated.
 */
export async function declareOver(db: Db, account: AccountId, payBy: Date): Promise<boolean> {
  const { matchedCount } = await db
    .collection<AccountDocument>('accounts')
    .updateOne(
      { _id: account, $or: [{ lapsed: { $gte: payBy } }, { $expr: { $gte: [NOW_MS, payBy.getTime()] } }] },
      { $max: { lapsed: payBy } },
    );
  return matchedCount === 1;
}
