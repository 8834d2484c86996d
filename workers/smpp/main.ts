import { promotionalHours } from '../../shared/messages/promotional-hours.ts';
import { openSecretBox } from '../../shared/processes/open-secret-box.ts';
import { runApp } from '../../shared/processes/run-app.ts';
import { SmppWorker } from './worker.ts';

runApp('smpp', async ({ config, db, listen, clock, log, metrics, life }) => {
  const box = await openSecretBox(config, db);
  const worker = new SmppWorker({
    db,
    listen,
    clock,
    log,
    metrics,
    box,
    promotionalHours: promotionalHours(config),
    messageLogDays: config.messageLogDays,
    inbound: {
      partsMs: config.inboundPartsMinutes * 60_000,
      refuseStrays: config.inboundStrays === 'refuse',
      strayDays: config.inboundDays,
    },
  });
  worker.start();
  life.onStop('worker', () => worker.stop());
  life.ready();
});
