import type { Collection, Db, Document } from 'mongodb';
import { deliveriesIn, type Stored } from '../../shared/events/webhooks/delivery.ts';
import { type BatchId, batchMessageIds, newId } from '../../shared/platform/runtime/ids.ts';
import { nextDestination } from './load.ts';

/** Messages of one insert. */
const AT_ONCE = 1_000;
/** Inserts on their way. The store works them off one after the other; the next is made meanwhile. */
const PARALLEL = 3;
/** Length of the prefix of a message's id. What follows it is also a part of the ids of the message's events and deliveries. */
const PREFIX = 'msg_'.length;

/**
 * Stores copies of delivered messages and of their deliveries, some more than `total` of them, straight into the tables. Each has an
 * id of its own, younger than those before, a number and a carrier's id of its own; everything else is what the whole path stored.
 */
export async function copyMessages(db: Db, total: number): Promise<void> {
  const messages = db.collection('messages');
  const deliveries = db.collection<Stored>('deliveries');
  // Deliveries first: no index finds those of a message.
  const told: Stored[] = [];
  const ids = new Set<unknown>();
  for await (const stored of deliveries.find({ state: 'done' }).project<Stored>({})) {
    told.push(stored);
    for (const { message } of deliveriesIn(stored)) ids.add(message);
    if (ids.size >= AT_ONCE) break;
  }
  const samples = await messages.find({ _id: { $in: [...ids] } as object }).toArray();
  let left = total;
  const copy = async (): Promise<void> => {
    while (left > 0) {
      left -= samples.length;
      const { copies, renamed } = copiesOf(samples);
      await insertAll(messages, copies);
      await insertAll(db.collection('deliveries'), told.map(renamed));
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, copy));
}

/** Copies of the messages, and what gives everything else their ids. */
function copiesOf(samples: readonly Document[]): {
  readonly copies: readonly Document[];
  renamed(document: Document): Document;
} {
  const idOf = batchMessageIds(newId('bat') as BatchId);
  const renaming = new Map(samples.map(({ _id }, i) => [String(_id).slice(PREFIX), idOf(i).slice(PREFIX)]));
  const renamed = (document: Document): Document =>
    Object.fromEntries(Object.entries(document).map(([name, value]) => [name, withIds(value, renaming)]));
  const copies = samples.map((sample, i) => {
    const parts = (sample.parts as Document[]).map((part) => ({
      ...part,
      key: `${part.key}${idOf(i).slice(PREFIX)}`,
    }));
    return { ...renamed(sample), to: nextDestination(), parts };
  });
  return { copies, renamed };
}

const ID = /[0-9a-hjkmnp-tv-z]{26}/g;

/** The value with other ids in its strings, also in those of its members. */
function withIds(value: unknown, renaming: ReadonlyMap<string, string>): unknown {
  if (typeof value === 'string') return value.replace(ID, (id) => renaming.get(id) ?? id);
  if (Array.isArray(value)) return value.map((item) => withIds(item, renaming));
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withIds(member, renaming)]));
}

async function insertAll(collection: Collection, documents: readonly Document[]): Promise<void> {
  if (documents.length > 0) await collection.insertMany([...documents], { ordered: false });
}
