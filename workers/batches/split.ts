import assert from 'node:assert/strict';
import type { Db } from 'mongodb';
import { countryOf } from '../../shared/carriers/routing/country.ts';
import { readTable } from '../../shared/carriers/routing/store.ts';
import { placementOf } from '../../shared/carriers/routing/table.ts';
import {
  type BatchChunkDocument,
  type BatchDocument,
  batchCollection,
  markMade,
  readChunk,
  reserveNext,
} from '../../shared/messages/batch.ts';
import { type MessageDocument, queuedMessage } from '../../shared/messages/document/message.ts';
import { type QueueDocument, queueDocument } from '../../shared/messages/queue/queue-document.ts';
import { insertEnded, insertFirst, readQueued, requeue, writeAllOut } from '../../shared/messages/queue/queue-store.ts';
import { pricedAt, smsPrice } from '../../shared/money/accounts/prices.ts';
import { findCommitted } from '../../shared/platform/mongo/find-one.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import { crashPoint } from '../../shared/platform/runtime/crash-point.ts';
import { batchMessageIds, queueId } from '../../shared/platform/runtime/ids.ts';
import type { RenderedText, RenderJob } from './render-slice.ts';

export interface SplitDeps {
  readonly db: Db;
  readonly clock: Clock;
  render(job: RenderJob): Promise<readonly RenderedText[]>;
}

/** Lines of a queue document, whose id is that of its first entry: a repeat, even with other routes, makes the same. */
const RANGE = 100;

/**
 * Reserves the next chunk of a paid batch and queues its entries. A chunk that a dead worker reserved, or that failed,
 * comes first and is made by `makeAgain`: some of it may have been sent. Returns how many entries were made.
 */
export async function splitNext(deps: SplitDeps, batch: BatchDocument): Promise<number> {
  const left = batch.done < batch.reserved;
  const reserved = left ? batch : await reserveNext(deps.db, batch);
  if (reserved === undefined) return 0;
  const made = left ? await makeAgain(deps, reserved) : await makeFirst(deps, reserved);
  if (made > 0) crashPoint('split:inserted');
  await markMade(deps.db, reserved);
  return made;
}

/** Makes what this worker has just reserved, which nobody has tried to make before. */
async function makeFirst(deps: SplitDeps, batch: BatchDocument): Promise<number> {
  const ranges = await rangesOf(deps, batch);
  await insertFirst(deps.db, ranges.filter(isOnePath).map(documentOf(deps.clock.now())));
  // A queue document has one path. The others could not be made again the same if some had been sent.
  await insertLines(
    deps,
    ranges.filter((range) => !isOnePath(range)),
  );
  return batch.reserved - batch.done;
}

async function makeAgain(deps: SplitDeps, batch: BatchDocument): Promise<number> {
  const ranges = await rangesOf(deps, batch);
  await insertLines(deps, ranges);
  return ranges.flat().length;
}

async function insertLines(deps: SplitDeps, ranges: readonly Range[]): Promise<void> {
  await insertMessages(deps, ranges);
  await requeue(deps.db, await readQueued(deps.db, ranges.flat()));
}

/** Messages of the reserved entries, queued ones too, so that a late worker queues none. Keeps existing messages. */
export async function makeReserved(deps: SplitDeps, batch: BatchDocument): Promise<void> {
  await insertMessages(deps, await rangesOf(deps, batch));
}

async function insertMessages({ db, clock }: SplitDeps, ranges: readonly Range[]): Promise<void> {
  if (ranges.length === 0) return;
  const now = clock.now();
  const documents = ranges.map(documentOf(now));
  await insertEnded(db, documents, now);
  await writeAllOut(db, now, { _id: { $in: documents.map(({ _id }) => _id) } });
}

type Range = readonly [MessageDocument, ...MessageDocument[]];

function documentOf(now: Date): (range: Range) => QueueDocument {
  return (range) => queueDocument(queueId(range[0]._id, 0), range, now);
}

function isOnePath([first, ...others]: Range): boolean {
  return others.every(({ path }) => path === first.path);
}

/** Empty if another worker has made them and gone on. */
async function rangesOf(deps: SplitDeps, batch: BatchDocument): Promise<readonly Range[]> {
  const { _id, state, done, reserved, perChunk } = batch;
  if (done === reserved) return [];
  const chunk = await readChunk(deps.db, batch, done);
  if (chunk === undefined) {
    const found = await findCommitted(batchCollection(deps.db), { _id, state, done, reserved });
    if (found === null) return [];
    // The recipients are paid for and cannot become messages.
    throw new Error(`recipients ${done} to ${reserved} of the batch are not found`);
  }
  const first = done % perChunk;
  const messages = await makeMessages(deps, batch, chunk, first, first + reserved - done);
  const ranges: Range[] = [];
  for (let start = 0; start < messages.length; start += RANGE) {
    const [one, ...others] = messages.slice(start, start + RANGE);
    if (one !== undefined) ranges.push([one, ...others]);
  }
  return ranges;
}

/** `start` and `end` (exclusive) count within the chunk. */
async function makeMessages(
  deps: SplitDeps,
  batch: BatchDocument,
  chunk: BatchChunkDocument,
  start: number,
  end: number,
): Promise<MessageDocument[]> {
  const { account, group, sender, route, path, lane, validUntil, reference, entityId, keys, prices, content } = batch;
  assert(group !== undefined, 'only a paid batch is split');
  const chunkStart = batch.done - (batch.done % batch.perChunk);
  const idOf = batchMessageIds(batch._id);
  const [texts, table] = await Promise.all([textsOf(deps, batch, chunk, start, end), readTable(deps.db)]);
  return chunk.to.slice(start, end).map((to, i) => {
    const text = texts[i];
    assert(text !== undefined, 'a text for each recipient');
    return queuedMessage(account, group, {
      _id: idOf(chunkStart + start + i),
      batch: batch._id,
      to,
      sender,
      route,
      ...placementOf(table, { account, to, sender, route, lane, path }),
      lane,
      ...text,
      validUntil,
      ...(content.dltId === undefined ? {} : { template: content.dltId }),
      ...(entityId === undefined ? {} : { entityId }),
      ...(reference === undefined ? {} : { reference }),
      ...(keys === undefined ? {} : { keys }),
      ...pricedAt(smsPrice(prices, { route, segments: text.segments, country: prices && countryOf(to) })),
    });
  });
}

/** Only templates need the threads: the gateway has planned a plain text, which is the same for all. */
async function textsOf(
  { render }: SplitDeps,
  { content }: BatchDocument,
  { to, params }: BatchChunkDocument,
  start: number,
  end: number,
): Promise<readonly RenderedText[]> {
  const recipients = to.slice(start, end);
  if (content.kind === 'text') {
    const { text, encoding, segments } = content;
    return recipients.map(() => ({ text, encoding, segments }));
  }
  const own = params?.slice(start, end);
  return render({
    pattern: content.pattern,
    params: recipients.map((_, i) => {
      const values = own?.[i] ?? [];
      return values.length === 0 ? content.params : values;
    }),
  });
}
