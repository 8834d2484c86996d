import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Db } from 'mongodb';
import type { Config } from '../../shared/config/settings.ts';
import { embeddedStoreDir } from '../../shared/mongo/embedded-socket.ts';
import { checkStore, compactStore, restoreStore } from '../../workers/embedded-db/offline.ts';
import { type Command, defineCommand, Failure } from './command.ts';
import { required, words } from './parameters.ts';

const LOOK_EVERY_MS = 250;
const file = words('FILE', 'the path of a file', /^[^\0]+$/);
const MEGABYTE = 1_048_576;

/** The embedded store as a whole. With MongoDB its own tools do this (mongodump, mongorestore, validate). */
export const STORE_COMMANDS: readonly Command[] = [
  defineCommand({
    noun: 'store',
    verb: 'backup',
    about: 'Copies the embedded store into one new file while the product runs.',
    args: { file: required(file, 'the new file; it gets mode 0600') },
    options: {},
    notes:
      'The file has everything that was acknowledged before the command. Keep secret.key with it: without that, stored secrets cannot be read.',
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
    about: 'Makes the embedded store of a backup, where there is none; the product is stopped.',
    args: { file: required(file, 'what `store backup` wrote') },
    options: {},
    notes: 'A store that is there already is never replaced: move its directory away first.',
    async run({ file }, { config }) {
      const dir = embeddedDir(config);
      await restoreStore(dir, resolve(file));
      return { text: `The store is in ${dir}. Start the product.`, json: { directory: dir } };
    },
  }),
  defineCommand({
    noun: 'store',
    verb: 'compact',
    about: 'Gives the free room in the embedded store back to the disk; the product is stopped.',
    args: {},
    options: {},
    notes: 'Needs as much free disk as the store has data.',
    async run(_values, { config }) {
      const { before, after } = await compactStore(embeddedDir(config));
      return { text: `${megabytes(before)} MB before, ${megabytes(after)} MB now.`, json: { before, after } };
    },
  }),
  defineCommand({
    noun: 'store',
    verb: 'check',
    about: 'Reads the whole embedded store and holds it against itself; the product is stopped.',
    args: {},
    options: {},
    notes: 'Every document, every entry of every index, every count. Exit code 1 when something does not fit.',
    async run(_values, { config }) {
      const report = await checkStore(embeddedDir(config), (documents) => progress('documents read:', documents));
      const { collections, documents, entries, problems } = report;
      const read = `${documents} documents in ${collections} collections, ${entries} index entries: `;
      const text = problems.length === 0 ? `${read}all fit.` : `${read}NOT ALL FIT.\n${problems.join('\n')}`;
      return { text, json: report, ok: problems.length === 0 };
    },
  }),
];

/** Begins it, and asks for it until it is done. Throws `Failure` with the reason when it could not be made. */
async function makeBackup(db: Db, path: string, onProgress: () => void): Promise<void> {
  for (;;) {
    let answer: Readonly<Record<string, unknown>>;
    try {
      answer = await db.command({ harkaraBackup: path });
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
  throw new Failure(
    'MONGODB_URI is set: use the tools of MongoDB (mongodump, mongorestore), which know its deployment.',
  );
}

function embeddedDir(config: Config): string {
  requireEmbedded(config);
  return embeddedStoreDir(config.dataDir);
}

/** On a terminal only, and over the line before. */
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
