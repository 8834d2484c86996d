import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Db } from 'mongodb';
import { setProvider } from '../../shared/carriers/providers/store.ts';
import { eventsOf } from '../../shared/events/catalogue.ts';
import { createEndpoint } from '../../shared/events/webhooks/endpoint-store.ts';
import { connectStore } from '../../shared/platform/mongo/connect.ts';
import { APPS } from '../../shared/platform/processes/apps.ts';
import { systemClock as clock } from '../../shared/platform/runtime/clock.ts';
import { type AccountId, newId } from '../../shared/platform/runtime/ids.ts';
import { createSecretBox, loadSecretKeys } from '../../shared/platform/runtime/secret-box.ts';
import { listChatTemplates } from '../../shared/templates/chat/store.ts';
import { Fleet, freePort } from '../bench/fleet.ts';
import { seedAccount, seedCarrier } from '../bench/stage.ts';
import { enterApp, seedProvider } from '../dev/seed.ts';
import { PROVIDER_DEFAULTS } from '../simulator/provider/options.ts';
import { type Provider, startProvider } from '../simulator/provider.ts';
import { type Receiver, startReceiver } from '../simulator/receiver.ts';
import { type Smsc, startSmsc } from '../simulator/smsc.ts';

/** The product on an empty store, with two processes of each app, and the simulated world, which nobody kills. */
export interface Stage {
  readonly url: string;
  readonly key: string;
  readonly account: AccountId;
  readonly credits: number;
  readonly db: Db;
  readonly fleet: Fleet;
  readonly smsc: Smsc;
  readonly provider: Provider;
  readonly receiver: Receiver;
  /** The most segments that may be unanswered when the carrier's worker dies. */
  readonly windowSize: number;
  close(): Promise<void>;
}

const CREDITS = 10_000_000;
const WINDOW = 50;
/** Unknown submits are resent, after a time in which their receipts could still come. */
const UNKNOWN = { unknownPolicy: 'resend', unknownWaitMs: 15_000 } as const;
const KEPT = 1_000_000;
/** Two processes each, so that one takes over from the other. */
const DOUBLED = APPS.filter((app) => app !== 'embedded-db');

/** A server that speaks MongoDB's protocol, in place of the embedded store. If it has a pid, it may be killed. */
export interface OtherStore {
  readonly uri: string;
  /** Undefined while it is down, and always if it is not ours to kill. */
  readonly pid: number | undefined;
  /** kill -9; resolves when it has restarted. */
  kill(): Promise<void>;
}

/** Without `other` the store is the embedded one. */
export async function setStage(dist: string, other?: OtherStore): Promise<Stage> {
  const mongodbUri = other?.uri ?? '';
  const dataDir = mkdtempSync(join(tmpdir(), 'harkara-chaos-'));
  const logDir = join(dataDir, 'logs');
  mkdirSync(logDir);
  process.on('exit', () => rmSync(dataDir, { recursive: true, force: true }));
  const mongodbDatabase = newId('chaos');
  const port = await freePort();
  const env = {
    NODE_ENV: 'production',
    HARKARA_DATA_DIR: dataDir,
    HARKARA_SECRET_KEY: '',
    HARKARA_MONGODB_URI: mongodbUri,
    HARKARA_MONGODB_DATABASE: mongodbDatabase,
    HARKARA_PORT: String(port),
    HARKARA_METRICS_PORT: '0',
    HARKARA_WEBHOOK_ALLOW_HTTP: 'yes',
    HARKARA_WEBHOOK_ALLOW_SUBNETS: '127.0.0.0/8',
  };
  const fleet = new Fleet({ dist, logDir, env });
  const smsc = await startSmsc({ responseDelayMs: 10, receiptDelayMs: 200, keepMessages: KEPT });
  const receiver = await startReceiver({ keep: KEPT });
  const provider = await startProvider({ statusDelayMs: 50 });
  if (other === undefined) await fleet.start('embedded-db');
  for (const app of DOUBLED) await fleet.start(app, 2);

  const store = await connectStore({ mongodbUri, dataDir, mongodbDatabase });
  const { db } = store;
  const deps = { db, clock, box: createSecretBox(loadSecretKeys('', dataDir)) };
  const endpoint = { url: `${receiver.url}/sms`, events: eventsOf('sms') };
  const { account, keys, secret } = await seedAccount(deps, { name: 'Chaos', credits: CREDITS, keys: 1, endpoint });
  const chat = await createEndpoint(db, clock, deps.box, {
    account,
    channel: 'chatapp',
    url: `${receiver.url}/chatapp`,
    events: eventsOf('chatapp'),
  });
  receiver.trust(secret, '/sms');
  receiver.trust(chat.secret, '/chatapp');
  await seedCarrier(deps, smsc.port, { windowSize: WINDOW, responseTimeoutMs: 5_000, ...UNKNOWN });
  const url = `http://127.0.0.1:${port}`;
  await enterApp(provider.url, await seedProvider(deps, account, provider.url, url));
  await setProvider(db, clock, deps.box, account, PROVIDER_DEFAULTS.displayNumber, UNKNOWN);
  await templatesCopied(db, account);

  const [key = ''] = keys;
  return {
    url,
    key,
    account,
    credits: CREDITS,
    db,
    fleet,
    smsc,
    provider,
    receiver,
    windowSize: WINDOW,
    close: async () => {
      await fleet.stopClients();
      if (other !== undefined) await db.dropDatabase();
      await store.close();
      await Promise.all([smsc.close(), provider.close(), receiver.close()]);
      await fleet.stop();
    },
  };
}

const TEMPLATES_MS = 30_000;

/** The chatapp worker copies templates from the provider. */
async function templatesCopied(db: Db, account: AccountId): Promise<void> {
  const deadline = performance.now() + TEMPLATES_MS;
  while ((await listChatTemplates(db, account)).length === 0) {
    if (performance.now() > deadline) throw new Error('no templates were copied from the provider');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
