import { setTimeout } from 'node:timers/promises';
import type { Db } from 'mongodb';
import { z } from 'zod';
import {
  type BatchCounts,
  type BatchDocument,
  batchCollection,
  beginStop,
  countBatch,
  readBatch,
  refundedCredits,
} from '../../../shared/messages/batch.ts';
import { ROUTES } from '../../../shared/messages/document/routing.ts';
import { SHOWN_BATCHES } from '../../../shared/platform/mongo/indexes.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { type AccountId, type BatchId, idTime, isBatchId, lowestId } from '../../../shared/platform/runtime/ids.ts';
import { ReadQueue } from '../../access/costly-reads.ts';
import {
  Charged,
  CostlyRead,
  done,
  endpoint,
  type Gateway,
  perProcess,
  refused,
  type Shown,
} from '../../api/endpoint.ts';
import { decimal, id, named, pageShape, success, text, time, whole } from '../../api/shapes.ts';
import { optional } from '../../http/fields/field.ts';
import { cursorOf, limit, mergePage, pageOf, queryTime } from '../../http/fields/query.ts';
import { SKIPPED } from '../sms/bulk-order.ts';
import { CREDITS_USED } from '../sms/message-order.ts';
import { findPaidBatch, showPaidBatch, showUnmarked } from '../sms/paid-batch-store.ts';

const BatchIdShape = id('bat', 'Id of the batch.', 'bat_01m7znjn7hdb5pft3awkb6pgvz');
export const IN_PATH = { batch_id: BatchIdShape.describe('Id of a batch.') };

const some = (example?: number) => whole(undefined, { minimum: 0, ...(example !== undefined && { example }) });

const state = z.enum(['processing', 'finished', 'stopping', 'stopped']);
const progress = decimal('The share of recipients that no longer waits, 0 to 1.', {
  minimum: 0,
  maximum: 1,
  example: 0.5,
});
const counts = z
  .strictObject({
    queued: some(5),
    sent: some(2),
    delivered: some(3),
    failed: some(),
    expired: some(),
    rejected: some(),
  })
  .meta({ description: 'Entries by status; together `total`.' });

const COMMON = {
  batch_id: BatchIdShape,
  created_at: time(undefined, '2026-11-21T10:00:00+00:00'),
  sender: text('As it is sent.', { example: 'HARKRA' }),
  route: z.enum(ROUTES),
  reference: text('Your own name for the message.').optional(),
  total: whole(undefined, { minimum: 1, example: 10 }),
  duplicates: some().optional(),
  skipped: SKIPPED,
  stopped: whole('Entries that were stopped.', { minimum: 0 }).optional(),
  credits_used: CREDITS_USED.meta({ example: 10 }),
};

const Batch = success('Batch', {
  ...COMMON,
  state: state.meta({
    description: '`finished`: every message was sent or has ended; receipts may still come.',
  }),
  progress,
  counts,
  credits_refunded: some(),
});

const BatchSummary = named('BatchSummary', 'A batch, as lists show it.', {
  ...COMMON,
  state: state
    .meta({
      description:
        '`finished`: every message was sent or has ended; receipts may still come. Absent when the page did not count the batch and it may be either.',
      example: 'processing',
    })
    .optional(),
  progress: progress.optional(),
  counts: counts.optional(),
});

const BatchPage = pageShape('BatchPage', BatchSummary, 'Batches, newest first.');

/** The state of bulk requests, and stopping them. Recipients who got nothing: failures.ts. */

const COUNTED_PER_REQUEST = 1_000;
/** A page counts messages of its newest batches up to this many; that takes the embedded store some 40 ms. */
const COUNTED_MAX = 10_000;

/** How many requests a request counts as. The counts of long-ended batches are stored and cost nothing extra. */
export function countCost({ counts, total }: BatchDocument): number {
  return counts === undefined ? Math.ceil(total / COUNTED_PER_REQUEST) : 1;
}

interface Asked {
  readonly account: AccountId;
  readonly createdFrom: Date | undefined;
  readonly createdBefore: Date | undefined;
  readonly after: BatchId | undefined;
  readonly limit: number;
}

export const batches = endpoint({
  id: 'batches',
  call: 'batches.list',
  method: 'get',
  path: '/v2/batches',
  tag: 'Reading back',
  summary: 'Bulk requests of the account',
  description:
    'Extension. Newest first, in pages. The newest batches of a page are counted, up to 10,000 recipients together; the others have no `progress` and `counts`: `GET /v2/batches/{batch_id}` counts them. A page counts as one request, and one more for each 1,000 recipients counted. Batches of schedules are listed when they are sent.',
  scopes: ['read'],
  test: 'apart',
  query: {
    created_from: optional(queryTime('Accepted at this time or later. A plus sign must be written as `%2B`.')),
    created_before: optional(queryTime('Accepted before this time.')),
    limit,
    cursor: cursorOf('batches', isBatchId),
  },
  answer: BatchPage,
  async handle({ db }, { caller, query }) {
    const { created_from: createdFrom, created_before: createdBefore, cursor: after, limit } = query;
    const found = await readBatches(db, { account: caller.account._id, createdFrom, createdBefore, after, limit });
    const page = found.slice(0, limit);
    const counted = toCount(page);
    const cost = counted.reduce((sum, batch) => sum + countCost(batch), 1);
    return new CostlyRead(cost, async () => {
      const counts = new Map<BatchId, BatchCounts>();
      for (const batch of counted) counts.set(batch._id, await countBatch(db, batch));
      const data = page.map((batch) => summaryOf(batch, counts.get(batch._id) ?? batch.counts));
      return pageOf('batches', data, found.length > limit ? page.at(-1)?._id : undefined);
    });
  },
});

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

/** The newest batches without stored counts, as many as the page may count. */
function toCount(batches: readonly BatchDocument[]): readonly BatchDocument[] {
  let left = COUNTED_MAX;
  return batches.filter(({ counts, total }) => {
    if (counts !== undefined || total > left) return false;
    left -= total;
    return true;
  });
}

export const batch = endpoint({
  id: 'batch',
  call: 'batches.get',
  method: 'get',
  path: '/v2/batches/{batch_id}',
  tag: 'Reading back',
  summary: 'How far a bulk request is',
  description: 'Extension. Counts as one request for each 1,000 recipients, until some time after the batch has ended.',
  scopes: ['read'],
  test: 'apart',
  params: IN_PATH,
  answer: Batch,
  problems: ['batch_not_found'],
  async handle({ db }, { caller, params, told }) {
    const id = params.batch_id;
    if (!isBatchId(id)) return refused('batch_not_found');
    told.batchId = id;
    const found = await showPaidBatch(db, caller.account._id, id);
    if (found === undefined) return refused('batch_not_found');
    return new CostlyRead(countCost(found), async () => {
      const [counts, refunded] = await Promise.all([countBatch(db, found), refundedCredits(db, found)]);
      return done({ ...summaryOf(found, counts), ...progressOf(found, counts), credits_refunded: refunded });
    });
  },
});

/** Without `counts` it has no progress, and a state only while `paid`, `stopping` or `stopped`. */
function summaryOf(found: BatchDocument, counts: BatchCounts | undefined): Shown<typeof BatchSummary> {
  const { _id, total, credits, duplicates, skipped, reference, stopped, sender, route } = found;
  const { state, progress } =
    counts === undefined ? { state: uncounted(found), progress: undefined } : progressOf(found, counts);
  return {
    batch_id: _id,
    state,
    created_at: isoTimestamp(idTime(_id)),
    sender,
    route,
    reference,
    total,
    duplicates,
    skipped,
    progress,
    counts,
    stopped,
    credits_used: credits ?? total,
  };
}

function uncounted({ state }: BatchDocument) {
  if (state === 'stopping' || state === 'stopped') return state;
  return state === 'paid' ? ('processing' as const) : undefined;
}

/** `finished`: every message that can leave has left. Receipts may still come. */
function progressOf({ state, total }: BatchDocument, counts: BatchCounts) {
  const going = counts.queued === 0 ? ('finished' as const) : ('processing' as const);
  return {
    state: state === 'stopping' || state === 'stopped' ? state : going,
    progress: Math.floor(((total - counts.queued) / total) * 1000) / 1000,
    counts,
  };
}

/** How long the answer waits until a worker has cancelled and refunded: 10,000 messages take some seconds. */
const WAIT_MS = 10_000;
const LOOK_MS = 25;

/**
 * One update of the batch decides; a worker does the rest. The answer waits for it; the state `stopping` says that it
 * needs longer. A repeated request gets the same answer.
 */
export const stopBatch = endpoint({
  id: 'stopBatch',
  call: 'batches.stop',
  method: 'delete',
  path: '/v2/batches/{batch_id}',
  tag: 'Reading back',
  summary: 'Stop a bulk request',
  description:
    'Extension. Messages that were not sent yet are not sent any more and are refunded, once. Counts as one request for each 1,000 recipients, until some time after the batch has ended.',
  scopes: ['send'],
  test: 'apart',
  params: IN_PATH,
  answer: success('StoppedBatch', {
    message: text(undefined, { example: 'The batch is stopped: 5 of 10 messages had not left and are refunded.' }),
    batch_id: BatchIdShape,
    state: Batch.shape.state.extract(['stopping', 'stopped']).meta({
      description: '`stopping`: the stop takes longer than this request waits. It will be completed.',
      example: 'stopped',
    }),
    stopped: whole(undefined, { minimum: 0, example: 5 }).nullable(),
    credits_refunded: whole(undefined, { minimum: 0, example: 5 }),
  }),
  problems: ['batch_not_found', 'batch_finished'],
  async handle(deps, { caller, params, told }) {
    const id = params.batch_id;
    if (!isBatchId(id)) return refused('batch_not_found');
    told.batchId = id;
    const found = await findPaidBatch(deps.db, caller.account._id, id);
    if (found === undefined) return refused('batch_not_found');
    if (found.state !== 'split') return stopped(deps, found);
    return new Charged(countCost(found), async () => {
      const { queued } = await stopsOf(deps).counts.run(found.account, id, () => countBatch(deps.db, found));
      return queued === 0 ? refused('batch_finished') : stopped(deps, found);
    });
  },
});

/** Each stopping batch is counted and read once for all waiting requests. */
const stopsOf = perProcess(() => ({
  counts: new ReadQueue<BatchCounts>(),
  looks: new ReadQueue<BatchDocument | undefined>(),
}));

async function stopped(deps: Gateway, found: BatchDocument) {
  const { db } = deps;
  await beginStop(db, found._id);
  const ended = await waitForEnd(deps, found);
  return done({
    message: messageOf(ended),
    batch_id: found._id,
    state: ended.state === 'stopped' ? ('stopped' as const) : ('stopping' as const),
    stopped: ended.stopped ?? null,
    credits_refunded: await refundedCredits(db, ended),
  });
}

async function waitForEnd(deps: Gateway, batch: BatchDocument): Promise<BatchDocument> {
  const { db, clock, stopping } = deps;
  const { looks } = stopsOf(deps);
  const { _id, account } = batch;
  const deadline = clock.monotonicMs() + WAIT_MS;
  for (;;) {
    const now = (await looks.run(account, _id, () => readBatch(db, account, _id))) ?? batch;
    if (now.state === 'stopped' || stopping.aborted || clock.monotonicMs() >= deadline) return now;
    await setTimeout(LOOK_MS);
  }
}

function messageOf({ state, stopped, total }: BatchDocument): string {
  if (state !== 'stopped') return 'The batch is being stopped; what has not left is refunded.';
  return `The batch is stopped: ${stopped ?? 0} of ${total} messages had not left and are refunded.`;
}
