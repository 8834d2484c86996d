import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectStore, storeUri } from '../../shared/platform/mongo/connect.ts';
import { ensureIndexes } from '../../shared/platform/mongo/indexes.ts';
import { builtProduct } from '../support/built.ts';
import { eventually } from '../support/eventually.ts';
import { answered, foreign, WRITES } from '../support/mongo-wire/faults.ts';
import { startWireProxy, type WireProxy } from '../support/mongo-wire/proxy.ts';
import { openTestStore, type TestStore } from '../support/store.ts';
import { acceptedIds, expectClear, expectWhole } from '../support/trouble-answers.ts';
import { openTroubleWorld, type TroubleAnswer, type TroubleWorld } from '../support/trouble-world.ts';
import { giveRoom } from '../workers/embedded-db/store-process.ts';

const BEFORE = 20;
const AMID = 12;
const PATIENCE_MS = 120_000;
/** Codes of a store that was away, and others like them; `undefined`: no code. */
const UNKNOWN = [1, 50_463_173, undefined, 8, 13, 26] as const;

describe('when the store is in trouble', function () {
  this.timeout(PATIENCE_MS * 3);
  let store: TestStore;
  let proxy: WireProxy;
  let world: TroubleWorld;
  beforeEach(async () => {
    store = await openTestStore();
    proxy = await startWireProxy(store.uri);
    world = await openTroubleWorld(proxy.uri, store.db.databaseName);
  });
  afterEach(async () => {
    await world.close();
    await proxy.close();
    await store.close();
  });

  it('down: requests get 503, receipts wait at the carrier, and all go on by themselves', async () => {
    const before = await Promise.all(Array.from({ length: BEFORE }, () => world.send()));
    await eventually(() => world.smsc.messages().length === BEFORE, 'all are submitted');

    proxy.become('down');
    world.smsc.release();
    const amid = await Promise.all([...Array.from({ length: AMID }, () => world.send()), world.send()]);
    const ready = await world.statusOf('/readyz');
    const alive = await world.statusOf('/healthz');
    await eventually(() => world.refusedReceipts() > 0, 'receipts are refused');
    proxy.become('well');

    expect(before.map(({ status }) => status)).to.deep.equal(Array.from({ length: BEFORE }, () => 200));
    expect(amid.map(({ status }) => status)).to.deep.equal(Array.from({ length: AMID + 1 }, () => 503));
    expectClear(amid);
    expect([ready, alive]).to.deep.equal([503, 200]);
    const after = await eventually(
      async () => {
        const answer = await world.send();
        return answer.status === 200 ? answer : undefined;
      },
      'requests are accepted again',
      PATIENCE_MS,
    );
    await eventually(async () => (await world.statusOf('/readyz')) === 200, 'it is ready');
    await expectWhole(world, store.db, [...before, ...amid, ...(after === undefined ? [] : [after])]);
  });

  it('away again and again while requests come: nothing is half done', async () => {
    world.smsc.release();
    const answers: TroubleAnswer[] = [];
    let over = false;
    const flicker = (async () => {
      for (let i = 0; i < 12; i++) {
        const wanted = answers.length + 3;
        await eventually(() => answers.length >= wanted, 'some answers', PATIENCE_MS);
        proxy.become('down');
        await new Promise((turn) => setImmediate(turn));
        proxy.become('well');
      }
      over = true;
    })();
    const callers = Array.from({ length: 8 }, async () => {
      while (!over) answers.push(await world.send());
    });
    await Promise.all([flicker, ...callers]);

    expectClear(answers);
    expect(acceptedIds(answers)).not.to.deep.equal([]);
    await expectWhole(world, store.db, answers);
  });

  it('slow by two seconds, as where members lag: ready, every answer is clear in the end, receipts are stored or refused, none is lost', async () => {
    const before = await Promise.all(Array.from({ length: BEFORE }, () => world.send()));
    await eventually(() => world.smsc.messages().length === BEFORE, 'all are submitted');

    proxy.become('slow');
    world.smsc.release();
    const [ready, ...amid] = await Promise.all([
      world.statusOf('/readyz'),
      ...Array.from({ length: AMID }, () => world.send()),
    ]);
    proxy.become('well');

    expect(ready).to.equal(200);
    expectClear(amid);
    await expectWhole(world, store.db, [...before, ...amid]);
  });

  it('read-only: sends get 503, receipts wait at the carrier, and all go on when it can write again', async () => {
    const before = await Promise.all(Array.from({ length: BEFORE }, () => world.send()));
    await eventually(() => world.smsc.messages().length === BEFORE, 'all are submitted');

    proxy.become('readonly');
    world.smsc.release();
    const amid = await Promise.all(Array.from({ length: AMID }, () => world.send()));
    await eventually(() => world.refusedReceipts() > 0, 'receipts are refused');
    const ready = await world.statusOf('/readyz');
    proxy.become('well');

    expect(amid.map(({ status }) => status)).to.deep.equal(Array.from({ length: AMID }, () => 503));
    expectClear(amid);
    expect(ready).to.equal(503);
    await expectWhole(world, store.db, [...before, ...amid]);
  });

  it('answering with codes that nobody knows: requests get 503, receipts wait at the carrier, and all is stored afterwards', async () => {
    const before = await Promise.all(Array.from({ length: BEFORE }, () => world.send()));
    await eventually(() => world.smsc.messages().length >= BEFORE / 2, 'half are submitted');

    let asked = 0;
    const trouble = proxy.inject({
      command: ['find', 'getMore', 'aggregate', ...WRITES],
      times: Number.POSITIVE_INFINITY,
      happens: (command, link) => answered(foreign(UNKNOWN[asked++ % UNKNOWN.length]))(command, link),
    });
    world.smsc.release();
    const amid = await Promise.all(Array.from({ length: AMID }, () => world.send()));
    await eventually(() => world.refusedReceipts() > 0, 'receipts are refused');
    const ready = await world.statusOf('/readyz');
    trouble.end();

    expect(before.map(({ status }) => status)).to.deep.equal(Array.from({ length: BEFORE }, () => 200));
    expect(amid.map(({ status }) => status)).to.deep.equal(Array.from({ length: AMID }, () => 503));
    expectClear(amid);
    expect(ready).to.equal(503);
    await expectWhole(world, store.db, [...before, ...amid]);
  });

  it('silent: requests get 503, and all go on when it answers again', async () => {
    const before = await Promise.all(Array.from({ length: BEFORE }, () => world.send()));
    await eventually(() => world.smsc.messages().length === BEFORE, 'all are submitted');

    proxy.become('silent');
    world.smsc.release();
    const amid = await Promise.all(Array.from({ length: AMID }, () => world.send()));
    const ready = await world.statusOf('/readyz');
    proxy.become('well');

    expect(amid.map(({ status }) => status)).to.deep.equal(Array.from({ length: AMID }, () => 503));
    expectClear(amid);
    expect(ready).to.equal(503);
    await eventually(async () => (await world.statusOf('/readyz')) === 200, 'it is ready', PATIENCE_MS);
    await expectWhole(world, store.db, [...before, ...amid]);
  });
});

/** The most blocks of 512 octets in a file of the store, as on a nearly full disk. */
const FULL_BLOCKS = 6_144;
const FILL_OCTETS = 100_000;

(process.env.HARKARA_MONGODB_URI ? describe.skip : describe)(
  'when the disk of the embedded store is full',
  function () {
    this.timeout(PATIENCE_MS * 3);
    const dataDir = mkdtempSync(join(tmpdir(), 'harkara-full-'));
    let child: ChildProcess | undefined;
    after(async () => {
      if (child?.exitCode === null && child.kill('SIGKILL')) await once(child, 'exit');
      rmSync(dataDir, { recursive: true, force: true });
    });

    /** `ulimit -f` needs no privilege: writes beyond it fail as on a full disk. */
    async function startStore(blocks: number): Promise<ChildProcess> {
      const limit = `ulimit -S -f ${blocks}; `;
      const main = join(await builtProduct(), 'workers/embedded-db/main.js');
      const started = spawn('/bin/sh', ['-c', `${limit}exec "$0" "$@"`, process.execPath, main], {
        env: { ...process.env, HARKARA_DATA_DIR: dataDir, HARKARA_LOG_LEVEL: 'silent' },
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      });
      child = started;
      await new Promise<void>((resolve, reject) => {
        started.once('message', () => resolve());
        started.once('exit', (code) => reject(new Error(`the store ended with ${code}`)));
      });
      return started;
    }

    it('requests get 503 and nothing is half done; with room again all go on', async () => {
      const full = await startStore(FULL_BLOCKS);
      const uri = storeUri({ mongodbUri: '', dataDir });
      const own = await connectStore({ mongodbUri: uri, dataDir, mongodbDatabase: 'test' });
      await ensureIndexes(own.db);
      const world = await openTroubleWorld(uri, 'test');
      const answers: TroubleAnswer[] = [];
      try {
        world.smsc.release();
        const filler = own.db.collection('filler');
        const fill = () => filler.insertOne({ ballast: Buffer.alloc(FILL_OCTETS, 1) }).catch(() => undefined);
        while (answers.every(({ status }) => status === 200)) {
          const sends = Array.from({ length: 10 }, () => world.send());
          const [, ...some] = await Promise.all([fill(), ...sends]);
          answers.push(...some);
          expect(answers.length, 'the disk is full at last').to.be.below(5_000);
        }
        const ready = await world.statusOf('/readyz');
        answers.push(await world.send());

        expect(ready).to.equal(503);
        expect(answers.at(-1)?.status).to.equal(503);
        expect(full.exitCode).to.equal(null);
        expectClear(answers);

        giveRoom(full);
        await eventually(
          async () => {
            const answer = await world.send();
            answers.push(answer);
            return answer.status === 200;
          },
          'requests are accepted again',
          PATIENCE_MS,
        );
        expectClear(answers);
        const { messages, charged, problems } = await eventually(
          async () => {
            const audit = await world.audit(own.db);
            const open = audit.messages.filter(({ state }) => state === 'queued' || state === 'waiting');
            if (open.length > 0) throw new Error(`${open.length} wait`);
            return audit;
          },
          'what waits leaves',
          PATIENCE_MS,
        );
        expect(problems).to.deep.equal([]);
        expect(charged).to.equal(messages.length);
        const stored = new Set<string>(messages.map(({ _id }) => _id));
        expect(acceptedIds(answers).filter((id) => !stored.has(id))).to.deep.equal([]);
      } finally {
        await world.close();
        await own.close();
      }
    });
  },
);
