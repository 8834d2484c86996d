import type { BatchCounts, BatchDocument } from '../../shared/batches/batch.ts';
import { countBatch, refundedCredits } from '../../shared/batches/progress.ts';
import { CREDITS_PER_MESSAGE } from '../../shared/ledger/refund.ts';
import { isoTimestamp } from '../../shared/runtime/clock.ts';
import { idTime, isBatchId } from '../../shared/runtime/ids.ts';
import type { ReadingDeps } from '../access/costly-reads.ts';
import { sendProblem } from '../http/answer.ts';
import { callerOf, type Handler, type Reply } from '../http/context.ts';
import { findPaidBatch } from '../sms/find-paid-batch.ts';

/**
 * GET /v2/batches/{id} (extension): the progress of a bulk request. Another account's batch is answered like one that
 * does not exist.
 */
export function createBatch({ db, answerRead }: ReadingDeps): Handler {
  return async (req, res: Reply) => {
    const { batch_id: id } = req.params;
    if (typeof id !== 'string' || !isBatchId(id)) return sendProblem(res, 'batch_not_found');
    res.locals.batchId = id;
    const batch = await findPaidBatch(db, callerOf(res).account._id, id);
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
  const { _id, total, duplicates, skipped, reference, stopped } = batch;
  return {
    status: 'success',
    batch_id: _id,
    state: shownState(batch, counts),
    created_at: isoTimestamp(idTime(_id)),
    reference,
    total,
    duplicates,
    skipped,
    /** The part of the entries that no longer waits, from 0 to 1. */
    progress: Math.floor(((total - counts.queued) / total) * 1000) / 1000,
    counts,
    stopped,
    credits_used: total * CREDITS_PER_MESSAGE,
    credits_refunded: creditsRefunded,
  };
}

/** `finished`: every message that can leave has left. Receipts may still come. */
function shownState({ state }: BatchDocument, { queued }: BatchCounts): string {
  if (state === 'stopping' || state === 'stopped') return state;
  return queued === 0 ? 'finished' : 'processing';
}
