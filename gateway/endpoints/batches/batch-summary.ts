import type { BatchCounts, BatchDocument } from '../../../shared/messages/batch.ts';
import { CREDITS_PER_MESSAGE } from '../../../shared/money/ledger/refund.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { idTime } from '../../../shared/platform/runtime/ids.ts';

/** A batch as lists show it. Without `counts` it has no progress, and a state only while `paid`, `stopping` or `stopped`. */
export function batchSummary(batch: BatchDocument, counts: BatchCounts | undefined): object {
  const { _id, total, duplicates, skipped, reference, stopped, sender, route } = batch;
  return {
    batch_id: _id,
    state: shownState(batch, counts),
    created_at: isoTimestamp(idTime(_id)),
    sender,
    route,
    reference,
    total,
    duplicates,
    skipped,
    /** The part of the messages that are no longer queued, from 0 to 1. */
    progress: counts === undefined ? undefined : Math.floor(((total - counts.queued) / total) * 1000) / 1000,
    counts,
    stopped,
    credits_used: total * CREDITS_PER_MESSAGE,
  };
}

/** `finished`: every message that can leave has left. Receipts may still come. */
function shownState({ state }: BatchDocument, counts: BatchCounts | undefined): string | undefined {
  if (state === 'stopping' || state === 'stopped') return state;
  if (counts === undefined) return state === 'paid' ? 'processing' : undefined;
  return counts.queued === 0 ? 'finished' : 'processing';
}
