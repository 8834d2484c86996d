import type { Db } from 'mongodb';
import { z } from 'zod';
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
import { CSV_TYPE, csvAnswer, csvText } from '../../api/csv.ts';
import { CostlyRead, endpoint, refused, type Shown } from '../../api/endpoint.ts';
import { named, pageShape, text, time } from '../../api/shapes.ts';
import { choice, optional, withDefault } from '../../http/fields/field.ts';
import { cursorOf, entries, LIMIT_DEFAULT, pageOfFound } from '../../http/fields/query.ts';
import type { Rule } from '../../http/fields/request.ts';
import { explain } from '../messages/explain/explain.ts';
import { Explanation, MessageId as MessageIdShape } from '../messages/shapes.ts';
import { showPaidBatch } from '../sms/paid-batch-store.ts';
import { countCost, IN_PATH } from './batches.ts';

/** Recipients of a bulk request who got nothing, with the reason. */

const FAILED = ['failed', 'expired', 'rejected'] as const;

const FIELDS = { to: 1, state: 1, errorCode: 1, errorReason: 1, outcome: 1, closedReason: 1, history: 1 } as const;
type Failed = Pick<
  MessageDocument,
  '_id' | 'to' | 'errorCode' | 'errorReason' | 'outcome' | 'closedReason' | 'history'
> & { readonly state: (typeof FAILED)[number] };

const BatchFailure = named('BatchFailure', 'A message of a batch that failed.', {
  message_id: MessageIdShape,
  to: text('Recipient.', { pattern: '^[1-9][0-9]{7,14}$', example: '919876543210' }),
  status: z.enum(FAILED),
  error_code: text(undefined, { example: '1' }).optional(),
  error_reason: text(undefined, { example: 'The number does not exist' }).optional(),
  explanation: Explanation.meta({
    example: {
      cause: 'The number does not exist.',
      advice: 'Remove the number from your list, or ask the recipient for the right one.',
    },
  }).optional(),
  ended_at: time(undefined, '2026-11-21T10:00:04+00:00').optional(),
});

const QUERY = {
  format: withDefault(choice(['json', 'csv'], '`csv`: all entries as a file, without `limit` and `cursor`.'), 'json'),
  limit: optional(entries('Entries of a page.', LIMIT_DEFAULT)),
  cursor: cursorOf('failures', isMessageId),
};

const fileIsWhole: Rule<typeof QUERY> = ({ format }, has, problems) => {
  for (const name of ['limit', 'cursor']) {
    if (format !== 'csv' || !has(name)) continue;
    problems.add(name, 'conflict', 'A CSV file has all entries. Leave it out, or ask for JSON.');
  }
};

export const batchFailures = endpoint({
  id: 'batchFailures',
  call: 'batches.failures',
  method: 'get',
  path: '/v2/batches/{batch_id}/failures',
  tag: 'Reading back',
  summary: 'Who got nothing of a bulk request',
  description:
    'Extension. The recipients whose message failed, expired or was rejected, with the reason, in the order of the request. With `format=csv` all of them as a file; a cell that a spreadsheet would take for a formula begins with an apostrophe. Recipients whose message was stopped before it was made, and those of batches that ended more than 90 days ago, are not listed. Counts as one request for each 1,000 recipients.',
  scopes: ['read'],
  test: 'apart',
  params: IN_PATH,
  query: QUERY,
  queryRules: [fileIsWhole],
  answer: pageShape('BatchFailurePage', BatchFailure, 'Failures of a batch, in the order of its recipients.'),
  problems: ['batch_not_found'],
  openapi: csvAnswer(
    'message_id,to,status,error_code,error_reason,cause,advice,ended_at\r\nmsg_01m7znjn7hdb5pft3awkb6pgvz,919876543210,failed,1,The number does not exist,The number does not exist.,"Remove the number from your list, or ask the recipient for the right one.",2026-11-21T10:00:04+00:00\r\n',
  ),
  async handle({ db }, { caller, params, query, told }) {
    const id = params.batch_id;
    if (!isBatchId(id)) return refused('batch_not_found');
    told.batchId = id;
    const batch = await showPaidBatch(db, caller.account._id, id);
    if (batch === undefined) return refused('batch_not_found');
    const { format, limit = LIMIT_DEFAULT, cursor } = query;
    if (format === 'csv') {
      const file = { name: `${id}-failures.csv`, contentType: CSV_TYPE };
      return new CostlyRead<never>(
        countCost(batch),
        async () => csvText(COLUMNS, await readFailed(db, id, undefined, batch.total)),
        file,
      );
    }
    return new CostlyRead(countCost(batch), async () => {
      const found = await readFailed(db, id, cursor, limit + 1);
      return pageOfFound('failures', found, limit, failureRecord);
    });
  },
});

/** In the request's order. A batch's messages are a range of `_id`, 10,000 at most. */
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

function failureRecord(message: Failed): Shown<typeof BatchFailure> {
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
