import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Binary, type Db, MongoClient } from 'mongodb';
import { applyChange, changeUpdate } from '../../shared/messages/document/change.ts';
import { type MessageDocument, type MessageDraft, queuedMessage } from '../../shared/messages/document/message.ts';
import { type QueueDocument, queueDocuments, unpackLines } from '../../shared/messages/queue/queue-document.ts';
import { claimedMessage, claimLines, insertFirst, removeQueued } from '../../shared/messages/queue/queue-store.ts';
import { findAtOnce } from '../../shared/platform/mongo/find-one.ts';
import { ensureIndexes, INDEXES } from '../../shared/platform/mongo/indexes.ts';
import { insertNew } from '../../shared/platform/mongo/insert-new.ts';
import { type SingleUpdate, updateEach } from '../../shared/platform/mongo/update-each.ts';
import { systemClock } from '../../shared/platform/runtime/clock.ts';
import { type AccountId, newId, type QueueId } from '../../shared/platform/runtime/ids.ts';
import { embeddedSocketPath, embeddedStoreDir } from '../../shared/platform/runtime/unix-socket.ts';
import { build } from './fleet.ts';

const GROUP = 100;
const MESSAGES = 20_000;
const PATH = 'default';
const LANE = 2;
const CARRIER = 'smsc1';
const VALID_MS = 86_400_000;

/**
 * `npm run bench:store`: the embedded store in its own process, with fsync, used through the real driver with the
 * product's indexes and writes. For each operation: rate of one client, and the store's whole CPU for one (wire, LMDB,
 * commit).
 */
async function main(): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'harkara-bench-'));
  const server = await startStore(dir);
  const client = new MongoClient(`mongodb://${encodeURIComponent(embeddedSocketPath(embeddedStoreDir(dir)))}`, {
    ignoreUndefined: true,
  });
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
  // Compiled, as in production: closures are slower under tsx.
  const entry = join(await build(), 'workers/embedded-db/main.js');
  const args = process.env.BENCH_NODE_ARGS?.split(' ') ?? [];
  const server = spawn(process.execPath, [...args, entry], {
    env: { ...process.env, HARKARA_DATA_DIR: dir, HARKARA_LOG_LEVEL: 'error' },
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

/** Runs `work` `times` times, each with `size` operations. The first tenth is a warm-up that does not count. */
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

/** One account's messages, as a bulk send makes them. */
function hundred(round: number): MessageDocument[] {
  const group = newId('grp');
  return Array.from({ length: GROUP }, (_, i) => {
    const draft: MessageDraft = {
      ...{ _id: newId('msg'), to: `9198${String(round * GROUP + i).padStart(8, '0')}`, sender: 'HARKRA' },
      ...{ route: 'transactional', path: PATH, lane: LANE, encoding: 'GSM7', segments: 1 },
      text: `Parcel ${i} has arrived at the pick-up point and waits for you until Friday evening.`,
      validUntil: new Date(systemClock.now().getTime() + VALID_MS),
      reference: `order-${round}`,
    };
    return queuedMessage(accountOf(round), group, draft);
  });
}

function accountOf(round: number): AccountId {
  return `acc_${String(round % 50).padStart(10, '0')}`;
}

/** Store commands from submit to receipt, a hundred messages each. */
async function messages(db: Db): Promise<void> {
  const wanted = INDEXES.filter(({ collection }) => collection === 'queue' || collection === 'messages');
  await ensureIndexes(db, () => {}, wanted);
  const rounds = Array.from({ length: MESSAGES / GROUP }, (_, round) => hundred(round));
  const ids: QueueId[] = [];
  const claimed: MessageDocument[][] = [];
  const sent: MessageDocument[][] = [];
  const of = <T>(all: readonly T[][], round: number): readonly T[] => all[round % all.length] ?? [];
  await measure(db, 'lines: insert, 100 in a document', rounds.length, GROUP, (round) => {
    const documents = queueDocuments([{ group: newId('grp'), messages: of(rounds, round) }], systemClock.now());
    return insertFirst(db, documents);
  });
  await measure(db, 'lines: read and claim a document', rounds.length, GROUP, async () => {
    const { id, lines } = await claim(db);
    ids.push(id);
    claimed.push(lines);
  });
  await measure(db, 'messages: insert of 100 with their outcome', rounds.length, GROUP, (round) => {
    const settled = of(claimed, round).map(asSent);
    sent.push(settled);
    return insertNew(db, 'messages', settled);
  });
  await measure(db, 'lines: removal of a document', rounds.length, GROUP, (round) => {
    const id = ids[round];
    return removeQueued(db, id === undefined ? [] : [id]);
  });
  await measure(db, 'messages: 100 receipts', rounds.length / 2, GROUP, async (round) => {
    const written = await updateEach(db, 'messages', of(sent, round).map(receiptUpdate));
    if (written !== GROUP) throw new Error(`updated ${written}`);
  });
  await single(db, sent.flat());
}

async function claim(db: Db): Promise<{ readonly id: QueueId; readonly lines: MessageDocument[] }> {
  const [head] = await findAtOnce<QueueDocument>(db, 'queue', {
    filter: { open: true, path: PATH, lane: LANE },
    sort: { path: 1, lane: 1, account: 1, _id: 1 },
    limit: 1,
  });
  if (head === undefined) throw new Error('no lines are left');
  const taken = { id: newId('clm'), carrier: CARRIER, epoch: 1, at: systemClock.now() };
  const ours = await claimLines(db, taken, [{ head, to: head.n }]);
  if (ours.size !== 1) throw new Error('a claim was refused');
  return { id: head._id, lines: unpackLines(head.lines).map((line) => claimedMessage(line, taken)) };
}

function asSent(message: MessageDocument): MessageDocument {
  return applyChange(message, {
    state: 'sent',
    set: { parts: [{ key: keyOf(message), state: 'accepted' }] },
    entries: [{ state: 'sent', at: systemClock.now() }],
  });
}

function receiptUpdate(message: MessageDocument): SingleUpdate {
  const at = systemClock.now();
  return changeUpdate(message, {
    state: 'delivered',
    set: { parts: [{ key: keyOf(message), state: 'delivered' }], deliveredAt: at },
    unset: ['due'],
    entries: [{ state: 'delivered', at }],
  });
}

function keyOf({ _id }: MessageDocument): string {
  return `${CARRIER}:${_id.slice(4)}`;
}

/** Operations on single documents, and reads. */
async function single(db: Db, stored: readonly MessageDocument[]): Promise<void> {
  const all = db.collection<MessageDocument>('messages');
  const at = (i: number): MessageDocument => stored[i % stored.length] as MessageDocument;
  await measure(db, 'updateOne by _id, one at a time', 500, 1, (round) =>
    all.updateOne({ _id: at(round * 7)._id }, { $inc: { v: 1 } }),
  );
  await measure(db, 'updateOne by _id, 32 at a time', 200, 32, (round) =>
    Promise.all(
      Array.from({ length: 32 }, (_, i) => all.updateOne({ _id: at(round * 32 + i)._id }, { $inc: { v: 1 } })),
    ),
  );
  await measure(db, 'find by _id', 2000, 1, (round) => all.findOne({ _id: at(round * 13)._id }));
  await measure(db, 'find by parts.key $in of 100', 100, GROUP, (round) =>
    all.find({ 'parts.key': { $in: Array.from({ length: GROUP }, (_, i) => keyOf(at(round * GROUP + i))) } }).toArray(),
  );
  await measure(db, 'a page of 20 by account, newest first', 500, 1, (round) =>
    all.find({ account: accountOf(round), _id: { $lt: at(15_000)._id } }, { sort: { _id: -1 }, limit: 20 }).toArray(),
  );
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
