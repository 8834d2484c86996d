import { type DirectoryLock, takeDirectory } from '../../shared/runtime/directory-lock.ts';
import { StartError } from '../../shared/runtime/lifecycle.ts';

/** Locks the store for this process. LMDB would let two processes in, each with its own catalogue and log. */
export async function takeStore(dir: string): Promise<DirectoryLock> {
  const taking = await takeDirectory(dir, 'store.lock');
  if (taking.kind !== 'held') return taking.lock;
  const who = taking.by === undefined ? 'another process' : `process ${taking.by.pid}`;
  throw new StartError(`The store in ${dir} is in use by ${who}. Stop that process first.`);
}
