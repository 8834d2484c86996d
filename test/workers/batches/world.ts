import type { EndpointDocument } from '../../../shared/events/webhooks/endpoint.ts';
import { type BatchDocument, batchCollection } from '../../../shared/messages/batch.ts';
import type { MessageDocument } from '../../../shared/messages/document/message.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { type AccountId, type BatchId, newId } from '../../../shared/platform/runtime/ids.ts';
import type { BatchWorker } from '../../../workers/batches/worker.ts';
import { startBatchWorker } from '../../support/batches.ts';
import { eventually } from '../../support/eventually.ts';
import { writeOutAll } from '../../support/queue.ts';
import { useStore } from '../../support/store.ts';

const SETTLED_MS = 60_000;

export const PLAIN = {
  clock: systemClock,
  render: () => Promise.reject(new Error('a plain text needs no thread')),
};

/** A suite's store, and the batch workers of its tests. For the body of a `describe`. */
export function batchesWorld() {
  const store = useStore();
  const workers: BatchWorker[] = [];
  afterEach(async () => {
    for (const worker of workers.splice(0)) await worker.stop();
  });

  const messages = () => store.db.collection<MessageDocument>('messages');
  const read = async (id: BatchId): Promise<BatchDocument> => {
    const batch = await batchCollection(store.db).findOne({ _id: id });
    if (batch === null) throw new Error('no such batch');
    return batch;
  };
  const readOnce = async (id: BatchId, what: string, holds: (batch: BatchDocument) => boolean) => {
    await eventually(async () => holds(await read(id)), what, SETTLED_MS);
    return read(id);
  };

  return {
    store,
    messages,
    /** All messages, including those that wait as lines only. */
    async messagesOf(batch: BatchId): Promise<MessageDocument[]> {
      await writeOutAll(store.db);
      return messages().find({ batch }).sort({ _id: 1 }).toArray();
    },
    read,
    closed: (id: BatchId) => readOnce(id, 'closed', ({ open }) => open === undefined),
    stoppedOnce: (id: BatchId) => readOnce(id, 'stopped', ({ state }) => state === 'stopped'),

    async work(): Promise<void> {
      workers.push(await startBatchWorker(store.db));
    },

    /** The account gets an event for each rejected message. */
    async tellRejected(account: AccountId): Promise<void> {
      await store.db.collection<EndpointDocument>('endpoints').insertOne({
        _id: newId('whk'),
        account,
        channel: 'sms',
        url: 'https://example.com/',
        place: 0,
        events: ['message.rejected'],
        secrets: [],
        status: 'active',
        createdAt: new Date(),
      });
    },
  };
}
