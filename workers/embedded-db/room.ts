import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { StartError } from '../../shared/runtime/lifecycle.ts';
import type { Log } from '../../shared/runtime/log.ts';
import { isDiskFull } from './storage/disk-full.ts';

/** What a start usually needs: the log's eight megabytes in the tables. The log is longer after the tables could not be stored. */
const NEEDED_BYTES = 16 * 1024 * 1024;
const LOOK_EVERY_MS = 2_000;

/**
 * Does what a start does. When the disk is too full for it, says so once, waits until there is room, and throws a `StartError`
 * then: the process ends and is started again, once. Without this it would be started again and again.
 */
export async function startOrWaitForRoom<Started>(
  dir: string,
  { log, stopping }: { readonly log: Log; readonly stopping: AbortSignal },
  start: () => Promise<Started>,
): Promise<Started> {
  try {
    return await start();
  } catch (error) {
    if (!isDiskFull(error, dir)) throw error;
    const sentence = `The disk of ${dir} is full, so the store cannot start. Make room: it starts by itself.`;
    log.error('disk_full', { dir, needed_bytes: NEEDED_BYTES });
    process.stderr.write(`${sentence}\n`);
    while (!stopping.aborted && !hasRoom(dir)) await wait(LOOK_EVERY_MS);
    throw new StartError(`The disk of ${dir} was full. There is room now: the store is started again.`, {
      cause: error,
    });
  }
}

function hasRoom(dir: string): boolean {
  const probe = join(dir, 'room.probe');
  try {
    writeFileSync(probe, Buffer.alloc(NEEDED_BYTES), { mode: 0o600 });
    return true;
  } catch (error) {
    if (isDiskFull(error, dir)) return false;
    throw error;
  } finally {
    rmSync(probe, { force: true });
  }
}
