import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../scripts/bench/fleet.ts';
import { type ProcessIdentity, processIdentity } from '../../shared/platform/runtime/process-identity.ts';
import { eventually } from './eventually.ts';
import { ROOT } from './sources.ts';

/** On a busy machine the build alone may take a while. */
export const START_MS = 100_000;
export const STOP_MS = 40_000;

const PORTS = [
  'HARKARA_PORT',
  'HARKARA_SIMULATOR_SMSC_PORT',
  'HARKARA_SIMULATOR_CHATAPP_PORT',
  'HARKARA_SIMULATOR_WEBHOOK_PORT',
  'HARKARA_SIMULATOR_HTTP_CARRIER_PORT',
  'HARKARA_SIMULATOR_MAIL_PORT',
] as const;

/** `npm start` in its own process group, as in a newcomer's terminal. */
export class NpmStart {
  readonly dataDir: string;
  readonly npm: ChildProcess;
  out = '';
  readonly exited: Promise<number | null>;

  /** Reserves its ports while this process lives, because PM2 listens on them only seconds later. */
  static async begin(dataDir: string, env: Record<string, string> = {}): Promise<NpmStart> {
    const ports = await Promise.all(PORTS.map(async (name) => [name, String(await freePort())] as const));
    return new NpmStart(dataDir, { ...Object.fromEntries(ports), ...env });
  }

  private constructor(dataDir: string, env: Readonly<Record<string, string>>) {
    this.dataDir = dataDir;
    this.npm = spawn('npm', ['start', '--', '--more'], {
      cwd: ROOT,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        HARKARA_MONGODB_URI: '',
        HARKARA_DATA_DIR: dataDir,
        HARKARA_METRICS_PORT: '0',
        ...env,
      },
    });
    for (const stream of [this.npm.stdout, this.npm.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.out += chunk;
      });
    }
    this.exited = new Promise((resolve) => this.npm.once('close', resolve));
  }

  /** Waits for the greeting. Fails with the output if npm ends before. */
  async ready(): Promise<this> {
    await eventually(
      () => this.out.includes('Ctrl-C stops everything') || this.npm.exitCode !== null,
      'npm start',
      START_MS,
    );
    if (!this.out.includes('Ctrl-C stops everything')) throw new Error(`npm start ended: ${this.out}`);
    return this;
  }

  /** Signals every process of the group, as a terminal does at Ctrl-C. */
  ctrlC(): void {
    try {
      process.kill(-(this.npm.pid ?? 0), 'SIGINT');
    } catch (error) {
      // The whole group has ended.
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
    }
  }

  /** Every process of this run: npm, `npm start` itself, its guard, PM2, and what PM2 started. */
  processes(): ProcessIdentity[] {
    const part = (name: string): string => readFileSync(join(this.dataDir, 'run', name), 'utf8');
    const noted = [JSON.parse(part('starter')).pid, ...['guard', 'pm2'].map((name) => part(name).split('/').at(-2))];
    const apps = readdirSync(join(this.dataDir, 'pm2', 'pids')).map((name) =>
      readFileSync(join(this.dataDir, 'pm2', 'pids', name), 'utf8'),
    );
    const pids = [...noted, ...apps, this.npm.pid].map(Number);
    return pids.map(processIdentity);
  }

  /** For `after` hooks: leaves nothing behind, whatever happened. */
  async end(): Promise<void> {
    if (this.npm.exitCode === null && this.npm.signalCode === null) this.ctrlC();
    await this.exited;
  }
}
