import { copyFileSync, existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '../../shared/platform/runtime/lifecycle.ts';
import { makeOwnDirectory } from '../../shared/platform/runtime/own-file.ts';
import { type CheckReport, checkTables } from './storage/check.ts';
import { Database } from './storage/database.ts';
import { LOG_STEP_BYTES } from './storage/log.ts';
import { replaceFile, storeFiles, takeStore, tellDamage, unsealBackup } from './storage/store-files.ts';

/**
 * Operations on a store that no process serves. Each throws `StartError` when a process does, or when the files cannot be read.
 */

/** Checks that everything in the store is consistent. Changes nothing except what every start does. */
export function checkStore(dir: string, progress: (documents: number) => void): Promise<CheckReport> {
  return alone(dir, async () => {
    if (!existsSync(join(dir, 'data.mdb')))
      throw new StartError(`There is no store in ${dir}. Is HARKARA_DATA_DIR set to its directory?`);
    const database = new Database(dir, 'fsync');
    try {
      return checkTables(database, progress);
    } finally {
      await database.close();
    }
  });
}

/** Rewrites the tables without their free space. Returns the file's bytes before and after. */
export function compactStore(dir: string): Promise<{ readonly before: number; readonly after: number }> {
  return alone(dir, async () => {
    const { tables, compact } = storeFiles(dir);
    if (!existsSync(tables))
      throw new StartError(`There is no store in ${dir}. Is HARKARA_DATA_DIR set to its directory?`);
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

/** Creates a store from the backup `file`, in a directory that has none. */
export function restoreStore(dir: string, file: string): Promise<void> {
  makeOwnDirectory(dir);
  return alone(dir, async () => {
    const [tables, log] = [join(dir, 'data.mdb'), join(dir, 'data.log')];
    for (const path of [tables, log]) {
      if (existsSync(path)) throw new StartError(`${path} exists. Move the store in ${dir} away, then restore.`);
    }
    if (!existsSync(file)) throw new StartError(`There is no file ${file}.`);
    const copy = `${tables}.restoring`;
    try {
      copyFileSync(file, copy);
    } catch (cause) {
      throw new StartError(`${file} could not be copied: ${(cause as Error).message}`, { cause }); // copyFileSync throws Errors
    }
    if (!(await unsealBackup(copy))) {
      rmSync(copy);
      throw new StartError(`${file} is not a complete backup of a store, so nothing was restored. Use another one.`);
    }
    // The log first, because tables without a log count as damaged.
    writeFileSync(log, Buffer.alloc(LOG_STEP_BYTES), { mode: 0o600, flush: true });
    replaceFile(copy, tables);
  });
}

async function alone<Result>(dir: string, action: () => Promise<Result>): Promise<Result> {
  if (!existsSync(dir)) throw new StartError(`There is no store in ${dir}. Is HARKARA_DATA_DIR set to its directory?`);
  const lock = await takeStore(dir);
  try {
    return await tellDamage(dir, action);
  } finally {
    await lock.release();
  }
}
