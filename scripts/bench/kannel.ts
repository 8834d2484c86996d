import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { configuration, KANNEL_USER } from './kannel-configuration.ts';
import type { BenchOptions } from './options.ts';
import type { Contender } from './stage.ts';
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

/** Starts bearerbox and smsbox (Debian's package `kannel`) on an empty file store. Throws a sentence when they are not installed. */
export async function setKannelStage(
  dist: string,
  { window, carrier }: Pick<BenchOptions, 'window' | 'carrier'>,
): Promise<KannelStage> {
  const folder = mkdtempSync(join(tmpdir(), 'harkara-bench-kannel-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const world = await World.start(dist, carrier);
  const ports = { admin: await freePort(), box: await freePort(), sendsms: await freePort() };
  const file = join(folder, 'kannel.conf');
  writeFileSync(file, configuration({ ports, smscPort: world.smscPort, window, folder }));
  const boxes: ChildProcess[] = [];
  process.on('exit', () => {
    for (const box of boxes) box.kill('SIGKILL');
  });
  boxes.push(await startBox('bearerbox', file, folder));
  await answers(ports.admin);
  boxes.push(await startBox('smsbox', file, folder));
  await answers(ports.sendsms);
  const target = kannelTarget(`http://127.0.0.1:${ports.sendsms}`, world.callbackUrl);
  const [bearerbox, smsbox] = boxes.map(({ pid = 0 }) => pid);
  return {
    world,
    target,
    all: [
      { name: 'bearerbox', pid: bearerbox ?? 0 },
      { name: 'smsbox', pid: smsbox ?? 0 },
    ],
    close: async () => {
      for (const box of boxes.reverse()) {
        if (box.exitCode !== null || box.signalCode !== null) continue;
        box.kill('SIGKILL');
        await once(box, 'exit');
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

async function startBox(program: string, file: string, folder: string): Promise<ChildProcess> {
  const box = spawn(`/usr/sbin/${program}`, ['-v', '4', file], { cwd: folder, stdio: 'ignore' });
  const failed = once(box, 'error').then(() => {
    throw new Error(`${program} does not start: install Debian's package kannel`);
  });
  await Promise.race([once(box, 'spawn'), failed]);
  return box;
}

async function answers(port: number): Promise<void> {
  const deadline = Date.now() + START_MS;
  for (;;) {
    try {
      await fetch(`http://127.0.0.1:${port}/`);
      return;
    } catch (error) {
      if (Date.now() > deadline) throw new Error(`nothing answers on port ${port}`, { cause: error });
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }
}
