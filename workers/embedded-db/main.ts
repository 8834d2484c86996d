import { runConfigured } from '../../shared/config/run-configured.ts';
import { embeddedStoreDir } from '../../shared/mongo/embedded-socket.ts';
import { errorFields } from '../../shared/runtime/log.ts';
import { openDirectory } from '../../shared/runtime/own-directory.ts';
import type { DiskEvents } from './group-commit.ts';
import { startOrWaitForRoom } from './room.ts';
import { startEmbeddedStore } from './server.ts';
import { startWatchdog } from './watchdog.ts';

/** Less than the 15 s after which the process must have ended. The other processes have ended by then. */
const WAIT_FOR_CLIENTS_MS = 12_000;

/** Longest time that the event loop may stand still: long work is done in slices. */
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
  // Either the machine stopped while this group was written, and no client had its answer. Or the group was damaged since.
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
