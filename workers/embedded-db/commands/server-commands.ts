import type { Command } from './command.ts';
import { reply } from './reply.ts';
import { MAX_WRITE_BATCH } from './statements.ts';
import type { Store } from './store.ts';

/** What drivers may send in one message (mongod's own number). */
export const MAX_MESSAGE_BYTES = 48_000_000;
const MAX_DOCUMENT_BYTES = 16 * 1024 * 1024;
/** 7.0: what the store does, it does as that version. */
const WIRE_VERSION = 21;
const VERSION = [7, 0, 0, 0] as const;

/** A standalone: no replica set, no retryable writes, no `topologyVersion` (the driver then polls instead of waiting). */
export function hello(store: Store, command: Command): Buffer {
  return reply((out) => {
    out.bool(command.name === 'hello' ? 'isWritablePrimary' : 'ismaster', true);
    out.bool('helloOk', true);
    out.int32('maxBsonObjectSize', MAX_DOCUMENT_BYTES);
    out.int32('maxMessageSizeBytes', MAX_MESSAGE_BYTES);
    out.int32('maxWriteBatchSize', MAX_WRITE_BATCH);
    out.date('localTime', store.now());
    out.int32('logicalSessionTimeoutMinutes', 30);
    out.int32('connectionId', 1);
    out.int32('minWireVersion', 0);
    out.int32('maxWireVersion', WIRE_VERSION);
    out.bool('readOnly', false);
  });
}

export function buildInfo(): Buffer {
  return reply((out) => {
    out.string('version', VERSION.join('.'));
    out.string('gitVersion', 'embedded');
    const array = out.array('versionArray');
    for (const [i, part] of VERSION.entries()) out.int32(String(i), part);
    out.close(array);
    const engines = out.array('storageEngines');
    out.string('0', 'lmdb');
    out.close(engines);
    out.int32('bits', 64);
    out.bool('debug', false);
    out.int32('maxBsonObjectSize', MAX_DOCUMENT_BYTES);
  });
}

export function serverStatus(store: Store): Buffer {
  const cpu = process.cpuUsage();
  const memory = process.memoryUsage();
  return reply((out) => {
    out.string('host', 'localhost');
    out.string('version', VERSION.join('.'));
    out.string('process', 'harkara-embedded-db');
    out.int64('pid', BigInt(process.pid));
    out.double('uptime', (store.now() - store.startedAtMs) / 1000);
    out.date('localTime', store.now());
    const usage = out.object('extra_info');
    out.int64('user_time_us', BigInt(cpu.user));
    out.int64('system_time_us', BigInt(cpu.system));
    out.int64('resident_bytes', BigInt(memory.rss));
    out.close(usage);
    const engine = out.object('storageEngine');
    out.string('name', 'lmdb');
    out.close(engine);
    const metrics = out.object('metrics');
    out.int32('openCursors', store.cursors.count);
    const document = out.object('document');
    for (const [kind, count] of Object.entries(store.documents.counts)) out.int64(kind, BigInt(count));
    out.close(document);
    const executor = out.object('queryExecutor');
    out.int64('scanned', BigInt(store.database.looked.keys));
    out.int64('scannedObjects', BigInt(store.database.looked.documents));
    out.close(executor);
    out.close(metrics);
  });
}
