import { createAnnouncer } from '../../shared/events/webhooks/announce.ts';
import { type AppDeps, openSecretBox } from '../../shared/platform/processes/run-app.ts';
import { PollLoop } from '../../shared/platform/runtime/poll-loop.ts';
import { embeddedStoreDir } from '../../shared/platform/runtime/unix-socket.ts';
import { Duties } from './duties.ts';
import { Timetable } from './timetable.ts';

/** Shorter than the time that a process has to stop (shared/platform/runtime/lifecycle.ts). */
const STOP_MS = 10_000;

/** After their end; a batch at least as long as its messages. */
const BATCH_DAYS = 90;
/** The longest extra delay of messages until lists show them. */
const WRITE_OUT_POLL_MS = 200;

export async function startMaintenance({
  config,
  db,
  listen,
  clock,
  log,
  metrics,
  tracer,
  notes,
  life,
}: AppDeps): Promise<void> {
  const announcer = createAnnouncer({ db, clock, tracer });
  const duties = new Duties({
    db,
    clock,
    log,
    metrics,
    notes,
    storeDir: config.mongodbUri === '' ? embeddedStoreDir(config.dataDir) : undefined,
    publicUrl: config.publicUrl,
    announcer,
    retention: {
      ...{ messages: config.messageDays, texts: config.textDays, deliveries: config.deliveryDays, batches: BATCH_DAYS },
      closedAccounts: config.closedAccountDays,
    },
    statements: config,
    box: await openSecretBox(config, db),
    store: config.mongodbUri === '' ? 'embedded' : 'mongodb',
    stopMs: STOP_MS,
  });
  life.onStop('duties', () => duties.stop());

  await duties.keepLease();
  const timetable = new Timetable(log);
  life.onStop('timetable', () => timetable.stop());
  // Renews the lease after a third of its time.
  timetable.every(5, () => duties.keepLease());
  // This pause is also the longest extra delay of a waiting message.
  timetable.every(1, () => duties.settleDue());
  timetable.every(2, () => duties.reroute());
  timetable.every(3, () => duties.announce());
  timetable.every(60, () => duties.announceApprovals());
  timetable.every(10, () => duties.finishPending());
  timetable.every(5, () => duties.closeAccounts());
  timetable.every(5, () => duties.eraseNumbers());
  timetable.every(10, () => duties.pruneBatches());
  timetable.every(5, () => duties.countHours());
  // Not more often, because a process reports its metrics every 10 s.
  timetable.every(10, () => duties.watch());
  timetable.every(60, () => duties.watchAccounts());
  timetable.every(15, () => duties.brake());
  const writing = new PollLoop({
    name: 'write_out',
    idleMs: WRITE_OUT_POLL_MS,
    gapMs: { more: 0, idle: WRITE_OUT_POLL_MS },
    listen: (wake) => listen?.('queue/write_at', wake),
    log,
    work: () => duties.writeOut(),
  });
  writing.start();
  life.onStop('write_out', () => writing.stop());
  timetable.at('prune', '0 17 * * * *', () => duties.pruneOld());
  // Every hour, because a month ends at another time in each zone; once it is done it is done.
  timetable.at('statements', '0 37 * * * *', () => duties.issueStatements());
  timetable.at('prune_conversations', '0 47 3 * * *', () => duties.pruneConversations());
  timetable.at('erase_closed_accounts', '0 27 3 * * *', () => duties.eraseClosedAccounts());
}
