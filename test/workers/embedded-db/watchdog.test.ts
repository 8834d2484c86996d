import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { startEmbeddedStore } from '../../../workers/embedded-db/server.ts';
import { tempDir } from './store-under-test.ts';

/** Beats for a while, is busy for longer than is allowed and says that it goes on, and is then stuck when it is told to. */
const PROGRAM = `
import { startWatchdog } from './workers/embedded-db/watchdog.ts';
const watchdog = startWatchdog(1000, 50);
setTimeout(() => {
  for (const until = Date.now() + 3000; Date.now() < until; ) watchdog.progress();
  process.send('lives');
  process.once('message', () => { for (;;); });
}, 2000);
`;

describe('embedded-db watchdog', () => {
  let child: ChildProcess | undefined;
  afterEach(() => child?.kill('SIGKILL'));

  it('lets a process live that comes round or goes on, and ends one that is stuck, with the reason', async () => {
    const started = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', PROGRAM], {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    child = started;
    let said = '';
    started.stderr?.on('data', (chunk) => {
      said += chunk;
    });
    const exited = new Promise((resolve) => started.once('close', (_code, signal) => resolve(signal)));
    expect(await new Promise((resolve) => started.once('message', resolve))).to.equal('lives');

    started.send('be stuck');

    expect(await exited).to.equal('SIGKILL');
    expect(said).to.equal('A command has held the store for 1 s: it ends, and is started again.\n');
  });

  it('is told of every thousand documents of an index that is built, and of a collection that is dropped', async () => {
    const dir = tempDir();
    let steps = 0;
    const store = await startEmbeddedStore({ dir, durability: 'none', progress: () => steps++ });
    const client = new MongoClient(store.uri);
    const many = client.db('harkara').collection('many');
    await many.insertMany(Array.from({ length: 5_000 }, (_, n) => ({ n })));
    expect(steps).to.equal(0);

    await many.createIndex({ n: 1 });

    expect(steps).to.be.at.least(5);
    const built = steps;
    await many.drop();
    expect(steps - built).to.be.at.least(8);
    await client.close();
    await store.close();
    rmSync(dir, { recursive: true });
  });
});
