import { readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { type Document, serialize } from 'bson';
import { checkStore } from '../../../workers/embedded-db/offline.ts';
import { fuzz } from '../../support/fuzz.ts';
import type { Prng } from '../../support/prng.ts';
import { commandAtRandom, DB } from './commands-at-random.ts';
import { oddCommand, oddFrames } from './odd-commands.ts';
import { RawClient } from './raw-client.ts';
import { type StoreProcess, startStoreProcess } from './store-process.ts';
import { EMBEDDED, tempDir } from './store-under-test.ts';

/** Commands of each seed; they meet the data of earlier seeds. */
const COMMANDS = 400;
/** The store's memory limit in every case; idle it has some 90 MB. */
const MEMORY_MAX_KB = 1_000_000;
const FRAMES_MS = 20_000;

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

    /** Fails unless find, count and each index agree, and all documents can be read. */
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
          expect(by.ok, `${name} ${index.name}: ${by.errmsg}`).to.equal(1);
          expect(by.cursor.firstBatch, `${name} ${index.name}`).to.have.lengthOf(docs.length);
        }
      }
    }

    /** The collections and indexes, once every earlier command has ended. */
    async function contents(): Promise<string> {
      await send({ drop: 'barrier', $db: DB });
      const all: unknown[] = [];
      for (const name of ['a', 'b', 'c.d']) {
        const found = await send({ find: name, batchSize: 100_000, $db: DB });
        const { cursor } = await send({ listIndexes: name, $db: DB });
        all.push(serialize({ docs: found.cursor.firstBatch, indexes: cursor?.firstBatch.slice(1) ?? [] }));
      }
      return all.join('|');
    }

    /** Watches one command in twenty: a refused one must change nothing. */
    async function watched(random: Prng, run: () => Promise<Document>): Promise<Document> {
      if (random.below(20) !== 0) return run();
      const before = await contents();
      const reply = await run();
      if (reply.ok === 0) expect(await contents(), `refused with ${reply.code}: ${reply.errmsg}`).to.equal(before);
      return reply;
    }

    /** Sends bytes that are no messages, and waits until the store has closed the connection. */
    async function sendFrames(bytes: Buffer): Promise<void> {
      await new Promise<void>((closed, failed) => {
        const timer = setTimeout(() => failed(new Error(`not closed: ${bytes.toString('hex')}`)), FRAMES_MS);
        const socket = connect(store.socket, () => socket.end(bytes));
        socket.on('error', () => {}); // 'close' follows.
        socket.on('close', () => {
          clearTimeout(timer);
          closed();
        });
        socket.resume();
      });
    }

    it('answers odd values in every field of every command, and any frames, and changes nothing that it refuses', async () => {
      const bystanders = Array.from({ length: 50 }, (_, i) => ({ _id: i, text: `untouched ${i}` }));
      await send({ insert: 'c', documents: bystanders, $db: 'bystander' });
      await send({ createIndexes: 'c', indexes: [{ key: { text: 1 }, name: 'text_1' }], $db: 'bystander' });

      await fuzz('embedded-db odd commands', async (random) => {
        for (let i = 0; i < COMMANDS; i++) {
          const bytes = oddCommand(random, DB);
          const what = (): string => `command ${i}: ${Buffer.from(bytes).toString('latin1').slice(0, 500)}`;
          const reply = await watched(random, () => client.command(bytes)).catch((error: Error) => {
            throw new Error(`${error.message}, ${what()}`);
          });
          if (reply.code === 1) throw new Error(`${reply.errmsg}, ${what()}`);
          if (random.below(10) === 0) await sendFrames(oddFrames(random, DB));
        }
      });

      for (const hint of ['_id_', 'text_1']) {
        const { cursor } = await send({ find: 'c', hint, sort: { _id: 1 }, batchSize: 100, $db: 'bystander' });
        expect(cursor.firstBatch).to.deep.equal(bystanders);
      }
      const peak = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${store.child.pid}/status`, 'utf8'));
      expect(Number(peak?.[1]), 'kB of memory at its peak').to.be.lessThan(MEMORY_MAX_KB);
      expect(store.ended()).to.equal(undefined);
    });

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
          // Code 1: an error of our own that was caught.
          if (code === 1) throw new Error(`${reply.errmsg}, ${what()}`);
        }
        await look();
      });
      expect(store.ended()).to.equal(undefined);
      expect(done, 'commands that were done').to.be.greaterThan((seeds * COMMANDS) / 10);

      await stop();
      const { problems } = await checkStore(join(dir, 'store'), () => {});
      expect(problems).to.deep.equal([]);
      await start();
      await look();
    });
  });
}
