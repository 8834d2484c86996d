import { notSupported, StoreError } from '../bson/errors.ts';
import { Elements, TYPE, type Value } from '../bson/read.ts';
import { asNumber, asString, show } from '../bson/value.ts';
import { backup, beginsBackup } from './backup.ts';
import { count, createIndexes, drop, dropDatabase, dropIndexes, listCollections, listIndexes } from './collections.ts';
import { type Command, checkFields, fieldsOf, OK, reply } from './command.ts';
import { aggregate, find, getMore, killCursors } from './reads.ts';
import type { Progress, Store } from './store.ts';
import { deleteDocuments, findAndModify, insert, MAX_WRITE_BATCH, update } from './writes.ts';

/** A write runs inside the group's transaction, a read on the last commit. */
type Handler =
  | { readonly kind: 'write'; readonly fields: ReadonlySet<string>; run(store: Store, command: Command): Progress }
  | {
      readonly kind: 'read';
      readonly fields: ReadonlySet<string>;
      run(store: Store, command: Command): Buffer | Promise<Buffer>;
    }
  | {
      /** If `needed`, the tables are stored before it runs, with everything that was acknowledged until then. */
      readonly kind: 'stored';
      readonly fields: ReadonlySet<string>;
      needed(command: Command): boolean;
      run(store: Store, command: Command): Promise<Buffer>;
    };

/** Taken with every command. `maxTimeMS` has no effect. */
const GENERIC = ['$db', '$readPreference', 'lsid', 'comment', 'maxTimeMS', 'readConcern', 'writeConcern'];

function read(
  name: string,
  run: (store: Store, command: Command) => Buffer | Promise<Buffer>,
  fields: string,
): Handler {
  return { kind: 'read', fields: new Set([name, ...GENERIC, ...words(fields)]), run };
}

function write(name: string, run: (store: Store, command: Command) => Progress, fields: string): Handler {
  return { kind: 'write', fields: new Set([name, ...GENERIC, ...words(fields)]), run };
}

function stored(
  name: string,
  run: (store: Store, command: Command) => Promise<Buffer>,
  needed: (command: Command) => boolean,
  fields: string,
): Handler {
  return { kind: 'stored', fields: new Set([name, ...GENERIC, ...words(fields)]), needed, run };
}

function words(text: string): string[] {
  return text.split(' ').filter((word) => word !== '');
}

const HELLO =
  'client compression helloOk saslSupportedMechs speculativeAuthenticate loadBalanced topologyVersion maxAwaitTimeMS backpressure hostInfo internalClient';

/** What product and scheduler send, and what the tests need of a server (docs/embedded-store-scope.md). */
const HANDLERS: ReadonlyMap<string, Handler> = new Map(
  [
    read('hello', hello, HELLO),
    read('ismaster', hello, HELLO),
    read('ping', () => OK, ''),
    read('endSessions', () => OK, ''),
    read('buildInfo', buildInfo, ''),
    read('serverStatus', serverStatus, ''),
    read('find', find, 'filter sort projection hint skip limit batchSize singleBatch'),
    read('getMore', getMore, 'collection batchSize'),
    read('killCursors', killCursors, 'cursors'),
    read('aggregate', aggregate, 'pipeline cursor hint'),
    read('count', count, ''),
    read('listIndexes', listIndexes, 'cursor'),
    read('listCollections', listCollections, 'filter nameOnly authorizedCollections cursor'),
    stored('harkaraBackup', backup, beginsBackup, 'begin'),
    write('drop', drop, ''),
    write('dropDatabase', dropDatabase, ''),
    write('createIndexes', createIndexes, 'indexes'),
    write('dropIndexes', dropIndexes, 'index'),
    write('insert', insert, 'documents ordered'),
    write('update', update, 'updates ordered'),
    write('delete', deleteDocuments, 'deletes ordered'),
    write('findAndModify', findAndModify, 'query sort remove update new fields upsert'),
  ].map((handler) => [[...handler.fields][0] ?? '', handler]),
);

/** Throws what can be said against the command without running it. */
export function handlerOf(command: Command): Handler {
  const handler = HANDLERS.get(command.name);
  if (handler === undefined) {
    throw new StoreError(
      59,
      `no such command: '${command.name}' in the embedded store; set HARKARA_MONGODB_URI to use MongoDB`,
    );
  }
  checkFields(command.fields.keys(), handler.fields, command.name);
  checkFields(command.sequences.keys(), handler.fields, command.name);
  checkConcerns(command, handler.kind === 'write' ? 'write' : 'read');
  return handler;
}

/** Everything is read as committed and answered when on the disk: a client may ask for this or less. */
function checkConcerns(command: Command, kind: 'read' | 'write'): void {
  const levels = kind === 'read' ? ['local', 'available', 'majority'] : ['local'];
  for (const [field, value] of membersOf(command, 'readConcern')) {
    if (field !== 'level' || !levels.includes(asString(value) ?? '')) {
      throw notSupported(`readConcern { ${field}: ${show(value)} } of ${command.name}`);
    }
  }
  for (const [field, value] of membersOf(command, 'writeConcern')) {
    const members = asNumber(value) ?? (asString(value) === 'majority' ? 1 : Number.NaN);
    if (field === 'w' ? members !== 0 && members !== 1 : field !== 'j' && field !== 'wtimeout') {
      throw notSupported(`writeConcern { ${field}: ${show(value)} }`);
    }
  }
}

function membersOf(command: Command, name: string): Iterable<[string, Value]> {
  const concern = command.document(name);
  return concern.type === TYPE.missing ? [] : fieldsOf(new Elements(concern.buf, concern.pos));
}

/** What drivers may send in one message (mongod's own number). */
export const MAX_MESSAGE_BYTES = 48_000_000;
const MAX_DOCUMENT_BYTES = 16 * 1024 * 1024;
/** 7.0: what the store does, it does as that version. */
const WIRE_VERSION = 21;
const VERSION = [7, 0, 0, 0] as const;

/** A standalone: no replica set, no retryable writes, no `topologyVersion` (so the driver polls). */
function hello(store: Store, command: Command): Buffer {
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

function buildInfo(): Buffer {
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

function serverStatus(store: Store): Buffer {
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
