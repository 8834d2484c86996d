import type { Db } from 'mongodb';
import { createAnnouncer } from '../../shared/events/webhooks/announce.ts';
import {
  type BatchDocument,
  type BatchEntry,
  batchCollection,
  chunksOf,
  insertChunks,
} from '../../shared/messages/batch.ts';
import { pricedAt } from '../../shared/money/accounts/prices.ts';
import { GroupAccepter } from '../../shared/money/payment/accept.ts';
import { debitEach } from '../../shared/money/payment/debit.ts';
import { LEASE_TTL_MS, Lease } from '../../shared/platform/leases/lease.ts';
import { isoDate, systemClock } from '../../shared/platform/runtime/clock.ts';
import { type AccountId, newId } from '../../shared/platform/runtime/ids.ts';
import { Metrics } from '../../shared/platform/runtime/metrics.ts';
import type { ProcessIdentity } from '../../shared/platform/runtime/process-identity.ts';
import { BatchWorker } from '../../workers/batches/worker.ts';
import { silentLog } from './silent-log.ts';

/** That many recipients with distinct numbers. */
export function makeEntries(count: number): BatchEntry[] {
  return Array.from({ length: count }, (_, i) => ({ to: `9190${String(i).padStart(8, '0')}` }));
}

export function makeBatch(account: AccountId, total: number, overrides: Partial<BatchDocument> = {}): BatchDocument {
  return {
    _id: newId('bat'),
    account,
    state: 'unpaid',
    open: true,
    unpaid: { payBy: new Date(Date.now() + 15_000), bytes: 1_000 },
    total,
    perChunk: 1_000,
    sender: 'HARKRA',
    route: 'transactional',
    path: 'transactional',
    lane: 2,
    validUntil: new Date(Date.now() + 48 * 3_600_000),
    content: { kind: 'text', text: 'hello', encoding: 'GSM7', segments: 1 },
    done: 0,
    reserved: 0,
    ...overrides,
  };
}

export async function storeBatch(db: Db, batch: BatchDocument, entries = makeEntries(batch.total)): Promise<void> {
  await batchCollection(db).insertOne(batch);
  await insertChunks(db, chunksOf(batch._id, entries, batch.perChunk));
}

/** A batch that its account has just paid for, as the gateway leaves it. */
export async function payBatch(db: Db, batch: BatchDocument, entries?: readonly BatchEntry[]): Promise<void> {
  await storeBatch(db, batch, entries === undefined ? undefined : [...entries]);
  const accepter = new GroupAccepter({ db, clock: systemClock, log: silentLog });
  const payBy = new Date(Date.now() + 15_000);
  const outcome = await accepter.acceptBatch(
    batch.account,
    { id: batch._id, total: batch.total, ...pricedAt(batch.credits ?? batch.total, batch.total) },
    payBy,
  );
  if (outcome.kind !== 'accepted') throw new Error(outcome.kind);
}

/** As a gateway leaves it that dies right after the debit: paid for, not marked as paid. */
export async function payUnmarked(db: Db, batch: BatchDocument): Promise<void> {
  await storeBatch(db, batch);
  const { account, _id: id, total } = batch;
  const today = isoDate(new Date());
  await debitEach(db, [{ account, group: newId('grp'), messages: [], batch: { id, total }, today, done: [] }]);
}

/** Runs in this process; the caller stops it. */
export async function startBatchWorker(db: Db, identity?: ProcessIdentity): Promise<BatchWorker> {
  const played = identity === undefined ? {} : { identity };
  const worker = new BatchWorker({
    db,
    clock: systemClock,
    log: silentLog,
    metrics: new Metrics(),
    announcer: createAnnouncer({ db, clock: systemClock }),
    leases: Array.from({ length: 4 }, (_, n) => new Lease({ name: `batches:${n}`, db, clock: systemClock, ...played })),
    leaseRoundMs: LEASE_TTL_MS / 3,
    countWorkers: async () => 1,
  });
  await worker.start();
  return worker;
}
