import type { Db } from 'mongodb';
import type { MessageDocument } from '../../../shared/messages/document/message.ts';
import { STATES } from '../../../shared/messages/document/status.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import {
  type BatchId,
  batchMessageRange,
  isBatchId,
  isMessageId,
  type MessageId,
} from '../../../shared/platform/runtime/ids.ts';
import type { ReadingDeps } from '../../access/costly-reads.ts';
import { sendFile, sendProblem } from '../../http/answer.ts';
import { callerOf, type Handler, type Reply } from '../../http/context.ts';
import { csvText } from '../../http/csv.ts';
import { FieldProblems, invalidRequest } from '../../http/field-problems.ts';
import { pageOf, parseCursor, parseLimit } from '../../http/page.ts';
import { parseQuery, parseQueryChoice } from '../../http/query.ts';
import { explain } from '../messages/explain/explain.ts';
import { showPaidBatch } from '../sms/find-paid-batch.ts';
import { countCost } from './show-batch.ts';

const FAILED = ['failed', 'expired', 'rejected'] as const;
const FORMATS = ['json', 'csv'] as const;

const FIELDS = { to: 1, state: 1, errorCode: 1, errorReason: 1, outcome: 1, closedReason: 1, history: 1 } as const;
type Failed = Pick<
  MessageDocument,
  '_id' | 'to' | 'state' | 'errorCode' | 'errorReason' | 'outcome' | 'closedReason' | 'history'
>;

/**
 * GET /v2/batches/{id}/failures (extension): the recipients of a bulk request who got nothing, with the reason. As JSON in
 * pages, or all of them as a CSV file.
 */
export function createBatchFailures({ db, answerRead }: ReadingDeps): Handler {
  return async (req, res: Reply) => {
    const { batch_id: id } = req.params;
    if (typeof id !== 'string' || !isBatchId(id)) return sendProblem(res, 'batch_not_found');
    res.locals.batchId = id;
    const problems = new FieldProblems();
    const query = parseQuery(req, ['format', 'limit', 'cursor'], problems);
    const format = parseQueryChoice('format', query.format ?? 'json', FORMATS, problems);
    for (const name of ['limit', 'cursor'] as const) {
      if (format !== 'csv' || query[name] === undefined) continue;
      problems.add(name, 'conflict', 'A CSV file has all entries. Leave it out, or ask for JSON.');
    }
    const limit = parseLimit(query.limit, problems);
    const after = parseCursor(query.cursor, 'failures', isMessageId, problems);
    if (problems.count > 0) return sendProblem(res, ...invalidRequest(problems));
    const batch = await showPaidBatch(db, callerOf(res).account._id, id);
    if (batch === undefined) return sendProblem(res, 'batch_not_found');

    const cost = countCost(batch);
    if (format === 'csv') {
      const read = async () => csvText(COLUMNS, await readFailed(db, id, undefined, batch.total));
      const send = (text: string | Buffer) => sendFile(res, 'text/csv; charset=utf-8', `${id}-failures.csv`, text);
      return answerRead(res, cost, read, 'batch_not_found', send);
    }
    await answerRead(res, cost, async () => {
      const found = await readFailed(db, id, after, limit + 1);
      const page = found.slice(0, limit);
      return pageOf('failures', page.map(failureRecord), found.length > limit ? page.at(-1)?._id : undefined);
    });
  };
}

/** In the order of the request's entries. The messages of a batch are a range of `_id`, which has 10,000 entries at most. */
function readFailed(db: Db, batch: BatchId, after: MessageId | undefined, limit: number): Promise<Failed[]> {
  const range = batchMessageRange(batch);
  return db
    .collection<MessageDocument>('messages')
    .find({ batch, state: { $in: [...FAILED] }, _id: after === undefined ? range : { $gt: after, $lte: range.$lte } })
    .sort({ _id: 1 })
    .limit(limit)
    .batchSize(Math.min(limit + 1, 1_000))
    .project<Failed>(FIELDS)
    .toArray();
}

function failureRecord(message: Failed): object {
  return {
    message_id: message._id,
    to: message.to,
    status: STATES[message.state].shown,
    error_code: message.errorCode,
    error_reason: message.errorReason,
    explanation: explain(message),
    ended_at: endedAt(message),
  };
}

const COLUMNS: Readonly<Record<string, (message: Failed) => string | undefined>> = {
  message_id: ({ _id }) => _id,
  to: ({ to }) => to,
  status: ({ state }) => STATES[state].shown,
  error_code: ({ errorCode }) => errorCode,
  error_reason: ({ errorReason }) => errorReason,
  cause: (message) => explain(message)?.cause,
  advice: (message) => explain(message)?.advice,
  ended_at: endedAt,
};

function endedAt({ history }: Failed): string | undefined {
  const last = history.at(-1);
  return last === undefined ? undefined : isoTimestamp(last.at);
}
