import type { Db } from 'mongodb';
import { connectStore } from '../../shared/platform/mongo/connect.ts';
import { insertNew } from '../../shared/platform/mongo/insert-new.ts';
import { newId } from '../../shared/platform/runtime/ids.ts';

const ROUNDS = 20;
const DOCUMENTS = 100;
/** A larger factor would only let deadlines hide hangs. */
const FACTOR_MAX = 5;

/**
 * How many times slower a server does the product's usual work (a ping, an insert of 100 documents, pipeline updates)
 * than the embedded store, which is measured in turn: the median of all rounds, from 1 to 5.
 */
export async function slowness(uri: string, embeddedUri: string): Promise<number> {
  const database = { dataDir: '', mongodbDatabase: newId('test') };
  const [store, embedded] = await Promise.all(
    [uri, embeddedUri].map((mongodbUri) => connectStore({ ...database, mongodbUri })),
  );
  if (store === undefined || embedded === undefined) throw new Error('two stores were asked for');
  const ratios: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const embeddedMs = await workMs(embedded.db, round);
    ratios.push((await workMs(store.db, round)) / embeddedMs);
  }
  await Promise.all([store, embedded].map(({ db }) => db.dropDatabase()));
  await Promise.all([store, embedded].map((one) => one.close()));
  const median = ratios.sort((a, b) => a - b)[ROUNDS / 2] ?? 1;
  return Math.min(FACTOR_MAX, Math.max(1, median));
}

async function workMs(db: Db, round: number): Promise<number> {
  const began = performance.now();
  await db.command({ ping: 1 });
  const documents = Array.from({ length: DOCUMENTS }, (_, i) => ({ _id: round * DOCUMENTS + i, n: i }));
  await insertNew(db, 'work', documents);
  for (const { _id } of documents.slice(0, 10)) {
    const change = [{ $set: { n: { $add: ['$n', 1] }, at: '$$NOW' } }];
    await db.collection<{ _id: number }>('work').findOneAndUpdate({ _id }, change);
  }
  return performance.now() - began;
}
