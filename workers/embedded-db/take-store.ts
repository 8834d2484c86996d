import { type DirectoryLock, takeDirectory } from '../../shared/runtime/directory-lock.ts';
import { StartError } from '../../shared/runtime/lifecycle.ts';
import { isListening } from '../../shared/runtime/unix-socket.ts';

/** Locks the store for this process. LMDB would let two processes in, each with its own catalogue and log. */
export async function takeStore(dir: string, socketPath: string): Promise<DirectoryLock> {
  const taking = await takeDirectory(dir, 'store.lock');
  if (taking.kind === 'held') {
    const who = taking.by === undefined ? 'another process' : `process ${taking.by.pid}`;
    throw new StartError(`The store in ${dir} is in use by ${who}. Stop that process first.`);
  }
  // It may be a process of an earlier version without this lock.
  if (!(await isListening(socketPath))) return taking.lock;
  await taking.lock.release();
  throw new StartError(
    `A process answers on ${socketPath}, so the store in ${dir} is in use. Stop that process first.`,
  );
}
