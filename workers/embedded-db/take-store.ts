import { type DirectoryLock, takeDirectory } from '../../shared/runtime/directory-lock.ts';
import { StartError } from '../../shared/runtime/lifecycle.ts';
import { isListening } from '../../shared/runtime/unix-socket.ts';

/** LMDB itself would let two processes in, and each would keep a catalogue and a log of its own. */
export async function takeStore(dir: string, socketPath: string): Promise<DirectoryLock> {
  const taking = await takeDirectory(dir, 'store.lock');
  if (taking.kind === 'held') {
    const who = taking.by === undefined ? 'another process' : `process ${taking.by.pid}`;
    throw new StartError(`The store in ${dir} is in use by ${who}; stop that one first.`);
  }
  // A version that had no such lock.
  if (!(await isListening(socketPath))) return taking.lock;
  await taking.lock.release();
  throw new StartError(`A process answers on ${socketPath}, so the store in ${dir} is in use; stop that one first.`);
}
