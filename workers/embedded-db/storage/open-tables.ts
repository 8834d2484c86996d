import { open, type RootDatabase } from 'lmdb';
import { StartError } from '../../../shared/runtime/lifecycle.ts';

/** LMDB on the tables' file, made when it is missing. Throws `StartError` when LMDB cannot read it. */
export function openTables(path: string, sync: boolean): RootDatabase<Buffer, Buffer> {
  try {
    const options = {
      path,
      noSubdir: true,
      maxDbs: 4,
      encoding: 'binary' as const,
      // One commit is one fsync, done when the call returns; lmdb-js's overlapping sync would return before it.
      overlappingSync: false,
      // Documents of 1 KB grow in place more often than on pages of 4 KB: updates cost a tenth less.
      pageSize: 8192,
      noSync: !sync,
      permissionsMode: 0o600, // Of data.mdb and data.mdb-lock; lmdb-js's types leave it out.
    };
    return open<Buffer, Buffer>(options);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new StartError(`${path} cannot be opened (${why}): bring data.mdb and data.log back from one backup.`, {
      cause,
    });
  }
}
