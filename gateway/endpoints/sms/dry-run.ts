import { wouldRefuse } from '../../../shared/money/payment/debit.ts';
import { isoDate } from '../../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import type { Verdict } from '../../http/idempotency/action.ts';
import { type ResultId, refusal } from '../../http/payment-refusal.ts';

interface Price {
  readonly account: AccountId;
  /** The id that the result would get. */
  readonly id: ResultId;
  readonly credits: number;
}

/** The verdict on a dry run of a valid request: `body`, unless the account could not pay for it now. */
export async function dryRun(
  { db, clock }: Pick<GatewayDeps, 'db' | 'clock'>,
  { account, id, credits }: Price,
  body: object,
): Promise<Verdict> {
  const refused = await wouldRefuse(db, account, credits, isoDate(clock.now()));
  return refused === undefined ? { kind: 'dry_run', body } : { kind: 'refused', problem: refusal(refused, id) };
}
