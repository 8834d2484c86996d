import type { ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Db } from 'mongodb';
import { CARRIER_DEFAULTS, type CarrierDocument } from '../../shared/carriers/carrier.ts';
import type { EventName } from '../../shared/events/catalogue.ts';
import { createEndpoint } from '../../shared/events/webhooks/endpoint-store.ts';
import { createAccount } from '../../shared/money/accounts/store.ts';
import { topUp } from '../../shared/money/ledger/change.ts';
import { LIVE_KEYS_MAX } from '../../shared/people/keys/key.ts';
import { createKey } from '../../shared/people/keys/store.ts';
import { readEnvironment } from '../../shared/platform/config/environment.ts';
import { loadConfig } from '../../shared/platform/config/settings.ts';
import { connectStore } from '../../shared/platform/mongo/connect.ts';
import { ensureIndexes } from '../../shared/platform/mongo/indexes.ts';
import { ensureSchema } from '../../shared/platform/mongo/schema.ts';
import { APPS, type AppName } from '../../shared/platform/processes/apps.ts';
import { type Clock, systemClock as clock } from '../../shared/platform/runtime/clock.ts';
import { type AccountId, newId } from '../../shared/platform/runtime/ids.ts';
import { createSecretBox, loadSecretKeys, type SecretBox } from '../../shared/platform/runtime/secret-box.ts';
import { Fleet, freePort } from './fleet.ts';
import type { BenchOptions } from './options.ts';
import { LOAD, type Watched, WORLD } from './usage.ts';
import { World } from './world-process.ts';

/** The measured product or peer. */
export interface Contender {
  readonly world: World;
  readonly own: readonly Watched[];
  /** Its own processes, the simulated world, and this process, which makes the load. */
  readonly all: readonly Watched[];
  /** The product's store, and how many commands its processes have sent to it; absent for a peer. */
  readonly db?: Db;
  commands?(): Promise<number>;
}

/** The running product with its accounts, and the simulated world around it. */
export interface Stage extends Contender {
  readonly url: string;
  /** Keys of all accounts, alternating; and the keys of one account that sends alone. */
  readonly keys: readonly string[];
  readonly loneKeys: readonly string[];
  readonly db: Db;
  commands(): Promise<number>;
  /** Kills the embedded store with kill -9. Resolves with the milliseconds until it is ready again. */
  killStore(): Promise<number>;
  /** Undefined for a server named by `HARKARA_MONGODB_URI`. */
  storePid(): number | undefined;
  /** Rejects if a process had crashed. */
  close(): Promise<void>;
}

const CREDITS = 100_000_000;
const LONE_ACCOUNT_KEYS = 10;
export const FIRST_ACCOUNT = 'account-0';

/** Starts `dist` on an empty store: the embedded one in `os.tmpdir()`, or the one of `HARKARA_MONGODB_URI`. */
export async function setStage(dist: string, options: BenchOptions, profileDir: string): Promise<Stage> {
  const dataDir = mkdtempSync(join(tmpdir(), 'harkara-bench-'));
  const logDir = join(dataDir, 'logs');
  mkdirSync(logDir);
  process.on('exit', () => rmSync(dataDir, { recursive: true, force: true }));

  const { mongodbUri } = loadConfig(readEnvironment());
  const mongodbDatabase = newId('bench');
  const port = await freePort();
  const fleet = new Fleet({
    dist,
    logDir,
    env: {
      NODE_ENV: 'production',
      HARKARA_DATA_DIR: dataDir,
      HARKARA_SECRET_KEY: '',
      HARKARA_MONGODB_DATABASE: mongodbDatabase,
      HARKARA_PORT: String(port),
      HARKARA_METRICS_PORT: '0',
      HARKARA_WEBHOOK_ALLOW_HTTP: 'yes',
      HARKARA_WEBHOOK_ALLOW_SUBNETS: '127.0.0.0/8',
    },
    nodeOptions: (app) => [
      ...(app === 'embedded-db' ? [] : ['--import', join(dist, 'scripts/bench/command-counter.js')]),
      ...(options.profile.includes(app) ? ['--cpu-prof', `--cpu-prof-dir=${profileDir}`] : []),
    ],
  });
  const world = await World.start(dist, options.carrier);
  if (mongodbUri === '') await fleet.start('embedded-db');
  const store = await connectStore({ mongodbUri, dataDir, mongodbDatabase });
  const { db } = store;
  // As the product's first process does: seeding keys needs an index.
  await ensureSchema(db);
  await ensureIndexes(db);
  const deps = { db, clock, box: createSecretBox(loadSecretKeys('', dataDir)) };
  // Before the other processes start, so that the phase `start` can follow at once.
  const seeded = await seedAll(deps, world, options);
  const counts: Partial<Record<AppName, number>> = { gateway: options.gateways, smpp: options.smppWorkers };
  const others = APPS.filter((app) => app !== 'embedded-db');
  await Promise.all(others.map((app) => fleet.start(app, counts[app])));

  const own = fleet.pids().map(({ app, pid }, i, all) => ({ name: nameOf(app, i, all), pid }));
  return {
    url: `http://127.0.0.1:${port}`,
    ...seeded,
    db,
    world,
    own,
    all: withWorld(own, world),
    commands: () => storeCommands(fleet.children()),
    killStore: async () => {
      const beganMs = performance.now();
      await fleet.kill('embedded-db');
      return performance.now() - beganMs;
    },
    storePid: () => fleet.pids('embedded-db')[0]?.pid,
    close: async () => {
      const exits = await fleet.stopClients();
      if (mongodbUri !== '') await db.dropDatabase();
      await store.close();
      exits.push(...(await fleet.stop()));
      await world.stop();
      const bad = [...fleet.crashes, ...exits.filter(({ code }) => code !== 0)];
      if (bad.length > 0) throw new Error(`processes that ended badly: ${JSON.stringify(bad)}`);
    },
  };
}

export function withWorld(own: readonly Watched[], world: World): readonly Watched[] {
  return [...own, { name: WORLD, pid: world.pid }, { name: LOAD, pid: process.pid }];
}

async function seedAll(deps: SeedDeps, world: World, options: BenchOptions): Promise<Pick<Stage, 'keys' | 'loneKeys'>> {
  const seed = async (name: string, keys: number): Promise<readonly string[]> => {
    const endpoint = { url: `${world.receiverUrl}/${name}`, events: options.events };
    return (await seedAccount(deps, { name, credits: CREDITS, keys, endpoint })).keys;
  };
  const perAccount = Math.min(Math.ceil(options.keys / options.accounts), LIVE_KEYS_MAX);
  const keys = await Promise.all(Array.from({ length: options.accounts }, (_, i) => seed(`account-${i}`, perAccount)));
  const loneKeys = await seed('lone', LONE_ACCOUNT_KEYS);
  // No carrier serves the promotional route, so accepted messages stay queued: for measuring acceptance alone.
  const carrier = { windowSize: options.window, paths: ['transactional'] };
  await seedCarrier(deps, world.smscPort, carrier);
  for (let i = 2; i <= options.smppWorkers; i++)
    await seedCarrier(deps, world.smscPort, { ...carrier, _id: `sim-${i}` });
  return { keys: interleave(keys), loneKeys };
}

/** `gateway 2` if an app has several processes. */
function nameOf(app: AppName, at: number, all: readonly { readonly app: AppName }[]): string {
  const same = all.filter((other) => other.app === app);
  const before = all.slice(0, at + 1).filter((other) => other.app === app);
  return same.length === 1 ? app : `${app} ${before.length}`;
}

/** Consecutive requests come from different accounts. */
function interleave(lists: readonly (readonly string[])[]): string[] {
  const longest = Math.max(...lists.map((list) => list.length));
  return Array.from({ length: longest }, (_, i) => lists.flatMap((list) => list[i] ?? [])).flat();
}

interface SeedDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly box: SecretBox;
}

interface SeedAccount {
  readonly name: string;
  readonly credits: number;
  readonly keys: number;
  readonly endpoint: { readonly url: string; readonly events: readonly EventName[] };
}

interface SeededAccount {
  readonly account: AccountId;
  readonly keys: readonly string[];
  /** `whsec_…` of its endpoint. */
  readonly secret: string;
}

/** Requests a minute: the key must not limit the load. */
const UNLIMITED = 1_000_000_000;

/** An account that may use any sender, with credits, keys of all scopes, and one webhook endpoint. */
export async function seedAccount(deps: SeedDeps, wanted: SeedAccount): Promise<SeededAccount> {
  const { db, clock, box } = deps;
  const { _id: account } = await createAccount(db, clock, {
    name: wanted.name,
    currency: 'INR',
    expiryDate: '2099-12-31',
    senders: 'any',
  });
  if (wanted.credits > 0) await topUp(db, account, wanted.credits, newId('req'));
  const keys = await Promise.all(
    Array.from({ length: wanted.keys }, (_, i) =>
      createKey(db, clock, {
        account,
        name: `${wanted.name} ${i + 1}`,
        scopes: ['send', 'read'],
        perMinute: UNLIMITED,
      }),
    ),
  );
  const { secret } = await createEndpoint(db, clock, box, { account, channel: 'sms', ...wanted.endpoint });
  return { account, keys: keys.map(({ key }) => key), secret };
}

/** Adds a local carrier; the SMPP worker binds to it within seconds. */
export async function seedCarrier(
  { db, clock, box }: SeedDeps,
  port: number,
  overrides: Partial<CarrierDocument> = {},
): Promise<void> {
  const { _id = 'sim' } = overrides;
  await db.collection<CarrierDocument>('carriers').insertOne({
    ...CARRIER_DEFAULTS,
    _id,
    name: 'Simulated Carrier',
    host: '127.0.0.1',
    port,
    systemId: 'harkara',
    password: box.seal('secret', ['carriers', _id, 'password']),
    createdAt: clock.now(),
    ...overrides,
  });
}

async function storeCommands(processes: readonly ChildProcess[]): Promise<number> {
  const counts = await Promise.all(processes.map(ask));
  return counts.reduce((sum, count) => sum + count, 0);
}

function ask(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    const hear = (message: unknown): void => {
      if (typeof message !== 'object' || message === null || !('commands' in message)) return;
      child.off('message', hear);
      resolve(Number(message.commands));
    };
    child.on('message', hear);
    child.send('how many commands'); // command-counter.ts answers.
  });
}
