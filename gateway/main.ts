import { createAccepter } from '../shared/messages/accept.ts';
import { runApp } from '../shared/processes/run-app.ts';
import { createApp } from './app.ts';
import { GatewayServer } from './http/server.ts';

runApp('gateway', async ({ config, db, clock, log, metrics, life }) => {
  const accepter = createAccepter({ db, clock, log });
  const accepters = { accepter, batchAccepter: accepter, booker: accepter };
  const deps = { db, clock, log, config, ...accepters, metrics, stopping: life.stopping };
  const app = createApp(deps);
  const server = new GatewayServer(app);
  const port = await server.listen(config.host, config.port);
  life.onStop('server', () => server.drain());
  log.info('listening', { host: config.host, port });
  life.ready();
});
