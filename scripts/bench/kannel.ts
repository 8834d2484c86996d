import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { freePort } from './fleet.ts';
import { productTarget, SENDER, type Target, TEXT } from './load.ts';
import type { BenchOptions } from './options.ts';
import { bulk, type LoopResult, type RateResult, rate, singles } from './phases.ts';
import { table } from './report.ts';
import { type Contender, type Stage, setStage, withWorld } from './stage.ts';
import { type ByProcess, norm, own, percentile } from './usage.ts';
import { World } from './world-process.ts';

/** One row of the table: both contenders' values, one for each round. */
interface Measured {
  readonly what: string;
  readonly target: string;
  readonly kannel: number[];
  readonly harkara: number[];
}

const RATES = [500, 1_000];
/** Kannel's stores that survive the end of its process, with our required and our desired ratio. */
const KEPT = [
  ['spool', '≥ 1.2, want 1.5'],
  ['redis', '≥ 2.2, want 3'],
] as const;

/**
 * Measures the product and Debian's Kannel in turn with the same simulated carrier, load and receiver, receipts and
 * callbacks on. Both run all the time; the one that is not measured is idle. Returns a table with the medians of all
 * rounds and of the rounds' ratios.
 */
export async function againstKannel(dist: string, options: BenchOptions): Promise<string> {
  const stage = await setStage(dist, options, '');
  const kannels = new Map<KannelStore, KannelStage>();
  try {
    for (const store of KANNEL_STORES) {
      if (hasStore(store)) kannels.set(store, await setKannelStage(dist, store, options));
      else console.error(`No Kannel with ${store}: install Debian's package redis-server.`);
    }
    const both = new Comparison(stage, kannels, options);
    await both.warmUp();
    for (let round = 1; round <= options.rounds; round++) {
      console.error(`round ${round} of ${options.rounds}`);
      await both.round();
    }
    return both.text();
  } finally {
    for (const kannel of kannels.values()) await kannel.close();
    await stage.close();
  }
}

class Comparison {
  readonly #stage: Stage;
  readonly #kannels: ReadonlyMap<KannelStore, KannelStage>;
  readonly #options: BenchOptions;
  readonly #rows = new Map<string, Measured>();

  constructor(stage: Stage, kannels: ReadonlyMap<KannelStore, KannelStage>, options: BenchOptions) {
    this.#stage = stage;
    this.#kannels = kannels;
    this.#options = options;
  }

  async warmUp(): Promise<void> {
    const { warmUp } = this.#options;
    if (warmUp === 0) return;
    for (const kannel of this.#kannels.values()) await this.#singles(kannel, kannel.target, 64, warmUp);
    await this.#singles(this.#stage, productTarget(this.#stage.url, this.#stage.keys), 64, warmUp);
  }

  async round(): Promise<void> {
    const { url, keys, loneKeys } = this.#stage;
    const { messages } = this.#options;
    const target = productTarget(url, keys);
    const file = this.#kannels.get('file');
    if (file === undefined) throw new Error('there is no Kannel with a file store');
    const their64 = await this.#singles(file, file.target, 64, messages);
    const our64 = await this.#singles(this.#stage, target, 64, messages);
    this.#loop('singles, 64 connections', their64, our64, '≥ 0.8, want 1.0');
    const their32 = await this.#singles(file, file.target, 32, messages);
    this.#loop('singles, 32 connections', their32, await this.#singles(this.#stage, target, 32, messages), '≥ 0.6');
    const one = await this.#singles(this.#stage, productTarget(url, loneKeys), 64, messages);
    this.#loop('singles of one account, 64 connections', their64, one, '≥ 0.8');
    this.#loop('bulk', their64, await bulk(this.#stage, this.#options), '≥ 1.2, want 1.5');
    for (const perSecond of RATES) {
      const asked = { perSecond, seconds: this.#options.rateSeconds, webhooksEach: 1 };
      const kannel = await rate(file, file.target, asked);
      this.#rate(perSecond, kannel, await rate(this.#stage, target, asked));
    }
    for (const [store, wanted] of KEPT) {
      const kannel = this.#kannels.get(store);
      if (kannel === undefined) continue;
      const kept = await this.#singles(kannel, kannel.target, 64, messages);
      this.#loop(`singles, 64 connections, Kannel with ${store}`, kept, our64, wanted);
    }
  }

  #singles(contender: Contender, target: Target, connections: number, messages: number): Promise<LoopResult> {
    return singles(contender, target, { connections, messages, webhooksEach: 1 });
  }

  #loop(what: string, kannel: LoopResult, harkara: LoopResult, target: string): void {
    this.#note(`${what}: messages/s`, target, kannel.wholePerSecond, harkara.wholePerSecond);
    this.#cpu(what, '', kannel.cpuMsPer1000, harkara.cpuMsPer1000);
    this.#note(`${what}: answer p99, ms`, '', kannel.answerMs.p99, harkara.answerMs.p99);
  }

  #rate(perSecond: number, kannel: RateResult, harkara: RateResult): void {
    const high = perSecond === 1_000;
    const at = `at ${perSecond}/s`;
    this.#cpu(at, high ? '≤ 1,100' : '≤ 1,300', kannel.cpuMsPer1000, harkara.cpuMsPer1000);
    this.#note(`${at}: answer p50, ms`, '', kannel.answerMs.p50, harkara.answerMs.p50);
    this.#note(`${at}: answer p99, ms`, high ? '≤ 40' : '≤ 25', kannel.answerMs.p99, harkara.answerMs.p99);
    const [theirs, ours] = [kannel.acceptedToSubmitMs, harkara.acceptedToSubmitMs];
    this.#note(`${at}: answer → submit_sm p50, ms`, high ? '≤ 10' : '', theirs.p50, ours.p50);
    this.#note(`${at}: answer → submit_sm p99, ms`, high ? '≤ 30' : '', theirs.p99, ours.p99);
  }

  #cpu(what: string, target: string, kannel: ByProcess, harkara: ByProcess): void {
    this.#note(`${what}: CPU ms per 1,000`, target, own(kannel), own(harkara));
    this.#note(`${what}: by that of load and simulator`, '', norm(kannel), norm(harkara));
  }

  #note(what: string, target: string, kannel = Number.NaN, harkara = Number.NaN): void {
    const row = this.#rows.get(what) ?? { what, target, kannel: [], harkara: [] };
    row.kannel.push(kannel);
    row.harkara.push(harkara);
    this.#rows.set(what, row);
  }

  text(): string {
    const rows = [...this.#rows.values()].map(({ what, target, kannel, harkara }) => [
      what,
      said(median(kannel)),
      said(median(harkara)),
      median(harkara.map((value, i) => value / (kannel[i] ?? Number.NaN))).toFixed(2),
      target,
    ]);
    return table([['', 'Kannel', 'Harkara', 'ratio', "today's target"], ...rows]);
  }
}

function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

function said(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(value >= 10 ? 1 : 2);
}

interface KannelStage extends Contender {
  readonly target: Target;
  close(): Promise<void>;
}

const START_MS = 30_000;
const LOOK_MS = 100;

const REDIS = '/usr/bin/redis-server';

function hasStore(store: KannelStore): boolean {
  return store !== 'redis' || existsSync(REDIS);
}

/** Starts Debian's `kannel` (bearerbox and smsbox) on an empty store. Throws a sentence if it is not installed. */
async function setKannelStage(
  dist: string,
  store: KannelStore,
  { window, carrier }: Pick<BenchOptions, 'window' | 'carrier'>,
): Promise<KannelStage> {
  const folder = mkdtempSync(join(tmpdir(), 'harkara-bench-kannel-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const world = await World.start(dist, carrier);
  const [admin, box, sendsms, redis] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
  const ports = { admin, box, sendsms, redis };
  const file = join(folder, 'kannel.conf');
  writeFileSync(file, configuration({ store, ports, smscPort: world.smscPort, window, folder }));
  if (store === 'spool') mkdirSync(join(folder, 'kannel.store'));
  const programs: Program[] = [];
  process.on('exit', () => {
    for (const { child } of programs) child.kill('SIGKILL');
  });
  if (store === 'redis') {
    // Appends before it answers; the system writes to the disk within a second.
    const settings = ['--port', `${redis}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'yes'];
    programs.push(await startProgram(REDIS, [...settings, '--dir', folder], folder));
    await listens(redis);
  }
  programs.push(await startProgram('/usr/sbin/bearerbox', ['-v', '4', file], folder));
  await listens(admin);
  programs.push(await startProgram('/usr/sbin/smsbox', ['-v', '4', file], folder));
  await listens(sendsms);
  const own = programs.map(({ name, child: { pid = 0 } }) => ({ name, pid }));
  return {
    world,
    target: kannelTarget(`http://127.0.0.1:${sendsms}`, world.callbackUrl),
    own,
    all: withWorld(own, world),
    close: async () => {
      for (const { child } of programs.reverse()) {
        if (child.exitCode !== null || child.signalCode !== null) continue;
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
      await world.stop();
    },
  };
}

/** Kannel takes a send as a GET with everything in its query. */
function kannelTarget(url: string, callbackUrl: string): Target {
  const same = new URLSearchParams({
    ...KANNEL_USER,
    from: SENDER,
    text: TEXT,
    'dlr-mask': '1', // delivered
    'dlr-url': `${callbackUrl}/%p`,
  }).toString();
  return {
    url,
    acceptedStatus: 202,
    request: (_n, to) => `GET /cgi-bin/sendsms?to=${to}&${same} HTTP/1.1\r\nHost: bench\r\n\r\n`,
  };
}

interface Program {
  readonly name: string;
  readonly child: ChildProcess;
}

async function startProgram(path: string, args: readonly string[], folder: string): Promise<Program> {
  const child = spawn(path, args, { cwd: folder, stdio: 'ignore' });
  const failed = once(child, 'error').then(() => {
    throw new Error(`${path} does not start: install Debian's package kannel`);
  });
  await Promise.race([once(child, 'spawn'), failed]);
  return { name: basename(path), child };
}

async function listens(port: number): Promise<void> {
  const deadline = Date.now() + START_MS;
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect');
      return;
    } catch (error) {
      if (Date.now() > deadline) throw new Error(`nothing listens on port ${port}`, { cause: error });
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    } finally {
      socket.destroy();
    }
  }
}

interface KannelPorts {
  readonly admin: number;
  /** Where smsbox connects to bearerbox. */
  readonly box: number;
  readonly sendsms: number;
  readonly redis: number;
}

/**
 * Where Kannel keeps accepted messages. `file`: a file written now and then, never synced. `spool`: a file for each
 * message, which survives the end of the process. `redis`: a server, which also keeps the messages that receipts belong
 * to; the others keep those in memory.
 */
const KANNEL_STORES = ['file', 'spool', 'redis'] as const;
type KannelStore = (typeof KANNEL_STORES)[number];

interface KannelSettings {
  readonly store: KannelStore;
  readonly ports: KannelPorts;
  readonly smscPort: number;
  /** The most unanswered submit_sm on the bind. */
  readonly window: number;
  /** For stored messages and logs. */
  readonly folder: string;
}

/** The user of `/cgi-bin/sendsms`. */
const KANNEL_USER = { username: 'bench', password: 'bench' } as const;

/** A configuration with one bind and as little logging as the manual allows. */
function configuration({ store, ports, smscPort, window, folder }: KannelSettings): string {
  return `
group = core
admin-port = ${ports.admin}
admin-interface = 127.0.0.1
admin-password = bench
smsbox-port = ${ports.box}
smsbox-interface = 127.0.0.1
box-allow-ip = 127.0.0.1
dlr-storage = ${store === 'redis' ? 'redis' : 'internal'}
store-type = ${store}
store-location = ${folder}/kannel.store
log-file = ${folder}/bearerbox.log
log-level = 3

group = smsc
smsc = smpp
smsc-id = simulator
host = 127.0.0.1
port = ${smscPort}
transceiver-mode = true
smsc-username = bench
smsc-password = bench
system-type = ""
interface-version = 34
max-pending-submits = ${window}
reconnect-delay = 1

group = smsbox
bearerbox-host = 127.0.0.1
bearerbox-port = ${ports.box}
sendsms-port = ${ports.sendsms}
sendsms-interface = 127.0.0.1
log-file = ${folder}/smsbox.log
log-level = 3

group = sendsms-user
username = ${KANNEL_USER.username}
password = ${KANNEL_USER.password}
max-messages = 10
concatenation = true

group = sms-service
keyword = default
text = "thanks"
max-messages = 1
omit-empty = true
${store === 'redis' ? redisGroups(ports) : ''}`;
}

function redisGroups(ports: KannelPorts): string {
  return `
group = redis-connection
id = store
host = 127.0.0.1
port = ${ports.redis}
database = 0
max-connections = 10

group = store-db
id = store
table = store

group = dlr-db
id = store
table = dlr
field-smsc = smsc
field-timestamp = ts
field-source = source
field-destination = destination
field-service = service
field-url = url
field-mask = mask
field-status = status
field-boxc-id = boxc
`;
}
