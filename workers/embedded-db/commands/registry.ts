import { StoreError } from '../bson/errors.ts';
import { TYPE } from '../bson/read.ts';
import { asFlag } from '../bson/value.ts';
import { AGGREGATE_FIELDS, aggregate } from './aggregate.ts';
import { backup, beginsBackup } from './backup.ts';
import { COUNT_REFUSED, CREATE_REFUSED, count, create, drop, dropDatabase, listCollections } from './collections.ts';
import { type Command, checkFields } from './command.ts';
import { checkConcerns } from './concerns.ts';
import { createIndexes } from './create-indexes.ts';
import { deleteDocuments } from './delete.ts';
import { explain } from './explain.ts';
import { FIND_FIELDS, find, getMore, killCursors } from './find.ts';
import { FIND_AND_MODIFY_FIELDS, findAndModify } from './find-and-modify.ts';
import { dropIndexes, listIndexes } from './indexes.ts';
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
