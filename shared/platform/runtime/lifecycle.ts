import { errorFields, type Log } from './log.ts';

/**
 * The life of a process. `main.ts` gives it a start function, which registers what must be closed. SIGINT (PM2),
 * SIGTERM and the end of PM2 stop the process: it closes the registered parts in reverse order, each awaited, within
 * `STOP_DEADLINE_MS`.
 */
export interface Lifecycle {
  /** Aborted when the process begins to stop: loops check it before they take more work. */
  readonly stopping: AbortSignal;
  onStop(name: string, close: () => Promise<void> | void): void;
  /** Tells PM2 (`wait_ready`) that the process works. */
  ready(): void;
  /** As after a signal. With an error the process exits with 1, with a `StartError` as that says. */
  stop(reason: string, error?: unknown): void;
}

/** Shorter than PM2's `kill_timeout` (20 s), so that the process ends by itself. */
const STOP_DEADLINE_MS = 15_000;

/** A mistake of the person who starts the process (settings, a busy port). Shown as one sentence, without a stack. */
export class StartError extends Error {
  readonly code = 'start_failed';
  readonly exitCode: number = 1;
}

/** `EX_DATAERR` of sysexits.h. PM2 leaves a process stopped that ended with it (ecosystem.config.js). */
export const DAMAGED_EXIT_CODE = 65;

/** Every start would find the same damage until somebody corrects it. */
export class DamageFound extends StartError {
  override readonly exitCode = DAMAGED_EXIT_CODE;
}

export function runProcess(log: Log, start: (life: Lifecycle) => Promise<void>): void {
  const abort = new AbortController();
  const closers: { name: string; close: () => Promise<void> | void }[] = [];
  let exitCode = 0;

  const closeAll = async (): Promise<void> => {
    for (const { name, close } of closers.reverse()) {
      try {
        await close();
      } catch (error) {
        log.error('stop_failed', { part: name, ...errorFields(error) });
        exitCode = 1;
      }
    }
  };
  const stop = (reason: string, error?: unknown): void => {
    if (error !== undefined) exitCode = error instanceof StartError ? error.exitCode : 1;
    if (abort.signal.aborted) return;
    abort.abort();
    log.info('stopping', { reason });
    const deadline = setTimeout(() => {
      log.error('stop_deadline', { after_ms: STOP_DEADLINE_MS });
      log.flush();
      process.exit(1);
    }, STOP_DEADLINE_MS);
    deadline.unref();
    void closeAll().then(() => {
      log.info('stopped');
      log.flush();
      process.exit(exitCode);
    });
  };
  const fail = (error: unknown): void => {
    log.error(error instanceof StartError ? 'start_failed' : 'failed', errorFields(error));
    process.stderr.write(`${error instanceof StartError ? error.message : stackOf(error)}\n`);
    stop('error', error);
  };

  process.on('SIGINT', () => stop('SIGINT'));
  process.on('SIGTERM', () => stop('SIGTERM'));
  // PM2 was killed. Nobody could stop this process any more, and the next start would find its port or lock taken.
  process.on('disconnect', () => stop('pm2_gone'));
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);

  const life: Lifecycle = {
    stopping: abort.signal,
    onStop: (name, close) => closers.push({ name, close }),
    ready: () => {
      log.info('ready');
      process.send?.('ready');
    },
    stop,
  };
  start(life).catch(fail);
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
