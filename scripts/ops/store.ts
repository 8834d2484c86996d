import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Db } from 'mongodb';
import type { Config } from '../../shared/platform/config/settings.ts';
import { embeddedStoreDir } from '../../shared/platform/runtime/unix-socket.ts';
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

/** Starts the backup and polls until it is done. Throws a `Failure` with the reason when it failed. */
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

/** Writes the progress over the previous line, on a terminal only. */
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
