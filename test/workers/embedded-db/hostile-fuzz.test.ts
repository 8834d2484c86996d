import { rmSync } from 'node:fs';
import { type Document, serialize } from 'bson';
import { expect } from 'chai';
import { fuzz } from '../../support/fuzz.ts';
import { commandAtRandom, DB } from './commands-at-random.ts';
import { RawClient } from './raw-client.ts';
import { type StoreProcess, startStoreProcess } from './store-process.ts';
import { EMBEDDED, tempDir } from './store-under-test.ts';

/** Of each seed, on what the seeds before left. */
const COMMANDS = 400;

if (EMBEDDED) {
  describe('embedded-db, given commands at random', function () {
    this.timeout(300_000);
    let dir: string;
    let store: StoreProcess;
    let client: RawClient;
    before(async () => {
      dir = tempDir();
      await start();
    });
    after(async () => {
      await stop();
      rmSync(dir, { recursive: true, force: true });
    });

    async function start(): Promise<void> {
      store = await startStoreProcess(dir);
      client = await RawClient.open(store.socket);
    }

    async function stop(): Promise<void> {
      client.close();
      await store.kill();
    }

    async function send(command: Document): Promise<Document> {
      return client.command(serialize(command));
    }

    /** Documents, counts and each index tell of the same documents, and all of them can be read. */
    async function look(): Promise<void> {
      const { cursor } = await send({ listCollections: 1, $db: DB });
      for (const { name } of cursor.firstBatch) {
        const found = await send({ find: name, batchSize: 100_000, $db: DB });
        expect(found.ok, `${name}: ${found.errmsg}`).to.equal(1);
        const docs: Document[] = found.cursor.firstBatch;
        expect((await send({ count: name, $db: DB })).n, name).to.equal(docs.length);
        const { cursor: indexes } = await send({ listIndexes: name, $db: DB });
        for (const index of indexes.firstBatch) {
          if (index.sparse === true || index.partialFilterExpression !== undefined) continue;
          const by = await send({ find: name, hint: index.name, batchSize: 100_000, $db: DB });
          // An index with a key above 900 bytes answers no query: refused, never short.
          if (by.ok === 1) expect(by.cursor.firstBatch, `${name} ${index.name}`).to.have.lengthOf(docs.length);
        }
      }
    }

    it('answers every one, lives, and keeps its collections whole, also over a kill', async () => {
      let done = 0;
      const seeds = await fuzz('embedded-db commands', async (random) => {
        for (let i = 0; i < COMMANDS; i++) {
          const command = commandAtRandom(random);
          const what = (): string => `command ${i}: ${JSON.stringify(command).slice(0, 2000)}`;
          const reply = await send(command).catch((error: Error) => {
            throw new Error(`${error.message}, ${what()}`);
          });
          const code: number = reply.code ?? reply.writeErrors?.[0]?.code ?? 0;
          if (code === 0) done++;
          // 1: a fault of ours that was caught.
          if (code === 1) throw new Error(`${reply.errmsg}, ${what()}`);
        }
        await look();
      });
      expect(store.ended()).to.equal(undefined);
      expect(done, 'commands that were done').to.be.greaterThan((seeds * COMMANDS) / 10);

      await stop();
      await start();
      await look();
    });
  });
}
