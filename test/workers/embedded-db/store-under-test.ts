import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Collection, type Db, type Document, MongoClient } from 'mongodb';
import { type EmbeddedStore, startEmbeddedStore } from '../../../workers/embedded-db/server.ts';

/** Without `HARKARA_MONGODB_URI`: for tests of what only the embedded store does or refuses. */
export const EMBEDDED = (process.env.HARKARA_MONGODB_URI ?? '') === '';

export interface StoreUnderTest {
  readonly uri: string;
  readonly client: MongoClient;
  readonly db: Db;
  /** A new, empty collection for each call. */
  collection(): Collection<Loose>;
  close(): Promise<void>;
}

export interface Loose extends Document {
  _id?: string | number | boolean | object | null;
}

export function tempDir(): string {
  return mkdtempSync(join(tmpdir(), 'harkara-store-'));
}

/** The embedded store, or the server at `HARKARA_MONGODB_URI`; with a fresh database either way. */
export async function storeUnderTest(): Promise<StoreUnderTest> {
  let embedded: EmbeddedStore | undefined;
  const dir = tempDir();
  if (EMBEDDED) embedded = await startEmbeddedStore({ dir, durability: 'none' });
  const uri = embedded?.uri ?? process.env.HARKARA_MONGODB_URI ?? '';
  const client = new MongoClient(uri, { serverSelectionTimeoutMS: 5000 });
  const db = client.db(`harkara_test_${process.pid}_${Math.random().toString(36).slice(2)}`);
  let collections = 0;
  return {
    uri,
    client,
    db,
    collection: () => db.collection<Loose>(`c${collections++}`),
    close: async () => {
      await db.dropDatabase();
      await client.close();
      await embedded?.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** The driver's form of `action`'s error; fails without one. */
export async function errorOf(action: Promise<unknown>): Promise<Document & { message: string }> {
  try {
    await action;
  } catch (error) {
    if (error instanceof Error) return { ...error, message: error.message };
    throw error;
  }
  throw new Error('expected an error');
}

/** A server's answer: the reply, its statements' first error, or the whole command's error. */
export async function answerTo(db: Db, command: Document): Promise<Document> {
  return db.command(command).then(
    (reply) => reply.writeErrors?.[0] ?? reply,
    (error) => error,
  );
}

/** The store finds a mistake of the client. With several, it may name any first. */
export function expectRefused({ code }: Document, what?: string): void {
  expect(code, what).to.be.a('number').and.not.equal(1);
}
