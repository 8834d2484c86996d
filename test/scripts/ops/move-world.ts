import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BSON, type Db, type Document } from 'mongodb';
import { runOps } from '../../../scripts/ops/run.ts';
import { loadConfig } from '../../../shared/platform/config/settings.ts';
import { ensureSchema } from '../../../shared/platform/mongo/schema.ts';
import { makeAccount, makeMessage } from '../../support/make.ts';
import { openTestStore, type TestStore } from '../../support/store.ts';

/** A used store, an empty one, and the operator who moves data between them. */
export class MoveWorld {
  readonly source: TestStore;
  readonly target: TestStore;
  readonly dir = mkdtempSync(join(tmpdir(), 'harkara-move-'));

  /** `target`: default: another store like the source. */
  static async open(target?: TestStore): Promise<MoveWorld> {
    const world = new MoveWorld(await openTestStore(), target ?? (await openTestStore()));
    await ensureSchema(world.source.db);
    return world;
  }

  private constructor(source: TestStore, target: TestStore) {
    this.source = source;
    this.target = target;
  }

  /** Settings of a product on one of the stores. */
  envOf({ uri, db }: TestStore): Record<string, string> {
    return { HARKARA_MONGODB_URI: uri, HARKARA_MONGODB_DATABASE: db.databaseName, HARKARA_DATA_DIR: this.dir };
  }

  /** Runs the words that an operator types at the product on `store`. */
  ops(store: TestStore, ...words: readonly string[]): Promise<{ code: number; out: string; err: string }> {
    return this.opsWith(this.envOf(store), ...words);
  }

  async opsWith(env: Record<string, string>, ...words: readonly string[]) {
    const said = { out: '', err: '' };
    const terminal = {
      out: (text: string) => {
        said.out += text;
      },
      err: (text: string) => {
        said.err += text;
      },
    };
    const code = await runOps([...words], terminal, () => loadConfig(env));
    return { code, ...said };
  }

  export(...more: readonly string[]) {
    const { target } = this;
    return this.ops(this.source, 'store', 'export', target.uri, '--database', target.db.databaseName, ...more);
  }

  /** Fills the source with many BSON types and with documents of the product. */
  async fill(messages: number): Promise<void> {
    const { db } = this.source;
    const account = await makeAccount(db, 1_000);
    await makeAccount(db, 23);
    await db.collection<Document>('audit').insertMany(ODDITIES.map((document) => ({ ...document })));
    for (let at = 0; at < messages; at += 1_000) {
      const some = Array.from({ length: Math.min(1_000, messages - at) }, () => makeMessage({ account }));
      await db.collection<Document>('messages').insertMany(some as Document[]);
    }
    await db
      .collection<Document>('leases')
      .insertOne({ _id: 'smpp:acme' as never, owner: 'x', epoch: 7, until: new Date(0) });
    await db.collection<Document>('rate').insertOne({ _id: 'key:1' as never, window: { start: new Date(), count: 1 } });
    const [day, over] = [new Date(Date.now() + 86_400_000), new Date(0)];
    await db.collection<Document>('idempotency').insertOne({ _id: 'lasts' as never, expiresAt: day });
    await db.collection<Document>('idempotency').insertOne({ _id: 'over' as never, expiresAt: over });
  }

  async close(): Promise<void> {
    await this.source.close();
    await this.target.close();
    rmSync(this.dir, { recursive: true });
  }
}

const COPIED = ['accounts', 'ledger', 'messages', 'leases', 'idempotency', 'audit'];

/** All copied documents' bytes by id, without expired ones, which a store may remove at any moment. */
export async function bytesOf(db: Db): Promise<Readonly<Record<string, readonly string[]>>> {
  const found: Record<string, readonly string[]> = {};
  for (const name of COPIED) {
    const lasting = db.collection(name).find({ expiresAt: { $not: { $lte: new Date() } } }, { raw: true });
    const raw: unknown[] = await lasting.sort({ _id: 1 }).toArray();
    found[name] = raw.map((bytes) => Buffer.from(bytes as Uint8Array).toString('base64'));
  }
  return found;
}

/** Documents that JavaScript might change by reading and writing: number types, field order. */
const ODDITIES: readonly Document[] = [
  {
    _id: 'numbers',
    int: new BSON.Int32(1),
    double: new BSON.Double(1),
    long: BSON.Long.fromString('9007199254740993'),
  },
  { _id: 'odd numbers', minus: new BSON.Double(-0), nan: Number.NaN },
  { _id: 'order', nested: BSON.deserialize(BSON.serialize({ z: 1, a: 2 })), list: [null, true, 'x', [1, [2]]] },
  { _id: 'types', at: new Date(-1), id: new BSON.ObjectId(), bytes: new BSON.Binary(Buffer.from('x'), 5) },
];
