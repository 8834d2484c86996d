import { notSupported, StoreError } from '../bson/errors.ts';
import { Elements, TYPE, type Value } from '../bson/read.ts';
import { asNumber, asString, show } from '../bson/value.ts';
import { aggregate } from './aggregate.ts';
import { backup, beginsBackup } from './backup.ts';
import { count, drop, dropDatabase, dropIndexes, listCollections, listIndexes } from './collections.ts';
import { type Command, checkFields, fieldsOf } from './command.ts';
import { createIndexes } from './create-indexes.ts';
import { deleteDocuments } from './delete.ts';
import { find, getMore, killCursors } from './find.ts';
import { findAndModify } from './find-and-modify.ts';
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
  checkConcerns(command, handler.kind === 'write' ? 'write' : 'read');
  return handler;
}

/**
 * What a client may ask of how a command is read and stored. Here everything is read as committed and answered when it is on the disk,
 * so what asks for less, or for the same, is taken. What needs other members is refused.
 */
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
