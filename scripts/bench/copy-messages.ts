import type { Collection, Db, Document } from 'mongodb';
import { type BatchId, batchMessageIds, newId } from '../../shared/runtime/ids.ts';
import { nextDestination } from './load.ts';

/** Messages of one insert. */
const AT_ONCE = 1_000;
/** Inserts on their way. The store works them off one after the other; the next is made meanwhile. */
const PARALLEL = 3;
/** Length of the prefix of a message's id. What follows it is also a part of the ids of the message's events and deliveries. */
const PREFIX = 'msg_'.length;

/**
 * Stores copies of delivered messages and of their deliveries, `total` of them, straight into the tables. Each has an id of its
 * own, younger than those before, a number and a carrier's id of its own; everything else is what the whole path stored.
 */
export async function copyMessages(db: Db, total: number): Promise<void> {
  const messages = db.collection('messages');
  const deliveries = db.collection('deliveries');
  // Deliveries first: no index finds those of a message.
  const told = await deliveries.find({ state: 'done' }).limit(AT_ONCE).toArray();
  const samples = await messages.find({ _id: { $in: told.map(({ message }) => message) } }).toArray();
  let left = total;
  const copy = async (): Promise<void> => {
    while (left > 0) {
      const some = samples.slice(0, Math.min(left, samples.length));
      left -= some.length;
      const copies = copiesOf(some);
      await insertAll(
        messages,
        [...copies.values()].map(({ message }) => message),
      );
      await insertAll(
        deliveries,
        told.flatMap((delivery) => copies.get(delivery.message)?.deliveryOf(delivery) ?? []),
      );
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, copy));
}

interface Copy {
  readonly message: Document;
  deliveryOf(delivery: Document): Document;
}

/** By the sample's id. */
function copiesOf(samples: readonly Document[]): ReadonlyMap<unknown, Copy> {
  const idOf = batchMessageIds(newId('bat') as BatchId);
  return new Map(
    samples.map((sample, i) => {
      const id = idOf(i);
      const renamed = (of: Document): Document => replaced(of, String(sample._id).slice(PREFIX), id.slice(PREFIX));
      const parts = (sample.parts as Document[]).map((part) => ({ ...part, key: `${part.key}${id.slice(PREFIX)}` }));
      const message = { ...renamed(sample), to: nextDestination(), parts };
      return [sample._id, { message, deliveryOf: renamed }];
    }),
  );
}

/** A copy of the document with `from` replaced by `to` in its members that are strings. Other members stay as they are. */
function replaced(document: Document, from: string, to: string): Document {
  const entries = Object.entries(document);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, typeof value === 'string' ? value.replaceAll(from, to) : value]),
  );
}

async function insertAll(collection: Collection, documents: readonly Document[]): Promise<void> {
  if (documents.length > 0) await collection.insertMany([...documents], { ordered: false });
}
