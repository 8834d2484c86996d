import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { freePort } from './free-port.ts';
import { configuration, KANNEL_USER, type KannelStore } from './kannel-configuration.ts';
import type { BenchOptions } from './options.ts';
import { type Contender, withWorld } from './stage.ts';
import { SENDER, type Target, TEXT } from './target.ts';
import { World } from './world-process.ts';

/**
 * Debian's Kannel, to be compared with the product: a simulated carrier and a receiver of the same code, on the same machine, and
 * one callback a message.
 */
export interface KannelStage extends Contender {
  readonly target: Target;
  close(): Promise<void>;
}

const START_MS = 30_000;
const LOOK_MS = 100;

const REDIS = '/usr/bin/redis-server';

/** Whether that store can be compared with on this machine. */
export function hasStore(store: KannelStore): boolean {
  return store !== 'redis' || existsSync(REDIS);
}

/** Starts bearerbox and smsbox (Debian's package `kannel`) on an empty store. Throws a sentence when they are not installed. */
export async function setKannelStage(
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
  // The spool's folder.
  if (store === 'spool') mkdirSync(join(folder, 'kannel.store'));
  const programs: Program[] = [];
  process.on('exit', () => {
    for (const { child } of programs) child.kill('SIGKILL');
  });
  if (store === 'redis') {
    // Appends what it is told before it answers; the system writes it to the disk within a second.
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

/** How Kannel takes a send: a GET with everything in its query. */
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
