import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Db } from 'mongodb';
import type { Config } from '../../shared/platform/config/settings.ts';
import { connectStore, type Store } from '../../shared/platform/mongo/connect.ts';
import { isStoreTrouble } from '../../shared/platform/mongo/errors.ts';
import { StartError } from '../../shared/platform/runtime/lifecycle.ts';
import { embeddedStoreDir } from '../../shared/platform/runtime/unix-socket.ts';
import { checkStore, compactStore, restoreStore } from '../../workers/embedded-db/offline.ts';
import { startEmbeddedStore } from '../../workers/embedded-db/server.ts';
import { operator } from './audited.ts';
import {
  type Answer,
  type Command,
  type Context,
  defineCommand,
  Failure,
  flag,
  optional,
  required,
  UsageError,
  words,
} from './command.ts';
import { moveStore, type Place } from './store-move.ts';

const LOOK_EVERY_MS = 250;
const file = words('FILE', 'the path of a file', /^[^\0]+$/);
const MEGABYTE = 1_048_576;

/** Commands for the whole embedded store. MongoDB has its own tools (mongodump, mongorestore, validate). */
export const STORE_COMMANDS: readonly Command[] = [
  defineCommand({
    noun: 'store',
    verb: 'backup',
    about: 'Copies the embedded store into one new file while the product runs.',
    args: { file: required(file, 'the new file; it gets mode 0600') },
    options: {},
    notes:
      'The file contains everything that was acknowledged before the command. Back up secret.key too: without it, stored secrets cannot be read.',
    async run({ file }, { config, db }) {
      requireEmbedded(config);
      const path = resolve(file);
      await makeBackup(await db(), path, () => progress('copied', sizeOf(`${path}.partial`)));
      const bytes = sizeOf(path);
      return { text: `${path}: ${megabytes(bytes)} MB.`, json: { file: path, bytes } };
    },
  }),
  defineCommand({
    noun: 'store',
    verb: 'restore',
    about: 'Creates the embedded store from a backup. Stop the product first.',
    args: { file: required(file, 'what `store backup` wrote') },
    options: {},
    notes: 'An existing store is never replaced: move its directory away first.',
    async run({ file }, { config }) {
      const dir = embeddedDir(config);
      await restoreStore(dir, resolve(file));
      return { text: `The store is in ${dir}. Start the product.`, json: { directory: dir } };
    },
  }),
  defineCommand({
    noun: 'store',
    verb: 'compact',
    about: 'Returns free space in the embedded store to the disk. Stop the product first.',
    args: {},
    options: {},
    notes: 'Needs as much free disk space as the store has data.',
    async run(_values, { config }) {
      const { before, after } = await compactStore(embeddedDir(config));
      return { text: `${megabytes(before)} MB before, ${megabytes(after)} MB now.`, json: { before, after } };
    },
  }),
  defineCommand({
    noun: 'store',
    verb: 'check',
    about: 'Reads the whole embedded store and checks that it is consistent. Stop the product first.',
    args: {},
    options: {},
    notes:
      'It compares every page with its checksum, then checks every document, every index entry and every count. Exit code 1 when something is inconsistent.',
    async run(_values, { config }) {
      const report = await checkStore(embeddedDir(config), (documents) => progress('documents read:', documents));
      const { collections, documents, entries, problems } = report;
      const read = `${documents} documents in ${collections} collections, ${entries} index entries: `;
      const text =
        problems.length === 0
          ? `${read}all fit.`
          : `${read}NOT ALL FIT.\n${problems.join('\n')}\nMove the store’s directory away and restore a backup: store restore.`;
      return { text, json: report, ok: problems.length === 0 };
    },
  }),
];

/** Starts the backup and polls until it is done. Throws a `Failure` with the reason if it failed. */
async function makeBackup(db: Db, path: string, onProgress: () => void): Promise<void> {
  for (let begin = true; ; begin = false) {
    let answer: Readonly<Record<string, unknown>>;
    try {
      answer = await db.command({ harkaraBackup: path, ...(begin ? { begin } : {}) });
    } catch (error) {
      throw new Failure(`No backup was made: ${error instanceof Error ? error.message : String(error)}`);
    }
    if (answer.state === 'done') return;
    if (answer.state !== 'copying') throw new Failure(`No backup was made: ${answer.why}`);
    onProgress();
    await wait(LOOK_EVERY_MS);
  }
}

function requireEmbedded({ mongodbUri }: Config): void {
  if (mongodbUri === '') return;
  throw new Failure('HARKARA_MONGODB_URI is set: use the tools of MongoDB (mongodump, mongorestore).');
}

function embeddedDir(config: Config): string {
  requireEmbedded(config);
  return embeddedStoreDir(config.dataDir);
}

/** Overwrites the previous line, on a terminal only. */
function progress(what: string, value: number): void {
  if (!process.stderr.isTTY) return;
  const shown = what === 'copied' ? `copied ${megabytes(value)} MB` : `${what} ${value}`;
  process.stderr.write(`\r${shown} \r`);
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function megabytes(bytes: number): string {
  return (bytes / MEGABYTE).toFixed(1);
}

const uri = words('URI', 'an address like mongodb://host:27017/?replicaSet=rs0', /^mongodb(\+srv)?:\/\/\S+$/);
const database = words('NAME', 'the name of a database', /^[^\0/\\. "$]{1,63}$/);
const PASSWORD = /^(mongodb(?:\+srv)?:\/\/)([^/@]*@)/;
const ARGS = { uri: optional(uri, 'the other store, without a password; left out, it comes from HARKARA_STORE_URI') };
const OPTIONS = {
  database: optional(database, 'its database; default: HARKARA_MONGODB_DATABASE'),
  'uri-stdin': flag('read its address from stdin'),
};
const NOTES = `The address contains a password: keep it out of the command line, where other users and the shell's history see it. Write HARKARA_STORE_URI=… into .env or the environment, use --uri-stdin, or answer the question.

Stop the product first; the other store must be empty. It compares all documents and verifies the ledgers before the target may be used; until then starts on it are refused. When the command was interrupted, run it again: it begins anew. The source stays as it is. Never let the product run on both: each would send what waits. Take secret.key along: stored secrets cannot be read without it.`;

/** Copies all data between the embedded store and a MongoDB, or between two MongoDBs. */
export const STORE_MOVE_COMMANDS: readonly Command[] = [
  defineCommand({
    noun: 'store',
    verb: 'export',
    about: "Copies all data from the product's store to another one, such as a MongoDB. Stop the product first.",
    args: ARGS,
    options: OPTIONS,
    notes: NOTES,
    run: (values, context) => withBoth(context, values, (own, other) => move(context, 'store.export', own, other)),
  }),
  defineCommand({
    noun: 'store',
    verb: 'import',
    about: "Copies all data from another store into the product's, which must be empty. Stop the product first.",
    args: ARGS,
    options: OPTIONS,
    notes: NOTES,
    run: (values, context) => withBoth(context, values, (own, other) => move(context, 'store.import', other, own)),
  }),
];

async function move(
  { clock, config, progress }: Context,
  action: string,
  source: NamedStore,
  target: NamedStore,
): Promise<Answer> {
  const moved = await moveStore({ source, target, action, progress, clock, config, actor: operator() });
  const { documents, bytes, ledgers, balances } = moved;
  const copied = `${documents.toLocaleString('en')} documents (${(bytes / 1_048_576).toFixed(1)} MB) are in ${target.name}, compared with ${source.name}.`;
  const checked = `${ledgers} of ${ledgers} ledgers are whole on both sides, with credits of ${balances.toLocaleString('en')} in all.`;
  const next = `${target.settings}, take secret.key along, and start the product. Never let it run on both stores.`;
  return { text: [copied, checked, next].join('\n'), json: { from: source.name, to: target.name, ...moved } };
}

/** `settings`: how to make the product use it. */
interface NamedStore extends Place {
  readonly settings: string;
}

interface Values {
  readonly uri: string | undefined;
  readonly database: string | undefined;
  readonly 'uri-stdin': boolean;
}

async function withBoth(
  context: Context,
  values: Values,
  work: (own: NamedStore, other: NamedStore) => Promise<Answer>,
): Promise<Answer> {
  const { config } = context;
  const address = await addressOf(context, values);
  const name = values.database ?? config.mongodbDatabase;
  const theirs = await openOther(context, address, name);
  try {
    const ours = await openOwnStore(config);
    try {
      const { mongodbUri, mongodbDatabase, dataDir } = config;
      const own =
        mongodbUri === ''
          ? { name: `the embedded store in ${dataDir}`, settings: 'Leave HARKARA_MONGODB_URI out of .env' }
          : onMongo(mongodbUri, mongodbDatabase);
      return await work({ db: ours.db, ...own }, { db: theirs.db, ...onMongo(address, name) });
    } catch (error) {
      if (!isStoreTrouble(error)) throw error;
      const why = error instanceof Error ? error.message : String(error);
      throw new Failure(`A store does not answer (${why}). Run the command again: it begins anew.`);
    } finally {
      await ours.close();
    }
  } finally {
    await theirs.close();
  }
}

async function addressOf({ secret }: Context, { uri, 'uri-stdin': fromStdin }: Values): Promise<string> {
  if (uri !== undefined && PASSWORD.test(uri)) {
    throw new UsageError(
      "An address with a user and a password must not be on the command line, where other users and the shell's history see it. Put it into HARKARA_STORE_URI (.env or the environment), or use --uri-stdin.",
    );
  }
  const address = (uri ?? (await secret('HARKARA_STORE_URI', fromStdin))).trim();
  if (!/^mongodb(\+srv)?:\/\//.test(address))
    throw new UsageError('HARKARA_STORE_URI must be an address like mongodb://…');
  return address;
}

async function openOther({ config }: Context, mongodbUri: string, mongodbDatabase: string): Promise<Store> {
  try {
    return await connectStore({ ...config, mongodbUri, mongodbDatabase }, 0);
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    throw new StartError(error.message.replace('HARKARA_MONGODB_URI', placeName(mongodbUri, mongodbDatabase)));
  }
}

function onMongo(address: string, database: string): Pick<NamedStore, 'name' | 'settings'> {
  const name = placeName(address, database);
  return { name, settings: `Set HARKARA_MONGODB_URI and HARKARA_MONGODB_DATABASE for ${name}` };
}

/** The address for people and the audit: without user, password and options. */
function placeName(address: string, database: string): string {
  const [, scheme = '', hosts = ''] = /^(mongodb(?:\+srv)?:\/\/)(?:[^/@]*@)?([^/?]*)/.exec(address) ?? [];
  return `${scheme}${decodeURIComponent(hosts)}/${database}`;
}

/**
 * The product's own store. An embedded one is started inside this command on a private address, because nothing else
 * may write to it. Throws `StartError` if a process has it open.
 */
async function openOwnStore(config: Config): Promise<Store> {
  if (config.mongodbUri !== '') return connectStore(config, 0);
  const socketDir = mkdtempSync(join(tmpdir(), 'harkara-copy-'));
  const closing = [async () => rmSync(socketDir, { recursive: true })];
  const close = async (): Promise<void> => {
    for (const one of closing.reverse()) await one();
  };
  try {
    const dir = embeddedStoreDir(config.dataDir);
    const embedded = await startEmbeddedStore({ dir, socketPath: join(socketDir, 'store.sock'), durability: 'fsync' });
    closing.push(() => embedded.close());
    const store = await connectStore({ ...config, mongodbUri: embedded.uri }, 0);
    closing.push(() => store.close());
    return { ...store, close };
  } catch (error) {
    await close();
    throw error;
  }
}
