import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Binary, type Collection, type Db, MongoClient } from 'mongodb';
import { embeddedSocketPath, embeddedStoreDir } from '../../shared/runtime/embedded-socket.ts';
import { build } from './build.ts';

/**
 * `npm run bench:store`: the embedded store as a separate process, with fsync, driven by the real driver. For each operation: how
 * many a second one client gets, and the store's CPU for one of them (all of it: wire, LMDB, commit).
 */
interface Message {
  _id: string;
  account: string;
  path: string;
  lane: number;
  state: string;
  v: number;
  text: string;
  to: string;
  from: string;
  parts: { key: string; no: number }[];
  history: { state: string; at: Date }[];
  due?: Date;
  claim?: { bind: string; epoch: number; at: Date };
  meta: Record<string, string | number>;
}

const GROUP = 100;
const MESSAGES = 20_000;

async function main(): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'harkara-bench-'));
  const server = await startStore(dir);
  const client = new MongoClient(`mongodb://${encodeURIComponent(embeddedSocketPath(embeddedStoreDir(dir)))}`);
  try {
    const db = client.db('bench');
    console.log('operation                                      ops/s   store CPU µs per op');
    await messages(db);
    await accounts(db);
    await idle(db);
  } finally {
    await client.close();
    server.kill('SIGTERM');
    await new Promise((resolve) => server.once('exit', resolve));
    rmSync(dir, { recursive: true, force: true });
  }
}

async function startStore(dir: string): Promise<ChildProcess> {
  // Compiled, as in production: under tsx closures cost more.
  const entry = join(await build(), 'workers/embedded-db/main.js');
  const args = process.env.BENCH_NODE_ARGS?.split(' ') ?? [];
  const server = spawn(process.execPath, [...args, entry], {
    env: { ...process.env, HARKARA_DATA_DIR: dir, LOG_LEVEL: 'error' },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  await new Promise<void>((resolve, reject) => {
    server.once('message', () => resolve());
    server.once('exit', (code) => reject(new Error(`the store ended with ${code}`)));
  });
  return server;
}

async function cpuMicros(db: Db): Promise<number> {
  const { extra_info: info } = await db.command({ serverStatus: 1 });
  return Number(info.user_time_us) + Number(info.system_time_us);
}

/** Runs `work` `times` times; each run does `size` operations. The first tenth is warm-up and does not count. */
async function measure(
  db: Db,
  name: string,
  times: number,
  size: number,
  work: (round: number) => Promise<unknown>,
): Promise<void> {
  const warm = Math.ceil(times / 10);
  for (let round = 0; round < warm; round++) await work(round);
  const cpu = await cpuMicros(db);
  const start = performance.now();
  for (let round = warm; round < times; round++) await work(round);
  const seconds = (performance.now() - start) / 1000;
  const operations = (times - warm) * size;
  const spent = ((await cpuMicros(db)) - cpu) / operations;
  console.log(
    `${name.padEnd(44)} ${Math.round(operations / seconds)
      .toString()
      .padStart(8)}   ${spent.toFixed(1).padStart(8)}`,
  );
}

function id(i: number): string {
  return `msg_01kp${String(i).padStart(18, '0')}`;
}

/** About 1 KB, twenty fields. */
function message(i: number): Message {
  return {
    _id: id(i),
    account: `acc_${String(i % 50).padStart(10, '0')}`,
    path: 'default',
    lane: i % 4,
    state: 'queued',
    v: 1,
    text: 'Your parcel has arrived at the pick-up point and waits for you until Friday evening. '.repeat(4),
    to: `9198${String(i).padStart(8, '0')}`,
    from: 'HARKRA',
    parts: [
      { key: `smsc1:${i.toString(16).padStart(16, '0')}`, no: 1 },
      { key: `smsc1:${(i + 1e9).toString(16).padStart(16, '0')}`, no: 2 },
    ],
    history: [{ state: 'queued', at: new Date() }],
    meta: {
      campaign: 'autumn',
      template: '1007',
      entity: '1101',
      reference: `order-${i}`,
      encoding: 'gsm7',
      segments: 3,
    },
  };
}

async function messages(db: Db): Promise<void> {
  const all: Collection<Message> = db.collection('messages');
  await all.createIndexes([
    { key: { account: 1, _id: 1 }, name: 'account' },
    { key: { account: 1, 'history.at': 1 }, name: 'history' },
    { key: { path: 1, lane: 1, account: 1, _id: 1 }, name: 'queue', partialFilterExpression: { state: 'queued' } },
    { key: { 'claim.bind': 1 }, name: 'submitting', partialFilterExpression: { state: 'submitting' } },
    { key: { 'parts.key': 1 }, name: 'parts' },
  ]);
  await measure(db, 'insertMany of 100, five indexes', MESSAGES / GROUP, GROUP, (round) =>
    all.insertMany(Array.from({ length: GROUP }, (_, i) => message(round * GROUP + i))),
  );
  await measure(db, 'claim: find 100 queued, updateMany by _id', 45, GROUP, () => claim(all));
  await measure(db, 'bulkWrite of 100 updateOne by _id (budget 25)', 100, GROUP, (round) => settle(all, round));
  await measure(db, 'updateOne by _id, one at a time', 500, 1, (round) =>
    all.updateOne({ _id: id(round * 7) }, { $set: { state: 'sent' }, $inc: { v: 1 } }),
  );
  await measure(db, 'updateOne by _id, 32 at a time', 200, 32, (round) =>
    Promise.all(
      Array.from({ length: 32 }, (_, i) =>
        all.updateOne({ _id: id((round * 32 + i) % MESSAGES) }, { $set: { state: 'done' }, $inc: { v: 1 } }),
      ),
    ),
  );
  await measure(db, 'find by _id', 2000, 1, (round) => all.findOne({ _id: id((round * 13) % MESSAGES) }));
  await measure(db, 'find by parts.key $in of 100', 100, GROUP, (round) =>
    all
      .find({
        'parts.key': { $in: Array.from({ length: GROUP }, (_, i) => message(round * GROUP + i).parts[0]?.key ?? '') },
      })
      .toArray(),
  );
  await measure(db, 'a page of 20 by account, newest first', 500, 1, (round) =>
    all
      .find(
        { account: `acc_${String(round % 50).padStart(10, '0')}`, _id: { $lt: id(15_000) } },
        { sort: { _id: -1 }, limit: 20 },
      )
      .toArray(),
  );
}

async function claim(all: Collection<Message>): Promise<void> {
  const taken = await all
    .find({ state: 'queued', path: 'default', lane: 1, account: { $gt: 'acc_' } }, { projection: { account: 1 } })
    .sort({ account: 1, _id: 1 })
    .limit(GROUP)
    .toArray();
  const claimed = await all.updateMany(
    { _id: { $in: taken.map((one) => one._id) }, state: 'queued' },
    { $set: { state: 'submitting', claim: { bind: 'b1', epoch: 1, at: new Date() } }, $inc: { v: 1 } },
  );
  if (claimed.modifiedCount !== GROUP) throw new Error(`claimed ${claimed.modifiedCount}`);
}

/** The updates of a group of messages after a carrier's answers. */
async function settle(all: Collection<Message>, round: number): Promise<void> {
  const at = new Date();
  const result = await all.bulkWrite(
    Array.from({ length: GROUP }, (_, i) => ({
      updateOne: {
        filter: { _id: id(round * GROUP + i) },
        update: {
          $set: { state: 'sent', claim: { bind: 'b1', epoch: 2, at } },
          $push: { history: { state: 'sent', at } },
          $inc: { v: 1 },
        },
      },
    })),
    { ordered: false },
  );
  if (result.modifiedCount !== GROUP) throw new Error(`updated ${result.modifiedCount}`);
}

async function accounts(db: Db): Promise<void> {
  const all = db.collection<{ _id: string }>('accounts');
  await all.createIndex({ status: 1 }, { partialFilterExpression: { pending: { $exists: true } } });
  await all.insertOne({
    _id: 'acc',
    ...{ status: 'active', balance: 1e9, seq: 0, expiryDate: '2030-01-01', pending: {} },
  });
  const body = new Binary(Buffer.alloc(30_000, 7));
  await measure(db, 'debit: pipeline, 30 KB binary in pending', 500, 1, (round) => {
    const next = { $add: ['$seq', 1] };
    const balance = { $subtract: ['$balance', 100] };
    return all.findOneAndUpdate(
      { _id: 'acc', status: 'active', balance: { $gte: 100 }, expiryDate: { $gte: '2026-11-21' } },
      [
        { $set: { balance, seq: next, [`pending.g_${round}`]: { amount: 100, seq: next, balance, body } } },
        { $unset: [`pending.g_${round - 1}`] },
      ],
      { projection: { balance: 1, seq: 1 }, returnDocument: 'after' },
    );
  });
}

async function idle(db: Db): Promise<void> {
  const before = await cpuMicros(db);
  const seconds = 3;
  await wait(seconds * 1000);
  const spent = (await cpuMicros(db)) - before;
  console.log(`idle, one client connected: ${((spent / (seconds * 1e6)) * 100).toFixed(2)} % of a core`);
}

await main();
