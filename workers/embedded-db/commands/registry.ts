import { notSupported, StoreError } from '../bson/errors.ts';
import { Elements, TYPE, type Value } from '../bson/read.ts';
import { asFlag, asNumber, asString, isNullish, show } from '../bson/value.ts';
import { AGGREGATE_FIELDS, aggregate } from './aggregate.ts';
import { backup, beginsBackup } from './backup.ts';
import {
  COUNT_REFUSED,
  CREATE_REFUSED,
  count,
  create,
  drop,
  dropDatabase,
  dropIndexes,
  listCollections,
  listIndexes,
} from './collections.ts';
import { type Command, checkFields, documentOf, fieldsOf, refuseOption } from './command.ts';
import { createIndexes } from './create-indexes.ts';
import { deleteDocuments } from './delete.ts';
import { explain } from './explain.ts';
import { FIND_FIELDS, find, getMore, killCursors } from './find.ts';
import { FIND_AND_MODIFY_FIELDS, findAndModify } from './find-and-modify.ts';
import { insert } from './insert.ts';
import { OK } from './reply.ts';
import { buildInfo, hello, serverStatus } from './server-commands.ts';
import type { Progress } from './slices.ts';
import type { Store } from './store.ts';
import { update } from './update.ts';

/** One command: a write runs inside the group's transaction, a read on the last commit. */
export type Handler =
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
const GENERIC = [
  '$db',
  '$readPreference',
  'lsid',
  'comment',
  'maxTimeMS',
  'readConcern',
  'writeConcern',
  'apiVersion',
  'apiStrict',
  'apiDeprecationErrors',
  'txnNumber',
  'autocommit',
  'startTransaction',
];

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
    read('find', find, FIND_FIELDS),
    read('getMore', getMore, 'collection batchSize'),
    read('killCursors', killCursors, 'cursors'),
    read('aggregate', aggregate, AGGREGATE_FIELDS),
    read('count', count, COUNT_REFUSED.join(' ')),
    read('explain', explain, 'verbosity'),
    read('listIndexes', listIndexes, 'cursor'),
    read('listCollections', listCollections, 'filter nameOnly authorizedCollections cursor'),
    stored('harkaraBackup', backup, beginsBackup, 'begin'),
    write('create', create, CREATE_REFUSED.join(' ')),
    write('drop', drop, ''),
    write('dropDatabase', dropDatabase, ''),
    write('createIndexes', createIndexes, 'indexes commitQuorum'),
    write('dropIndexes', dropIndexes, 'index'),
    write('insert', insert, 'documents ordered bypassDocumentValidation'),
    write('update', update, 'updates ordered bypassDocumentValidation let'),
    write('delete', deleteDocuments, 'deletes ordered let'),
    write('findAndModify', findAndModify, FIND_AND_MODIFY_FIELDS),
  ].map((handler) => [[...handler.fields][0] ?? '', handler]),
);

/** The command's handler, after what can be said against the command without running it. */
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
  if (command.get('startTransaction').type !== TYPE.missing || asFlag(command.get('autocommit')) === false) {
    throw new StoreError(
      263,
      'Transactions are not supported by the embedded store; set HARKARA_MONGODB_URI to use MongoDB with a replica set',
    );
  }
  if (command.get('txnNumber').type !== TYPE.missing) {
    throw new StoreError(20, 'Transaction numbers are only allowed on a replica set member or mongos');
  }
  checkConcerns(command, handler.kind === 'write' ? 'write' : 'read');
  return handler;
}

/**
 * What a client may ask of how a command is read, stored and checked. Here everything is read as committed and answered when it is
 * on the disk, so only what asks for less or for the same is taken. What needs other members is answered as by a standalone mongod.
 */
function checkConcerns(command: Command, kind: 'read' | 'write'): void {
  const read = command.get('readConcern');
  const write = command.get('writeConcern');
  if (read.type !== TYPE.missing) checkReadConcern(command.name, documentOf(read, 'readConcern'), kind);
  if (write.type !== TYPE.missing) checkWriteConcern(documentOf(write, 'writeConcern'));
  const version = command.get('apiVersion');
  if (version.type !== TYPE.missing && asString(version) !== '1') {
    throw new StoreError(322, `API version must be "1", not ${show(version)}`);
  }
  refuseOption('apiStrict', command.get('apiStrict'));
  refuseOption('apiDeprecationErrors', command.get('apiDeprecationErrors'));
}

function checkReadConcern(name: string, concern: Value, kind: 'read' | 'write'): void {
  if (concern.type === TYPE.missing) return;
  for (const [field, value] of fieldsOf(new Elements(concern.buf, concern.pos))) {
    if (field !== 'level') throw notSupported(`readConcern.${field}`);
    const level = asString(value) ?? '';
    if (level === 'local') continue;
    if (level === 'linearizable' || level === 'snapshot') {
      throw new StoreError(123, `node needs to be a replica set member to use read concern ${level}`);
    }
    if (level !== 'majority' && level !== 'available') {
      throw new StoreError(2, `Enumeration value ${show(value)} for field 'readConcern.level' is not a valid value.`);
    }
    if (kind === 'write') throw new StoreError(72, `Command ${name} does not support read concern ${level}`);
  }
}

const MAX_MEMBERS = 50;

function checkWriteConcern(concern: Value): void {
  if (concern.type === TYPE.missing) return;
  for (const [field, value] of fieldsOf(new Elements(concern.buf, concern.pos))) {
    if (field === 'w') checkAcknowledgements(value);
    else if (field === 'j') checkFlag(field, value);
    else if (field === 'wtimeout') checkTime(value);
    else throw new StoreError(9, `unrecognized write concern field: ${field}`);
  }
}

function checkAcknowledgements(w: Value): void {
  if (isNullish(w.type)) return;
  const mode = asString(w);
  if (mode === 'majority') return;
  if (mode !== undefined) {
    throw new StoreError(2, `cannot use non-majority 'w' mode ${mode} when a host is not a member of a replica set`);
  }
  const members = asNumber(w);
  if (members === undefined) throw new StoreError(9, 'w has to be a number, string, or object');
  if (!(members >= 0 && members <= MAX_MEMBERS)) {
    throw new StoreError(9, `w has to be a non-negative number and not greater than ${MAX_MEMBERS}; found: ${members}`);
  }
  if (members > 1) throw new StoreError(2, "cannot use 'w' > 1 when a host is not replicated");
}

function checkFlag(name: string, value: Value): void {
  if (!isNullish(value.type) && asFlag(value) === undefined)
    throw new StoreError(9, `${name} must be numeric or boolean`);
}

/** Only its form is checked: no write waits for other members, so no time runs out. */
function checkTime(value: Value): void {
  if (asNumber(value) === undefined) throw new StoreError(9, 'wtimeout must be a number');
}
