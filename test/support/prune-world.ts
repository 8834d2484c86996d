import type { DeliveryDocument } from '../../shared/events/webhooks/delivery.ts';
import type { AnyMessage } from '../../shared/messages/document/any-message.ts';
import type { MessageDocument } from '../../shared/messages/document/message.ts';
import type { ScheduleDocument } from '../../shared/messages/schedule.ts';
import { type MessageId, newId } from '../../shared/platform/runtime/ids.ts';
import type { PruneDeps } from '../../workers/maintenance/prune.ts';
import { makeMessage } from './make.ts';
import { ManualClock } from './manual-clock.ts';
import { silentLog } from './silent-log.ts';
import { useStore } from './store.ts';

export const DAYS = { messages: 90, texts: 90, deliveries: 30, batches: 60, closedAccounts: 365 };
export const LEASE = 'carrier:c';

/** A `describe`'s store, emptied before each test, a clock, and makers of things that ended long ago by that clock. */
export function pruneWorld() {
  const clock = new ManualClock();
  const store = useStore();
  beforeEach(async () => {
    for (const { name } of await store.db.listCollections().toArray()) await store.db.collection(name).deleteMany({});
  });

  const daysAgo = (days: number): Date => new Date(clock.now().getTime() - days * 86_400_000);
  const messages = () => store.db.collection<MessageDocument>('messages');
  const deliveries = () => store.db.collection<DeliveryDocument>('deliveries');
  const deps = (overrides: Partial<PruneDeps> = {}): PruneDeps => ({
    db: store.db,
    clock,
    log: silentLog,
    retention: DAYS,
    store: 'embedded',
    held: () => true,
    onRemoved: () => {},
    ...overrides,
  });
  const idsIn = async (collection: string): Promise<string[]> =>
    (await store.db.collection<{ _id: string }>(collection).find().sort({ _id: 1 }).toArray()).map(({ _id }) => _id);
  const delivered = (days: number, overrides: Partial<MessageDocument> = {}): MessageDocument => {
    const { due: _, ...message } = makeMessage({
      _id: newId('msg', daysAgo(days).getTime()),
      state: 'delivered',
      history: [
        { state: 'sent', at: daysAgo(days) },
        { state: 'delivered', at: daysAgo(days - 1) },
      ],
    });
    return { ...message, ...overrides };
  };
  const put = async (list: readonly AnyMessage[]): Promise<MessageId[]> => {
    await store.db.collection<AnyMessage>('messages').insertMany([...list]);
    return list.map(({ _id }) => _id);
  };
  const refused = (days: number): Partial<MessageDocument> => ({
    state: 'rejected',
    parts: [{ state: 'refused' }],
    history: [{ state: 'rejected', at: daysAgo(days) }],
  });
  function schedule(days: number, overrides: Partial<ScheduleDocument> = {}): ScheduleDocument {
    return {
      _id: newId('sch', daysAgo(days + 1).getTime()),
      account: newId('acc'),
      group: newId('grp'),
      state: 'sent',
      at: daysAgo(days),
      scheduledFor: daysAgo(days).toISOString(),
      credits: 1,
      ...overrides,
    };
  }

  return {
    get store() {
      return store;
    },
    clock,
    daysAgo,
    messages,
    deliveries,
    deps,
    idsIn,
    delivered,
    put,
    refused,
    schedule,
  };
}
