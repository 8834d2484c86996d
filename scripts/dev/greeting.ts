import { relative } from 'node:path';
import type { Config } from '../../shared/config/settings.ts';
import type { RunFiles } from './run-files.ts';
import type { Demo } from './seed.ts';

export function gatewayUrl(config: Pick<Config, 'host' | 'port'>): string {
  const host = config.host === '0.0.0.0' || config.host === '::' ? '127.0.0.1' : config.host;
  return `http://${host.includes(':') ? `[${host}]` : host}:${config.port}`;
}

export function receiverUrl(config: Pick<Config, 'simulatorWebhookPort'>): string {
  return `http://127.0.0.1:${config.simulatorWebhookPort}`;
}

/** What a newcomer reads when everything runs. */
export function greeting(config: Config, files: RunFiles, demo: Demo): string {
  const api = gatewayUrl(config);
  const store = config.mongodbUri === '' ? `embedded, in ${shown(files.dataDir)}` : `MongoDB (MONGODB_URI)`;
  const auth = `-H 'Authorization: Bearer ${demo.key}'`;
  const body = '{"to":"919876543210","message":"Hello from Harkara","sender":"HARKRA","route":"transactional"}';
  return `
Harkara runs.

  API         ${api}
  Store       ${store}
  Carrier     simulated, SMPP on 127.0.0.1:${config.simulatorSmscPort}
  Webhooks    to the receiver, shown below and on ${receiverUrl(config)}/
  Logs        ${shown(files.logs)}
  Account     ${demo.account._id} with ${demo.balance} credits
  Key         ${demo.key}

Send a message:

  curl -s ${api}/v2/send ${auth} -H 'Content-Type: application/json' -d '${body}'

Its status (put in the message_id of the answer):

  curl -s ${api}/v2/status/MESSAGE_ID ${auth}

The last digits of "to" choose what happens: 101 fails, 102 expires, 103 is rejected, 104 is delivered late,
108 is refused at submit; all of them are in scripts/simulator/README.md. By hand: npm run ops -- --help

Ctrl-C stops everything. What the carrier and the webhook receiver see:
`;
}

function shown(path: string): string {
  const near = relative(process.cwd(), path);
  return near.startsWith('..') ? path : near;
}
