import { countryOf } from '../shared/carriers/routing/country.ts';
import { createChatAccepter } from '../shared/money/conversations/open.ts';
import { GroupAccepter } from '../shared/money/payment/accept.ts';
import { openSecretBox, runApp } from '../shared/platform/processes/run-app.ts';
import { createHostResolver } from '../shared/platform/runtime/resolve-host.ts';
import { createApp } from './app.ts';
import { KeyUses } from './http/key-uses.ts';
import { GatewayServer } from './http/server.ts';
import { Threads } from './http/threads.ts';
import { listenForScrapes } from './metrics.ts';

const LOOPBACK = /^(127\.|localhost$|::1$)/;

runApp('gateway', async ({ config, db, clock, log, metrics, tracer, life, notes }) => {
  const accepter = new GroupAccepter({ db, clock, log });
  // Callers get their answers before their messages are inserted.
  life.onStop('accepted', () => accepter.settled());
  const prices = { userCredits: config.chatUserCredits, businessCredits: config.chatBusinessCredits, countryOf };
  const chatAccepter = createChatAccepter({ db, clock, log, prices });
  const box = await openSecretBox(config, db);
  const keyUses = new KeyUses({ db, clock, log });
  life.onStop('key_uses', keyUses.start());
  const threads = new Threads(log);
  life.onStop('threads', () => threads.close());
  const deps = {
    ...{ db, clock, log, config, metrics, tracer, notes, box, keyUses, threads },
    ...{ accepter, chatAccepter, resolveHost: createHostResolver(), stopping: life.stopping },
  };
  const server = new GatewayServer(createApp(deps));
  const port = await server.listen(config.host, config.port);
  life.onStop('server', () => server.drain());
  log.info('listening', { host: config.host, port });
  const isReached = config.trustProxy.length > 0 || !LOOPBACK.test(config.host);
  if (!config.publicUrl.startsWith('https:') && isReached) {
    // Anybody on the network between could read passwords and take over sessions.
    log.warn('sign_in_without_tls', {
      host: config.host,
      what_to_do: 'Put a TLS proxy in front and set HARKARA_PUBLIC_URL to its https address.',
    });
  }
  if (config.metricsPort > 0) {
    life.onStop('metrics', listenForScrapes({ db, clock, log }, config.metricsHost, config.metricsPort));
  }
  life.ready();
});
