import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { runConfigured } from '../../shared/platform/config/run-configured.ts';
import { StartError } from '../../shared/platform/runtime/lifecycle.ts';
import { errorFields, type Log } from '../../shared/platform/runtime/log.ts';
import { openDirectory } from '../../shared/platform/runtime/own-file.ts';
import { embeddedStoreDir } from '../../shared/platform/runtime/unix-socket.ts';
import type { DiskEvents } from './group-commit.ts';
import { startEmbeddedStore } from './server.ts';
import { isDiskFull } from './storage/store-files.ts';
import { startWatchdog } from './watchdog.ts';

/** Less than the 15 s after which the process must have ended. The other processes have ended by then. */
const WAIT_FOR_CLIENTS_MS = 12_000;

/** The longest time that the event loop may stand still: long work is done in slices. */
const STUCK_MS = 120_000;

runConfigured('embedded-db', async ({ config, log, life }) => {
  let failed = false;
  const dir = embeddedStoreDir(config.dataDir);
  const disk: DiskEvents = {
    full: (error) => log.error('disk_full', errorFields(error)),
    room: () => log.info('disk_has_room', { dir }),
    notStored: (error) => log.error('tables_not_stored', errorFields(error)),
    notExpired: (error) => log.error('expired_not_removed', errorFields(error)),
    fatal: (error) => {
      failed = true;
      log.error('commit_failed', errorFields(error));
      life.stop('commit_failed', error);
    },
  };
  const store = await startOrWaitForRoom(dir, { log, stopping: life.stopping }, () =>
    startEmbeddedStore({ dir, durability: 'fsync', disk }),
  );
  const open = openDirectory(config.dataDir);
  if (open !== undefined) log.warn('data_directory_open', { words: open });
  const { groups, dropped } = store.recovery;
  log.info('listening', {
    uri: store.uri,
    groups_done_again: groups.length,
    bytes_done_again: groups.reduce((sum, { at, end }) => sum + end - at, 0),
    bytes_dropped: dropped?.bytes ?? 0,
  });
  // The machine stopped while this group was written, and no client had its answer; or the group was damaged since.
  if (dropped !== undefined) {
    log.warn('log_end_dropped', { group: dropped.number, at_byte: dropped.at, bytes: dropped.bytes });
  }
  const stopWatchdog = startWatchdog(STUCK_MS); // Not earlier, because applying the log again may take long.
  life.onStop('watchdog', async () => void (await stopWatchdog()));
  life.onStop('store', () => store.close());
  // The store must stop last: the other processes write until they end. PM2 stops all of them at once.
  life.onStop('clients', () => (failed ? undefined : store.clientsGone(WAIT_FOR_CLIENTS_MS)));
  life.ready();
});

/** A start's usual need: the log's eight megabytes in the tables. The log is longer if they could not be stored. */
const NEEDED_BYTES = 16 * 1024 * 1024;
const LOOK_EVERY_MS = 2_000;

/**
 * Runs `start`. If the disk is too full for it, says so once, waits until there is room, and then throws a
 * `StartError`: the process ends and is restarted once, not again and again.
 */
async function startOrWaitForRoom<Started>(
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
