import type { Db } from 'mongodb';
import type { BatchCounts, BatchDocument } from '../../../shared/messages/batch.ts';
import { countBatch } from '../../../shared/messages/batch-progress.ts';
import { batchCollection } from '../../../shared/messages/batch-store.ts';
import { SHOWN_BATCHES } from '../../../shared/platform/mongo/batch-indexes.ts';
import { type AccountId, type BatchId, isBatchId, lowestId } from '../../../shared/platform/runtime/ids.ts';
import type { ReadingDeps } from '../../access/costly-reads.ts';
import { sendProblem } from '../../http/answer.ts';
import { callerOf, type Handler, type Reply } from '../../http/context.ts';
import { FieldProblems, invalidRequest } from '../../http/field-problems.ts';
import { mergePage, pageOf, parseCursor, parseLimit } from '../../http/page.ts';
import { parseQuery, parseQueryTime } from '../../http/query.ts';
import { showUnmarked } from '../sms/find-paid-batch.ts';
import { batchSummary } from './batch-summary.ts';
import { countCost } from './show-batch.ts';

/** The messages of the newest batches are counted, up to this many on a page. It takes the embedded store some 40 ms. */
const COUNTED_MAX = 10_000;

interface Asked {
  readonly account: AccountId;
  readonly createdFrom: Date | undefined;
  readonly createdBefore: Date | undefined;
  readonly after: BatchId | undefined;
  readonly limit: number;
}

/** GET /v2/batches (extension): bulk requests of the account, newest first, in pages. */
export function createBatches({ db, answerRead }: ReadingDeps): Handler {
  return async (req, res: Reply) => {
    const problems = new FieldProblems();
    const query = parseQuery(req, ['created_from', 'created_before', 'limit', 'cursor'], problems);
    const asked: Asked = {
      account: callerOf(res).account._id,
      createdFrom: parseQueryTime('created_from', query.created_from, problems),
      createdBefore: parseQueryTime('created_before', query.created_before, problems),
      limit: parseLimit(query.limit, problems),
      after: parseCursor(query.cursor, 'batches', isBatchId, problems),
    };
    if (problems.count > 0) return sendProblem(res, ...invalidRequest(problems));

    const found = await readBatches(db, asked);
    const page = found.slice(0, asked.limit);
    const counted = toCount(page);
    const cost = counted.reduce((sum, batch) => sum + countCost(batch), 1);
    await answerRead(res, cost, async () => {
      const counts = new Map<BatchId, BatchCounts>();
      for (const batch of counted) counts.set(batch._id, await countBatch(db, batch));
      const data = page.map((batch) => batchSummary(batch, counts.get(batch._id) ?? batch.counts));
      return pageOf('batches', data, found.length > asked.limit ? page.at(-1)?._id : undefined);
    });
  };
}

async function readBatches(
  db: Db,
  { account, createdFrom, createdBefore, after, limit }: Asked,
): Promise<readonly BatchDocument[]> {
  const before = createdBefore === undefined ? undefined : lowestId('bat', createdBefore);
  const $lt = before === undefined || (after !== undefined && after < before) ? after : before;
  const $gte = lowestId('bat', createdFrom ?? new Date(0));
  const isAsked = (id: BatchId) => id >= $gte && ($lt === undefined || id < $lt);
  const unmarked = await showUnmarked(db, account, isAsked, limit + 1);
  const marked = await batchCollection(db)
    .find({ account, ...SHOWN_BATCHES, _id: { $gte, ...($lt === undefined ? {} : { $lt }) } })
    .sort({ _id: -1 })
    .hint('shown')
    .limit(limit + 1)
    .batchSize(limit + 2)
    .toArray();
  return mergePage(marked, unmarked, (a, b) => (a._id < b._id ? 1 : -1), limit + 1);
}

/** The newest batches whose counts are not stored yet, as far as the page may count. */
function toCount(batches: readonly BatchDocument[]): readonly BatchDocument[] {
  let left = COUNTED_MAX;
  return batches.filter(({ counts, total }) => {
    if (counts !== undefined || total > left) return false;
    left -= total;
    return true;
  });
}
