import { existsSync, rmSync } from 'node:fs';
import { dirname, isAbsolute } from 'node:path';
import { malformed } from '../bson/errors.ts';
import { asFlag, asString } from '../bson/value.ts';
import type { Database } from '../storage/database.ts';
import { type Backup, replaceFile, sealBackup } from '../storage/store-files.ts';
import { type Command, reply } from './command.ts';
import type { Store } from './store.ts';

const PARTIAL_SUFFIX = '.partial';

/**
 * `{harkaraBackup: <absolute path>, begin: true}` begins a backup into a new file of mode 0600 and answers at once
 * `{state: "copying"}`. The same command without `begin` reports its state: `copying`, `done` (the file is on the disk)
 * or `failed` with `why`. The backup has everything that was acknowledged before it began. Errors: 2 for a path that is
 * none or exists, while another backup is made, or when none was begun for this path since the store was started.
 */
export async function backup(store: Store, command: Command): Promise<Buffer> {
  const path = asString(command.get(command.name));
  if (path === undefined || !isAbsolute(path)) {
    throw malformed('harkaraBackup needs the absolute path of a file');
  }
  const made = beginsBackup(command) ? begin(store, path) : store.backup;
  if (made?.path !== path) throw malformed(`no backup to ${path} was begun since the store was started`);
  return reply((out) => {
    out.string('state', made.state);
    if (made.why !== undefined) out.string('why', made.why);
  });
}

/** True for the command that begins a backup, before which the tables are stored; others ask only for its state. */
export function beginsBackup(command: Command): boolean {
  return asFlag(command.get('begin')) === true;
}

function begin(store: Store, path: string): Backup {
  if (store.backup?.state === 'copying') throw malformed(`a backup to ${store.backup.path} is being made`);
  const partial = `${path}${PARTIAL_SUFFIX}`;
  // Otherwise LMDB would create it.
  if (!existsSync(dirname(path))) throw malformed(`there is no directory ${dirname(path)}`);
  if (existsSync(path)) throw malformed(`${path} is there already`);
  removeLeft(partial);
  store.backup = { path, state: 'copying' };
  void copy(store.database, store.backup, partial);
  return store.backup;
}

/** Removes what a store left that was killed during a backup. */
function removeLeft(partial: string): void {
  try {
    rmSync(partial, { force: true });
  } catch (error) {
    throw malformed(`${partial} cannot be removed: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Never rejects: it writes the result into `made`. */
async function copy(database: Database, made: Backup, partial: string): Promise<void> {
  try {
    await database.copyTo(partial);
    await sealBackup(partial);
    replaceFile(partial, made.path);
    made.state = 'done';
  } catch (error) {
    made.why = error instanceof Error ? error.message : String(error);
    made.state = 'failed';
    try {
      rmSync(partial, { force: true });
    } catch {
      // Whatever broke the copy may keep its rest. The next backup to this path removes it, or says why not.
    }
  }
}
