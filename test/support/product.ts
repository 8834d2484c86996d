import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Db } from 'mongodb';
import { type Exit, Fleet, freePort, logTail, type Setup } from '../../scripts/bench/fleet.ts';
import { seedAccount, seedCarrier } from '../../scripts/bench/stage.ts';
import { enterApp, seedProvider } from '../../scripts/dev/seed.ts';
import { runOps } from '../../scripts/ops/run.ts';
import { type Mailbox, startMailbox } from '../../scripts/simulator/mailbox.ts';
import type { ProviderOptions } from '../../scripts/simulator/provider/options.ts';
import { type Provider, startProvider } from '../../scripts/simulator/provider.ts';
import { type Receiver, type ReceiverOptions, startReceiver } from '../../scripts/simulator/receiver.ts';
import type { SmscOptions } from '../../scripts/simulator/smsc/options.ts';
import { type Smsc, startSmsc } from '../../scripts/simulator/smsc.ts';
import type { CarrierDocument } from '../../shared/carriers/carrier.ts';
import type { ProviderDocument } from '../../shared/carriers/providers/provider.ts';
import { setProvider } from '../../shared/carriers/providers/store.ts';
import { eventsOf } from '../../shared/events/catalogue.ts';
import { createEndpoint } from '../../shared/events/webhooks/endpoint-store.ts';
import { loadConfig } from '../../shared/platform/config/settings.ts';
import { connectStore, storeUri } from '../../shared/platform/mongo/connect.ts';
import type { AppName } from '../../shared/platform/processes/apps.ts';
import { systemClock as clock } from '../../shared/platform/runtime/clock.ts';
import { type AccountId, newId } from '../../shared/platform/runtime/ids.ts';
import { createSecretBox, loadSecretKeys } from '../../shared/platform/runtime/secret-box.ts';
import { listChatTemplates } from '../../shared/templates/chat/store.ts';
import { builtProduct } from './built.ts';
import { eventually } from './eventually.ts';
import { startRouter } from './mongo-wire/router.ts';
import { use } from './use.ts';

/** The whole product as real processes, with a scriptable carrier and webhook receiver inside the test. */
export interface Product {
  readonly url: string;
  /** Of an account with `credits`, and an endpoint at the receiver for all events. */
  readonly key: string;
  readonly account: AccountId;
  readonly credits: number;
  /** The test's own connection to the product's database. */
  readonly db: Db;
  readonly smsc: Smsc;
  /** The chat-app provider, if `chatapp` was requested. */
  readonly provider: Provider | undefined;
  /** Receives its mails, if `mail` was requested. */
  readonly mailbox: Mailbox | undefined;
  readonly receiver: Receiver;
  /** `POST /v2/send` of a transactional text; rejects without an HTTP answer. */
  send(to: string, message: string): Promise<Answer>;
  /** A POST with a JSON body; rejects without an HTTP answer. */
  post(path: string, body: object, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  get(path: string): Promise<Answer>;
  delete(path: string): Promise<Answer>;
  /** Runs `npm run ops` and resolves with its output; rejects if the command failed. */
  ops(line: string | readonly string[]): Promise<string>;
  /** By default the app's first process. Resolves when its successor is ready, as under PM2. */
  kill(app: AppName, signal?: NodeJS.Signals, pid?: number): Promise<void>;
  pids(app: AppName): readonly number[];
  /**
   * Gives one process of an app a crash point to die at (`accept:debited`, `settle:updated#3`), and its successors the
   * other points, one each. The returned function waits until all have died and the last one's successor is ready.
   */
  arm(app: AppName, ...points: readonly string[]): Promise<() => Promise<Exit>>;
  /** Stops everything as PM2 does. Fails if a process crashed before, or does not exit with 0 by itself. */
  stop(): Promise<void>;
}

export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface ProductOptions {
  readonly gateways?: number;
  readonly smppWorkers?: number;
  readonly webhookWorkers?: number;
  /** Processes of batches, schedules and maintenance. */
  readonly otherWorkers?: number;
  readonly credits?: number;
  /** The chat-app channel too: workers, the account's provider with copied templates, an endpoint for its events. */
  readonly chatapp?: {
    readonly workers?: number;
    readonly provider?: Partial<ProviderOptions>;
    /** The policy for unanswered sends, if not the default. */
    readonly unknowns?: Pick<ProviderDocument, 'unknownPolicy' | 'unknownWaitMs'>;
  };
  readonly smsc?: Partial<SmscOptions>;
  readonly receiver?: ReceiverOptions;
  /** Sends mails to a mailbox; absent: sends none. */
  readonly mail?: true;
  /** The gateways' metrics port; absent: no metrics. */
  readonly metricsPort?: number;
  /** The collector of traces; absent: no traces. */
  readonly otlpUrl?: string;
  readonly carrier?: Partial<CarrierDocument>;
  /** The store is behind a proxy that refuses what a sharded cluster's router refuses. */
  readonly sharded?: true;
}

/** A worker needs seconds to notice a provider, and then copies its templates. */
const TEMPLATES_MS = 60_000;

/** For the body of a `describe`: the product for its tests, opened and closed by `use`. */
export function useProduct(options: ProductOptions = {}): Product {
  return use(
    () => startProduct(options),
    (product) => product.stop(),
  );
}

/**
 * Builds the product once per test run and starts it in an empty data directory, on the server of `HARKARA_MONGODB_URI`
 * or else on the embedded store. The caller stops it in an `after` hook, as `useProduct` does; nothing outlives the
 * test process.
 */
export async function startProduct(options: ProductOptions = {}): Promise<Product> {
  const dataDir = mkdtempSync(join(tmpdir(), 'harkara-'));
  const mongodbUri = process.env.HARKARA_MONGODB_URI ?? '';
  const mongodbDatabase = newId('test');
  const port = await freePort();
  const mailbox = options.mail && (await startMailbox());
  const setup: Setup = {
    dist: await builtProduct(),
    logDir: join(dataDir, 'logs'),
    env: {
      HARKARA_DATA_DIR: dataDir,
      HARKARA_MONGODB_DATABASE: mongodbDatabase,
      HARKARA_PORT: String(port),
      HARKARA_METRICS_PORT: String(options.metricsPort ?? 0),
      HARKARA_OTLP_URL: options.otlpUrl ?? '',
      HARKARA_WEBHOOK_ALLOW_HTTP: 'yes',
      HARKARA_WEBHOOK_ALLOW_SUBNETS: '127.0.0.0/8',
      ...(mailbox && mailSettings(mailbox)),
    },
  };
  mkdirSync(setup.logDir);
  const router = options.sharded && (await startRouter(storeUri({ mongodbUri, dataDir })));
  const fleet = new Fleet(router ? { ...setup, env: { ...setup.env, HARKARA_MONGODB_URI: router.uri } } : setup);
  const closers: (() => Promise<unknown>)[] = mailbox ? [() => mailbox.close()] : [];
  const close = async (): Promise<Exit[]> => {
    const exits = await fleet.stopClients();
    await router?.close();
    for (const closer of closers.reverse()) await closer();
    exits.push(...(await fleet.stop()));
    rmSync(dataDir, { recursive: true });
    return exits;
  };

  try {
    const smsc = await startSmsc({ receiptDelayMs: 50, ...options.smsc });
    closers.push(() => smsc.close());
    const receiver = await startReceiver(options.receiver);
    closers.push(() => receiver.close());

    if (mongodbUri === '') await fleet.start('embedded-db');
    await fleet.start('gateway', options.gateways ?? 2);
    await Promise.all([
      fleet.start('smpp', options.smppWorkers ?? 1),
      fleet.start('webhooks', options.webhookWorkers ?? 1),
      fleet.start('background', options.otherWorkers),
      ...(options.chatapp === undefined ? [] : [fleet.start('chatapp', options.chatapp.workers)]),
    ]);

    const store = await connectStore({ mongodbUri, dataDir, mongodbDatabase });
    const { db } = store;
    closers.push(async () => {
      if (mongodbUri !== '') await db.dropDatabase();
      await store.close();
    });
    const deps = { db, clock, box: createSecretBox(loadSecretKeys('', dataDir)) };
    const credits = options.credits ?? 10_000;
    const endpoint = { url: `${receiver.url}/webhook`, events: eventsOf('sms') };
    const seeded = await seedAccount(deps, { name: 'Flow', credits, keys: 1, endpoint });
    const [key = ''] = seeded.keys;
    receiver.trust(seeded.secret, '/webhook');
    await seedCarrier(deps, smsc.port, options.carrier);

    const url = `http://127.0.0.1:${port}`;
    let provider: Provider | undefined;
    if (options.chatapp !== undefined) {
      provider = await startProvider({ statusDelayMs: 50, ...options.chatapp.provider });
      closers.push(async () => provider?.close());
      const { account } = seeded;
      const chat = {
        account,
        channel: 'chatapp',
        url: `${receiver.url}/chatapp`,
        events: eventsOf('chatapp'),
      } as const;
      receiver.trust((await createEndpoint(db, clock, deps.box, chat)).secret, '/chatapp');
      await enterApp(provider.url, await seedProvider(deps, account, provider.url, url));
      const { unknowns } = options.chatapp;
      if (unknowns !== undefined) {
        await setProvider(db, clock, deps.box, account, provider.options.displayNumber, unknowns);
      }
      await eventually(async () => (await listChatTemplates(db, account)).length > 0, 'the templates', TEMPLATES_MS);
    }
    return {
      url,
      key,
      account: seeded.account,
      credits,
      db,
      smsc,
      provider,
      mailbox,
      receiver,
      send: (to, message) => ask(`${url}/v2/send`, key, { to, message, sender: 'HARKRA', route: 'transactional' }),
      post: (path, body, headers) => ask(url + path, key, body, 'POST', headers),
      get: (path) => ask(url + path, key),
      delete: (path) => ask(url + path, key, undefined, 'DELETE'),
      ops: async (line) => {
        const said: string[] = [];
        const told: string[] = [];
        const terminal = { out: (text: string) => said.push(text), err: (text: string) => told.push(text) };
        const words = typeof line === 'string' ? line.split(' ') : line;
        const code = await runOps(words, terminal, () => loadConfig({ HARKARA_MONGODB_URI: mongodbUri, ...setup.env }));
        if (code !== 0) throw new Error(`ops ${words.join(' ')}: ${[...said, ...told].join(' ')}`);
        return said.join('\n');
      },
      kill: (app, signal, pid) => fleet.kill(app, signal, pid),
      pids: (app) => fleet.pids(app).map(({ pid }) => pid),
      arm: (app, ...points) => fleet.replace(app, ...points.map((point) => ({ HARKARA_CRASH_AT: point }))),
      stop: async () => {
        const tails = new Map(fleet.crashes.map(({ app }) => [app, logTail(setup.logDir, app)]));
        const exits = await close();
        const bad = [...fleet.crashes, ...exits.filter(({ code }) => code !== 0)];
        if (bad.length > 0) throw new Error(`${JSON.stringify(bad)}\n${[...tails.values()].join('\n')}`);
        if (router && router.refused.length > 0) throw new Error(`no cluster takes: ${router.refused.join('; ')}`);
        if (router?.routed('messages') === 0) throw new Error('nothing came through the router');
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function mailSettings({ port }: Mailbox) {
  return {
    HARKARA_SMTP_HOST: '127.0.0.1',
    HARKARA_SMTP_PORT: String(port),
    HARKARA_SMTP_TLS: 'none',
    HARKARA_MAIL_FROM: 'no-reply@sms.example.com',
  };
}

/** A connection being handed to a process that is killed is never answered. */
const ANSWER_MS = 60_000;

/** One API request with any key; rejects without an HTTP answer. */
export async function ask(
  url: string,
  key: string,
  body?: object,
  method = body === undefined ? 'GET' : 'POST',
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const response = await fetch(url, {
    signal: AbortSignal.timeout(ANSWER_MS),
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return {
    status: response.status,
    type: response.headers.get('content-type') ?? '',
    body: (await response.json()) as Answer['body'], // every answer of the API is one JSON object
  };
}
