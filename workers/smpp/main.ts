import { promotionalHours } from '../../shared/messages/document/routing.ts';
import { publicUrl } from '../../shared/platform/config/settings.ts';
import { openSecretBox, runApp } from '../../shared/platform/processes/run-app.ts';
import { SmppWorker } from './worker.ts';

/** How long the parts of a received SMS wait for the missing ones. Then the message is announced without them. */
const INBOUND_PARTS_MS = 30 * 60_000;

runApp('smpp', async ({ config, db, listen, clock, log, metrics, tracer, life }) => {
  const box = await openSecretBox(config, db);
  const worker = new SmppWorker({
    db,
    listen,
    clock,
    log,
    metrics,
    tracer,
    box,
    publicUrl: publicUrl(config),
    promotionalHours: promotionalHours(config),
    messageLogDays: config.messageLogDays,
    inbound: {
      partsMs: INBOUND_PARTS_MS,
      refuseUnassigned: config.inboundUnassigned === 'refuse',
      unassignedDays: config.inboundDays,
    },
  });
  worker.start();
  life.onStop('worker', () => worker.stop());
  life.ready();
});
