import type { BatchCounts, BatchDocument } from '../../../shared/messages/batch.ts';
import { countBatch, refundedCredits } from '../../../shared/messages/batch-progress.ts';
import { isBatchId } from '../../../shared/platform/runtime/ids.ts';
import type { ReadingDeps } from '../../access/costly-reads.ts';
import { sendProblem } from '../../http/answer.ts';
import { callerOf, type Handler, type Reply } from '../../http/context.ts';
import { showPaidBatch } from '../sms/find-paid-batch.ts';
import { batchSummary } from './batch-summary.ts';

/**
 * GET /v2/batches/{id} (extension): the progress of a bulk request. Another account's batch is answered like one that
 * does not exist.
 */
export function createBatch({ db, answerRead }: ReadingDeps): Handler {
  return async (req, res: Reply) => {
    const { batch_id: id } = req.params;
    if (typeof id !== 'string' || !isBatchId(id)) return sendProblem(res, 'batch_not_found');
    res.locals.batchId = id;
    const batch = await showPaidBatch(db, callerOf(res).account._id, id);
    if (batch === undefined) return sendProblem(res, 'batch_not_found');
    await answerRead(res, countCost(batch), async () => {
      const [counts, refunded] = await Promise.all([countBatch(db, batch), refundedCredits(db, batch)]);
      return batchRecord(batch, counts, refunded);
    });
  };
}

/** Counting this many messages costs as much as one request. */
const COUNTED_PER_REQUEST = 1_000;

/**
 * How many requests this request counts as. The counts of a batch that ended long ago are stored, so they cost
 * nothing extra.
 */
export function countCost({ counts, total }: BatchDocument): number {
  return counts === undefined ? Math.ceil(total / COUNTED_PER_REQUEST) : 1;
}

function batchRecord(batch: BatchDocument, counts: BatchCounts, creditsRefunded: number): object {
  return { status: 'success', ...batchSummary(batch, counts), credits_refunded: creditsRefunded };
}
