import { setTimeout } from 'node:timers/promises';
import type { BatchCounts, BatchDocument } from '../../../shared/messages/batch.ts';
import { countBatch, refundedCredits } from '../../../shared/messages/batch-progress.ts';
import { beginStop, readBatch } from '../../../shared/messages/batch-store.ts';
import { isBatchId } from '../../../shared/platform/runtime/ids.ts';
import { ReadQueue } from '../../access/read-queue.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import { type Charge, callerOf, type Handler, type Reply } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { findPaidBatch } from '../sms/find-paid-batch.ts';
import { countCost } from './show-batch.ts';

interface StopDeps extends Pick<GatewayDeps, 'db' | 'clock' | 'stopping'> {
  readonly charge: Charge;
}

/** How long the answer waits until a worker has cancelled and refunded. 10,000 messages take some seconds. */
const WAIT_MS = 10_000;
const LOOK_MS = 25;

/**
 * DELETE /v2/batches/{id} (extension): cancels the messages that have not left and refunds them, once. One update of
 * the batch decides; a worker does the rest. The answer waits for the worker. The state `stopping` says that the
 * worker needs longer and will complete it. A repeated request gets the same answer.
 */
export function createStopBatch(deps: StopDeps): Handler {
  const { db, charge } = deps;
  const counts = new ReadQueue<BatchCounts>();
  const looks = new ReadQueue<BatchDocument | undefined>();
  return async (req, res: Reply) => {
    const { batch_id: id } = req.params;
    if (typeof id !== 'string' || !isBatchId(id)) return sendProblem(res, 'batch_not_found');
    res.locals.batchId = id;
    const batch = await findPaidBatch(db, callerOf(res).account._id, id);
    if (batch === undefined) return sendProblem(res, 'batch_not_found');
    if (batch.state === 'split') {
      if (!(await charge(res, countCost(batch)))) return;
      const { queued } = await counts.run(batch.account, id, () => countBatch(db, batch));
      if (queued === 0) return sendProblem(res, 'batch_finished');
    }

    await beginStop(db, id);
    const ended = await waitForEnd(deps, batch, () =>
      looks.run(batch.account, id, () => readBatch(db, batch.account, id)),
    );
    const { state, stopped } = ended;
    sendJson(res, {
      status: 'success',
      message: messageOf(ended),
      batch_id: id,
      state,
      stopped: stopped ?? null,
      credits_refunded: await refundedCredits(db, ended),
    });
  };
}

async function waitForEnd(
  { clock, stopping }: StopDeps,
  batch: BatchDocument,
  look: () => Promise<BatchDocument | undefined>,
): Promise<BatchDocument> {
  const deadline = clock.monotonicMs() + WAIT_MS;
  for (;;) {
    const now = (await look()) ?? batch;
    if (now.state === 'stopped' || stopping.aborted || clock.monotonicMs() >= deadline) return now;
    await setTimeout(LOOK_MS);
  }
}

function messageOf({ state, stopped, total }: BatchDocument): string {
  if (state !== 'stopped') return 'The batch is being stopped; what has not left is refunded.';
  return `The batch is stopped: ${stopped ?? 0} of ${total} messages had not left and are refunded.`;
}
