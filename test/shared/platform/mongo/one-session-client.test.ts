import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OneSessionClient } from '../../../../shared/platform/mongo/connect.ts';
import { startEmbeddedStore } from '../../../../workers/embedded-db/server.ts';

describe('OneSessionClient', () => {
  const closers: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0)) await close();
  });

  async function openClient(maxPoolSize = 20) {
    const dir = mkdtempSync(join(tmpdir(), 'harkara-session-'));
    closers.push(async () => rmSync(dir, { recursive: true, force: true }));
    const server = await startEmbeddedStore({ dir, durability: 'none' });
    closers.unshift(() => server.close());
    const client = new OneSessionClient(server.uri, { monitorCommands: true, retryWrites: false, maxPoolSize });
    closers.unshift(() => client.close());
    const sessions: string[] = [];
    client.on('commandStarted', ({ command }) => sessions.push(String(command.lsid?.id?.toString('hex'))));
    return { client, sessions };
  }

  it('sends commands side by side, bulk writes, cursors to their end and what follows in one session', async () => {
    const { client, sessions } = await openClient();
    const things = client.db('x').collection('things');

    await Promise.all(Array.from({ length: 20 }, (_, n) => things.insertOne({ n })));
    await Promise.all([
      things.bulkWrite([{ insertOne: { document: { n: 20 } } }]),
      ...[1, 2, 3].map(() => things.findOne({})),
    ]);
    const read = await Promise.all([1, 2, 3].map(() => things.find({}, { batchSize: 3 }).toArray()));
    await things.find({}, { batchSize: 3 }).next();
    await client.db('x').command({ ping: 1 });

    expect(read.map((found) => found.length)).to.deep.equal([21, 21, 21]);
    expect(sessions.length).to.be.greaterThan(30);
    expect(new Set(sessions).size).to.equal(1);
  });

  it('goes on with the commands that wait behind a bulk write for a connection', async () => {
    const { client } = await openClient(1);
    const db = client.db('x');

    const begun = once(client, 'commandStarted');
    const bulk = db.collection('things').bulkWrite([{ insertOne: { document: { n: 1 } } }]);
    await begun;
    const waiting = Promise.all(Array.from({ length: 10 }, () => db.command({ ping: 1 })));

    await bulk;
    expect((await waiting).map(({ ok }) => ok)).to.deep.equal(Array.from({ length: 10 }, () => 1));
  });

  it('gives those who ask for a session one of their own, and goes on when that ends', async () => {
    const { client, sessions } = await openClient();
    const db = client.db('x');
    await db.command({ ping: 1 });

    await client.withSession((session) => db.command({ ping: 1 }, { session }));
    await db.command({ ping: 1 });

    const [first, own, last] = sessions;
    expect(own).to.not.equal(first);
    expect(last).to.equal(first);
  });

  it('ends the session with the client', async () => {
    const { client, sessions } = await openClient();
    await client.db('x').command({ ping: 1 });
    const ended: string[] = [];
    client.on('commandStarted', ({ command }) => {
      for (const { id } of command.endSessions ?? []) ended.push(String(id.toString('hex')));
    });

    await client.close();

    expect(ended).to.include(sessions[0]);
  });
});
