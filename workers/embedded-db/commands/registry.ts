import { StoreError } from '../bson/errors.ts';
import { TYPE } from '../bson/read.ts';
import { asFlag } from '../bson/value.ts';
import { aggregate } from './aggregate.ts';
import { backup } from './backup.ts';
import {
  CREATE_REFUSED,
  collMod,
  create,
  drop,
  dropDatabase,
  listCollections,
  listDatabases,
  renameCollection,
} from './collections.ts';
import { type Command, checkFields } from './command.ts';
import { count, distinct } from './count.ts';
import { deleteDocuments } from './delete.ts';
import { explain } from './explain.ts';
import { find, getMore, killCursors } from './find.ts';
import { findAndModify } from './find-and-modify.ts';
import { createIndexes, dropIndexes, listIndexes } from './indexes.ts';
import { insert } from './insert.ts';
import { OK } from './reply.ts';
import { buildInfo, hello, serverStatus } from './server-commands.ts';
import type { Store } from './store.ts';
import { update } from './update.ts';

/** One command: a write runs inside the group's transaction, a read on the last commit. */
export type Handler =
  | { readonly kind: 'write'; readonly fields: ReadonlySet<string>; run(store: Store, command: Command): Buffer }
  | {
      readonly kind: 'read';
      readonly fields: ReadonlySet<string>;
      run(store: Store, command: Command): Buffer | Promise<Buffer>;
    }
  | {
      /** Runs when the tables have been stored, with everything that was acknowledged before. */
      readonly kind: 'stored';
      readonly fields: ReadonlySet<string>;
      run(store: Store, command: Command): Promise<Buffer>;
    };

/** Taken with every command. Concerns are accepted and all mean the same here: committed, and on the disk. */
const GENERIC = [
  '$db',
  '$readPreference',
  '$clusterTime',
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

function write(name: string, run: (store: Store, command: Command) => Buffer, fields: string): Handler {
  return { kind: 'write', fields: new Set([name, ...GENERIC, ...words(fields)]), run };
}

function stored(name: string, run: (store: Store, command: Command) => Promise<Buffer>, fields: string): Handler {
  return { kind: 'stored', fields: new Set([name, ...GENERIC, ...words(fields)]), run };
}

function words(text: string): string[] {
  return text.split(' ').filter((word) => word !== '');
}

const HELLO =
  'client compression helloOk saslSupportedMechs speculativeAuthenticate loadBalanced topologyVersion maxAwaitTimeMS backpressure hostInfo internalClient';
const FIND_AND_MODIFY =
  'query sort remove update new fields upsert bypassDocumentValidation collation arrayFilters hint let';

const HANDLERS: ReadonlyMap<string, Handler> = new Map(
  [
    read('hello', hello, HELLO),
    read('isMaster', hello, HELLO),
    read('ismaster', hello, HELLO),
    read('ping', () => OK, ''),
    read('endSessions', () => OK, ''),
    read('refreshSessions', () => OK, ''),
    read('buildInfo', buildInfo, ''),
    read('buildinfo', buildInfo, ''),
    read('serverStatus', serverStatus, ''),
    read(
      'find',
      find,
      'filter sort projection hint skip limit batchSize singleBatch max min returnKey showRecordId tailable awaitData oplogReplay noCursorTimeout allowPartialResults collation allowDiskUse let',
    ),
    read('getMore', getMore, 'collection batchSize'),
    read('killCursors', killCursors, 'cursors'),
    read('aggregate', aggregate, 'pipeline cursor explain allowDiskUse bypassDocumentValidation collation hint let'),
    read('count', count, 'query limit skip hint collation fields'),
    read('distinct', distinct, 'key query collation hint'),
    read('explain', explain, 'verbosity'),
    read('listIndexes', listIndexes, 'cursor'),
    read('listCollections', listCollections, 'filter nameOnly authorizedCollections cursor'),
    read('listDatabases', listDatabases, 'filter nameOnly authorizedDatabases'),
    stored('harkaraBackup', backup, 'begin'),
    write('create', create, ['autoIndexId', 'idIndex', ...CREATE_REFUSED].join(' ')),
    write('drop', drop, ''),
    write('renameCollection', renameCollection, 'to dropTarget'),
    write('collMod', collMod, 'index'),
    write('dropDatabase', dropDatabase, ''),
    write('createIndexes', createIndexes, 'indexes commitQuorum'),
    write('dropIndexes', dropIndexes, 'index'),
    write('insert', insert, 'documents ordered bypassDocumentValidation'),
    write('update', update, 'updates ordered bypassDocumentValidation'),
    write('delete', deleteDocuments, 'deletes ordered'),
    write('findAndModify', findAndModify, FIND_AND_MODIFY),
    write('findandmodify', findAndModify, FIND_AND_MODIFY),
  ].map((handler) => [[...handler.fields][0] ?? '', handler]),
);

/** The command's handler, after what can be said against the command without running it. */
export function handlerOf(command: Command): Handler {
  const handler = HANDLERS.get(command.name);
  if (handler === undefined) throw new StoreError(59, `no such command: '${command.name}'`);
  checkFields(command.fields.keys(), handler.fields, command.name);
  if (command.get('startTransaction').type !== TYPE.missing || asFlag(command.get('autocommit')) === false) {
    throw new StoreError(
      263,
      'Transactions are not supported by the embedded store; set MONGODB_URI to use MongoDB with a replica set',
    );
  }
  if (command.get('txnNumber').type !== TYPE.missing) {
    throw new StoreError(20, 'Transaction numbers are only allowed on a replica set member or mongos');
  }
  return handler;
}
