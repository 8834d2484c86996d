import assert from 'node:assert/strict';
import type { BatchDocument } from '../../shared/batches/batch.ts';
import { CREDITS_PER_MESSAGE } from '../../shared/ledger/refund.ts';
import { promotionalHours } from '../../shared/messages/promotional-hours.ts';
import { type BatchId, newId } from '../../shared/runtime/ids.ts';
import { parseValidUntil } from '../fields/message-fields.ts';
import { bodyOf, callerOf } from '../http/context.ts';
import { FieldProblems, refuseUnknown } from '../http/fields.ts';
import { refusal } from '../http/payment-refusal.ts';
import type { Action } from '../idempotency/once.ts';
import type { GatewayDeps } from '../process/deps.ts';
import type { ApprovedTemplates } from '../templates/approved-templates.ts';
import { BULK_FIELDS, bulkRehearsal, createReadBulkOrder, newBatch } from './bulk-order.ts';
import { deferral } from './deferral.ts';
import { findPaidBatch } from './find-paid-batch.ts';
import { payForBatch } from './pay-for-batch.ts';
import { rehearse } from './rehearse.ts';

/**
 * POST /v2/send-bulk: one message to each of up to 10,000 recipients. Answered when the account has paid for the batch, which
 * is stored by then; a worker makes messages of it.
 */
export function createSendBulk(deps: GatewayDeps & { readonly templates: ApprovedTemplates }): Action<BatchId> {
  const { batchAccepter, clock, config, db } = deps;
  const readOrder = createReadBulkOrder(deps);
  const hours = promotionalHours(config);

  return {
    name: 'send-bulk',
    newId: () => newId('bat', clock.now().getTime()),
    async act(res, { id, payBy }) {
      const [caller, body] = [callerOf(res), bodyOf(res)];
      const problems = new FieldProblems();
      const validUntil = parseValidUntil(body, clock.now(), config.validityHours, problems);
      refuseUnknown(body, BULK_FIELDS, problems);
      const order = await readOrder(caller.account, body, problems);
      if (order.kind === 'refused') return order;
      const account = caller.account._id;
      const { total } = order.batch;
      // Asked before anything is stored: who has no credits shall not fill the disk.
      const rehearsal = await rehearse(
        deps,
        { account, id, credits: total * CREDITS_PER_MESSAGE },
        bulkRehearsal(order),
      );
      if (order.dryRun || rehearsal.kind === 'refused') return rehearsal;

      assert(validUntil !== undefined, 'a field is missing without a problem');
      res.locals.batchId = id;
      const batch = newBatch(id, account, order, validUntil);
      const outcome = await payForBatch(deps, batch, order.entries, payBy, (latest) =>
        batchAccepter.acceptBatch(account, { id, total }, latest),
      );
      if (outcome.kind === 'accepted') {
        return { kind: 'accepted', body: { ...bulkResult(batch), ...deferral(hours, batch.lane, clock.now()) } };
      }
      return { kind: outcome.kind === 'outcome_unknown' ? 'unknown' : 'refused', problem: refusal(outcome, id) };
    },
    async recover(account, id) {
      const batch = await findPaidBatch(db, account, id);
      return batch === undefined ? undefined : { kind: 'accepted', body: bulkResult(batch) };
    },
  };
}

/** "Bulk SMS request / result". */
function bulkResult({ _id, total, duplicates }: Pick<BatchDocument, '_id' | 'total' | 'duplicates'>): object {
  return {
    status: 'success',
    batch_id: _id,
    total,
    credits_used: total * CREDITS_PER_MESSAGE,
    ...(duplicates === undefined ? {} : { duplicates }),
  };
}
