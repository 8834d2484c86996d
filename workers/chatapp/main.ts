import { ClaimGates } from '../../shared/claim/claim-gates.ts';
import { createChatAccepter } from '../../shared/conversations/open.ts';
import { LEASE_TTL_MS, Lease } from '../../shared/leases/lease.ts';
import { DEFAULT_PROMOTIONAL_HOURS } from '../../shared/messages/promotional-hours.ts';
import { countProcesses } from '../../shared/processes/report.ts';
import { runApp } from '../../shared/processes/run-app.ts';
import { createSecretBox, loadSecretKey } from '../../shared/runtime/secret-box.ts';
import { MessageLog } from '../../shared/settlement/log-store.ts';
import { checkDeparture } from './depart.ts';
import { ChatWorker } from './worker.ts';

const APP = 'chatapp';
/** Shares of the accounts. Changed only while no chat-app worker runs. */
const SHARES = 8;

runApp(APP, async ({ config, db, listen, clock, log, metrics, life }) => {
  const prices = { userCredits: config.chatUserCredits, businessCredits: config.chatBusinessCredits };
  const accepter = createChatAccepter({ db, clock, log, prices });
  const worker = new ChatWorker({
    db,
    clock,
    log,
    metrics,
    box: createSecretBox(loadSecretKey(config.secretKey, config.dataDir)),
    // Hours are a matter of SMS; what is asked here is whose messages are held.
    gates: new ClaimGates({ db, clock, hours: DEFAULT_PROMOTIONAL_HOURS }),
    messageLog: new MessageLog({ db, clock, log, days: config.messageLogDays }),
    leases: Array.from({ length: SHARES }, (_, n) => new Lease({ name: `${APP}:${n}`, db, clock })),
    leaseRoundMs: LEASE_TTL_MS / 3,
    listen,
    countWorkers: () => countProcesses(APP, db, clock),
    depart: (messages) => checkDeparture({ db, clock, accepter }, messages),
    random: Math.random,
  });
  await worker.start();
  life.onStop('worker', () => worker.stop());
  life.ready();
});
