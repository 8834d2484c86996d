import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import type { RunFiles } from './run.ts';

/** PM2 with all processes, behind the guard (guard.ts). */
export class Pm2 {
  /** Rejects with the first process that ends before `settled()`: a failed start is not retried. */
  readonly failed: Promise<never>;
  /** Resolves when nothing of the run is left, with whether a stop was requested. */
  readonly gone: Promise<'stopped' | 'unexpectedly'>;
  readonly #guard: ChildProcess;
  readonly #online = new Map<string, number>();
  #onNews: ((news: AppNews) => void) | undefined;
  #changed = (): void => {};

  constructor(root: string, files: RunFiles, env: NodeJS.ProcessEnv) {
    const script = join(root, 'node_modules', 'pm2', 'bin', 'pm2-runtime');
    this.#guard = fork(
      join(root, 'dist', 'scripts', 'dev', 'guard.js'),
      [script, join(root, 'ecosystem.config.js'), files.runDir, files.logs],
      { cwd: root, env, detached: true, execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] },
    );
    this.gone = new Promise((resolve) => {
      this.#guard.once('close', (code) => resolve(code === 0 ? 'stopped' : 'unexpectedly'));
    });
    this.failed = new Promise((_, reject) => {
      this.#guard.on('message', (news: AppNews) => {
        if (news.kind === 'online') {
          this.#online.set(news.app, (this.#online.get(news.app) ?? 0) + 1);
          this.#changed();
        }
        if (this.#onNews !== undefined) this.#onNews(news);
        else if (news.kind === 'ended') reject(new AppEnded(news.app));
      });
    });
    // `whenReady` and main handle it; an earlier failure must not be an unhandled rejection.
    this.failed.catch(() => {});
  }

  async whenReady(wanted: ReadonlyMap<string, number>): Promise<void> {
    const all = (): boolean => [...wanted].every(([app, count]) => (this.#online.get(app) ?? 0) >= count);
    const ready = new Promise<void>((resolve) => {
      this.#changed = () => {
        if (all()) resolve();
      };
      this.#changed();
    });
    await Promise.race([ready, this.failed]);
  }

  /** Call when the start is complete: from then on the end of a process is only reported, because PM2 restarts it. */
  settled(onNews: (news: AppNews) => void): void {
    this.#onNews = onNews;
  }

  /** Stops all gracefully; may be called repeatedly. */
  stop(): void {
    this.#onNews = () => {};
    if (this.#guard.connected) this.#guard.send('stop');
  }

  kill(): void {
    if (this.#guard.connected) this.#guard.send('kill');
  }
}

/** A process ended during the start. */
export class AppEnded extends Error {
  readonly app: string;

  constructor(app: string) {
    super(`${app} ended`);
    this.app = app;
  }
}

/** What the guard passes on from PM2 about a process. */
type AppNews =
  | { readonly kind: 'online'; readonly app: string }
  | { readonly kind: 'ended'; readonly app: string; readonly code: number; readonly signal: string };

/** Lines of PM2 7, such as `2026-11-21T10:00:00: PM2 log: App [gateway:2] exited with code [1] via signal [SIGINT]`. */
const ONLINE = / PM2 log: App \[([\w-]+):\d+\] online$/;
const EXITED = / PM2 log: App \[([\w-]+):\d+\] exited with code \[(\d+)\] via signal \[(\w+)\]$/;

export function parsePm2Line(line: string): AppNews | undefined {
  const [, online] = ONLINE.exec(line) ?? [];
  if (online !== undefined) return { kind: 'online', app: online };
  const [, app, code, signal] = EXITED.exec(line) ?? [];
  if (app === undefined || signal === undefined) return undefined;
  return { kind: 'ended', app, code: Number(code), signal };
}
