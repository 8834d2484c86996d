import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface SecantusOptions {
  /** `rust` is the fast one; `python` gets features first. */
  readonly server: 'python' | 'rust';
  /** Whether drivers see a standalone server or the primary of a one-member replica set. */
  readonly standalone?: boolean;
}

const START_MS = 60_000;
const PROGRAMS = {
  python: { path: 'python/bin/secantusd-py', flags: ['--enable-test-commands'] },
  // Without this limit it reserves 2 GB on disk.
  rust: { path: 'rust/bin/secantusd-rs', flags: ['--log-file-max', '64MB'] },
};
/** With these flags, everything that was acknowledged survives a kill. */
const DURABLE = ['--sync-on-commit', '--cache-size', '256M'];
const LOG_TAIL_CHARACTERS = 2_000;
const MEMORY = '/dev/shm';
const MEMORY_BYTES_MIN = 2 ** 31;

/** A SecantusDB server in its own process and a new directory. Both end with the test process. */
export class Secantus {
  readonly #dir = mkdtempSync(join(scratchDir(), 'harkara-secantus-'));
  readonly #options: SecantusOptions;
  #child: ChildProcess | undefined;
  #port = 0;
  #listens = false;

  private constructor(options: SecantusOptions) {
    this.#options = options;
    process.on('exit', this.#atExit);
  }

  /** On a free port of 127.0.0.1. Throws one sentence if it is not installed (`SECANTUSDB_HOME`) or does not start. */
  static async start(options: SecantusOptions): Promise<Secantus> {
    const secantus = new Secantus(options);
    await secantus.#start();
    return secantus;
  }

  get uri(): string {
    return `mongodb://127.0.0.1:${this.#port}/`;
  }

  /** Undefined while it is down. */
  get pid(): number | undefined {
    return this.#listens ? this.#child?.pid : undefined;
  }

  /** kill -9 and a restart on the same port and directory; resolves when it accepts connections. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
    await this.#start();
  }

  async close(): Promise<void> {
    await this.#end('SIGTERM');
    process.off('exit', this.#atExit);
    rmSync(this.#dir, { recursive: true, force: true });
  }

  readonly #atExit = (): void => {
    this.#child?.kill('SIGKILL');
    rmSync(this.#dir, { recursive: true, force: true });
  };

  async #start(): Promise<void> {
    const { server, standalone = false } = this.#options;
    const { path, flags } = PROGRAMS[server];
    const binary = join(process.env.SECANTUSDB_HOME ?? '', path);
    if (process.env.SECANTUSDB_HOME === undefined || !existsSync(binary)) {
      throw new Error(`No ${path} in SECANTUSDB_HOME: run test/engines/install <folder>, and name that folder.`);
    }
    const config = join(this.#dir, 'none.toml'); // Otherwise it reads a file in the user's home.
    writeFileSync(config, '');
    const place = ['--config', config, '--port', String(this.#port), '--storage-path', join(this.#dir, 'data')];
    const face = standalone ? ['--standalone'] : [];
    const child = spawn(binary, [...place, ...DURABLE, ...face, ...flags], { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    this.#port = await listeningPort(child);
    this.#listens = true;
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    this.#listens = false;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }
}

/** In memory if there is enough: a killed process loses nothing there either, and syncing costs little. */
function scratchDir(): string {
  if (!existsSync(MEMORY)) return tmpdir();
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize >= MEMORY_BYTES_MIN ? MEMORY : tmpdir();
}

/** Both servers log their port. Later output is read too, because a full pipe would block them. */
function listeningPort(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let log = '';
    const timer = setTimeout(() => fail(`did not listen within ${START_MS} ms`), START_MS);
    const fail = (what: string): void => {
      clearTimeout(timer);
      child.kill('SIGKILL');
      reject(new Error(`SecantusDB ${what}: ${log}`));
    };
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        log = (log + text).slice(-LOG_TAIL_CHARACTERS);
        const [, port] = /listening on 127\.0\.0\.1:(\d+)\n/.exec(log) ?? [];
        if (port === undefined) return;
        clearTimeout(timer);
        resolve(Number(port));
      });
    }
    child.once('error', (error) => fail(`did not start (${error.message})`));
    child.once('exit', (code, signal) => fail(`ended with ${code ?? signal}`));
  });
}
