import { loadConfig } from '../shared/config/settings.ts';
import { createAccepter } from '../shared/messages/accept.ts';
import { connectStore } from '../shared/mongo/connect.ts';
import { ensureIndexes } from '../shared/mongo/indexes.ts';
import { reportProcess } from '../shared/processes/report.ts';
import { systemClock as clock } from '../shared/runtime/clock.ts';
import { runProcess } from '../shared/runtime/lifecycle.ts';
import { createLog } from '../shared/runtime/log.ts';
import { Metrics } from '../shared/runtime/metrics.ts';
import { createApp } from './app.ts';
import { GatewayServer } from './http/server.ts';

runProcess(createLog('gateway', 'info'), async (life) => {
  const config = loadConfig();
  const log = createLog('gateway', config.logLevel);
  life.onStop('log', () => log.flush());
  const metrics = new Metrics();

  const store = await connectStore(config);
  life.onStop('store', () => store.close());
  const { db } = store;
  await ensureIndexes(db);
  life.onStop('report', reportProcess('gateway', db, metrics, clock, log));

  const accepter = createAccepter({ db, clock, log });
  const app = createApp({ db, clock, log, config, accepter, metrics, stopping: life.stopping });
  const server = new GatewayServer(app);
  const port = await server.listen(config.host, config.port);
  life.onStop('server', () => server.drain());
  log.info('listening', { host: config.host, port });
  life.ready();
});
