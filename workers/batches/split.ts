import assert from 'node:assert/strict';
import type { Db } from 'mongodb';
import type { BatchChunkDocument, BatchDocument } from '../../shared/batches/batch.ts';
import { advance, readChunk } from '../../shared/batches/store.ts';
import { queuedMessage } from '../../shared/messages/draft.ts';
import type { MessageDocument } from '../../shared/messages/message.ts';
import { insertNew } from '../../shared/mongo/insert-new.ts';
import { placementOf } from '../../shared/routing/placement.ts';
import { readTable } from '../../shared/routing/routes.ts';
import { crashPoint } from '../../shared/runtime/crash-point.ts';
import { batchMessageIds } from '../../shared/runtime/ids.ts';
import type { RenderedText, RenderJob } from './render-slice.ts';

export interface SplitDeps {
  readonly db: Db;
  render(job: RenderJob): Promise<readonly RenderedText[]>;
}

/** The most messages in one insert. The store runs it in one piece, so other commands wait some 10 ms. */
const GROUP_MAX = 250;

/**
 * Takes a paid batch one step further: makes the messages of the reserved entries, then reserves the next chunk or
 * finds that there is none. If a worker dies in between, the next one makes the same messages again; their ids derive
 * from the entries. Returns how many entries became messages.
 */
export async function splitNext(deps: SplitDeps, batch: BatchDocument): Promise<number> {
  const made = await makeReserved(deps, batch);
  if (made > 0) crashPoint('split:inserted');
  await advance(deps.db, batch);
  return made;
}

/** Makes the messages of the reserved entries. Messages that exist already are not changed. */
export async function makeReserved(deps: SplitDeps, batch: BatchDocument): Promise<number> {
  const { done, reserved } = batch;
  if (done === reserved) return 0;
  const chunk = await readChunk(deps.db, batch, done);
  if (chunk === undefined) {
    // Usually another worker has made them, and finished the batch. If not, they are paid for and cannot be made.
    if ((await countMade(deps.db, batch)) === reserved - done) return 0;
    throw new Error(`recipients ${done} to ${reserved} of the batch are not found`);
  }
  const first = done % batch.perChunk;
  for (let start = 0; start < reserved - done; start += GROUP_MAX) {
    const end = Math.min(start + GROUP_MAX, reserved - done);
    await insertNew(deps.db, 'messages', await makeMessages(deps, batch, chunk, first + start, first + end));
  }
  return reserved - done;
}

/** How many of the reserved entries are messages. */
function countMade(db: Db, { _id, done, reserved }: BatchDocument): Promise<number> {
  const idOf = batchMessageIds(_id);
  const range = { $gte: idOf(done), $lte: idOf(reserved - 1) };
  return db.collection<MessageDocument>('messages').countDocuments({ _id: range });
}

/** The messages of a chunk's entries from `start` up to, not including, `end`. */
async function makeMessages(
  deps: SplitDeps,
  batch: BatchDocument,
  chunk: BatchChunkDocument,
  start: number,
  end: number,
): Promise<MessageDocument[]> {
  const { account, group, sender, route, path, lane, validUntil, reference, entityId, content } = batch;
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
    });
  });
}

/** A plain text is the same for all recipients, and the gateway has planned it. Only templates need the threads. */
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
