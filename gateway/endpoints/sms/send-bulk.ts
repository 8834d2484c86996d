import type { BatchDocument } from '../../../shared/messages/batch.ts';
import { promotionalHours } from '../../../shared/messages/document/promotional-hours.ts';
import { CREDITS_PER_MESSAGE } from '../../../shared/money/ledger/refund.ts';
import { declareOver } from '../../../shared/money/payment/pay-by.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import { type BatchId, newId } from '../../../shared/platform/runtime/ids.ts';
import { bodyOf, callerOf } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { readRequest, request, whole } from '../../http/fields/request.ts';
import { validUntilFromNow } from '../../http/fields/times.ts';
import type { Action } from '../../http/idempotency/action.ts';
import { notAccepted } from '../../http/idempotency/not-accepted.ts';
import { refusal } from '../../http/payment-refusal.ts';
import { BULK_EITHER, BULK_FIELDS, BULK_RULES, bulkDryRun, newBatch, orderBulk } from './bulk-order.ts';
import { dryRun } from './dry-run.ts';
import { findPaidBatch } from './find-paid-batch.ts';
import { deferral } from './message-order.ts';
import { payForBatch } from './pay-for-batch.ts';
import type { Sending } from './sending.ts';

export const SEND_BULK = request({ ...BULK_FIELDS, valid_until: validUntilFromNow }, BULK_EITHER, BULK_RULES);

/**
 * POST /v2/send-bulk: one message to each of up to 10,000 recipients. The batch is stored and paid for before the
 * answer. A worker makes its messages.
 */
export function createSendBulk(deps: GatewayDeps & Sending): Action<BatchId> {
  const { batchAccepter, clock, config, db } = deps;
  const hours = promotionalHours(config);

  return {
    name: 'send-bulk',
    newId: () => newId('bat', clock.now().getTime()),
    async act(res, { id, payBy }) {
      const caller = callerOf(res);
      const account = caller.account._id;
      const read = await readRequest(SEND_BULK, bodyOf(res), { account: caller.account, now: clock.now(), config });
      const order = await orderBulk(deps, caller, read);
      if (order.kind === 'refused') return order;
      const { total } = order.batch;
      const { valid_until: validUntil, dry_run: dry } = whole(read);
      // Checked before anything is stored, so that accounts without credits cannot fill the disk.
      const credits = total * CREDITS_PER_MESSAGE;
      const verdict = await dryRun(deps, { account, id, credits }, bulkDryRun(order));
      if (dry || verdict.kind === 'refused') return verdict;

      res.locals.batchId = id;
      const batch = newBatch(id, account, order, validUntil);
      const outcome = await payForBatch(deps, batch, order.entries, payBy, (latest) =>
        batchAccepter.acceptBatch(account, { id, total }, latest),
      );
      if (outcome.kind === 'accepted') {
        return { kind: 'accepted', body: { ...bulkResult(batch), ...deferral(hours, batch.lane, clock.now()) } };
      }
      return notAccepted(outcome, (shown) => refusal(shown, id));
    },
    end: (account, _id, payBy) => declareOver(db, account, payBy),
    async recover(account, id) {
      const batch = await findPaidBatch(db, account, id);
      return batch === undefined ? undefined : { kind: 'accepted', body: bulkResult(batch) };
    },
  };
}

/** "Bulk SMS request / result". */
function bulkResult(batch: Pick<BatchDocument, '_id' | 'total' | 'duplicates' | 'skipped'>): object {
  const { _id, total, duplicates, skipped } = batch;
  return {
    status: 'success',
    batch_id: _id,
    total,
    credits_used: total * CREDITS_PER_MESSAGE,
    ...defined({ duplicates, skipped }),
  };
}
