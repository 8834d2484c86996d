import { copyFileSync, existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { embeddedSocketPath } from '../../shared/mongo/embedded-socket.ts';
import { StartError } from '../../shared/runtime/lifecycle.ts';
import { makeOwnDirectory } from '../../shared/runtime/own-directory.ts';
import { unsealBackup } from './storage/backup-file.ts';
import { type CheckReport, checkTables } from './storage/check.ts';
import { Database } from './storage/database.ts';
import { replaceFile } from './storage/replace-file.ts';
import { takeStore } from './take-store.ts';

/** What is done to a store that no process serves. Each throws `StartError` when one does, or when the files cannot be read. */

/** Holds everything in the store against each other; changes nothing but what every start does. */
export function checkStore(dir: string, progress: (documents: number) => void): Promise<CheckReport> {
  return alone(dir, async () => {
    if (!existsSync(join(dir, 'data.mdb'))) throw new StartError(`There is no store in ${dir}.`);
    const database = new Database(dir, 'fsync');
    try {
      return checkTables(database, progress);
    } finally {
      await database.close();
    }
  });
}

/** Writes the tables anew without the room that is free in them. Bytes of the file before and after. */
export function compactStore(dir: string): Promise<{ readonly before: number; readonly after: number }> {
  return alone(dir, async () => {
    const tables = join(dir, 'data.mdb');
    if (!existsSync(tables)) throw new StartError(`There is no store in ${dir}.`);
    const compact = `${tables}.compact`;
    rmSync(compact, { force: true });
    const before = statSync(tables).size;
    const database = new Database(dir, 'fsync');
    try {
      await database.copyTo(compact);
    } finally {
      await database.close();
    }
    replaceFile(compact, tables);
    return { before, after: statSync(tables).size };
  });
}

/** Makes a store of the backup `file`, in a directory that has none. */
export function restoreStore(dir: string, file: string): Promise<void> {
  makeOwnDirectory(dir);
  return alone(dir, async () => {
    const [tables, log] = [join(dir, 'data.mdb'), join(dir, 'data.log')];
    for (const path of [tables, log]) {
      if (existsSync(path))
        throw new StartError(`${path} is there: move the store away that is in ${dir}, then restore.`);
    }
    const copy = `${tables}.restoring`;
    try {
      copyFileSync(file, copy);
    } catch (cause) {
      throw new StartError(`${file} could not be copied: ${(cause as Error).message}`, { cause }); // copyFileSync throws Errors
    }
    if (!(await unsealBackup(copy))) {
      rmSync(copy);
      throw new StartError(`${file} is no backup of a store, or not a whole one.`);
    }
    // The log first: tables without one have lost it.
    writeFileSync(log, '', { mode: 0o600 });
    replaceFile(copy, tables);
  });
}

async function alone<Result>(dir: string, action: () => Promise<Result>): Promise<Result> {
  if (!existsSync(dir)) throw new StartError(`There is no store in ${dir}.`);
  const lock = await takeStore(dir, embeddedSocketPath(dir));
  try {
    return await action();
  } finally {
    await lock.release();
  }
}
