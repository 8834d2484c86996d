import { armCrashPoint, parseCrashPoint } from '../runtime/crash-point.ts';
import { type Lifecycle, runProcess, StartError } from '../runtime/lifecycle.ts';
import { createLog, type Log } from '../runtime/log.ts';
import { pm2LogFile, readEnvironment } from './environment.ts';
import { type Config, loadConfig } from './settings.ts';

/** Starts every process. Invalid settings end it, with one sentence each. */
export function runConfigured(
  app: string,
  start: (base: { readonly config: Config; readonly log: Log; readonly life: Lifecycle }) => Promise<void>,
): void {
  let config: Config;
  try {
    config = loadConfig(readEnvironment());
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
  const crash = parseCrashPoint(config.crashAt);
  if (crash !== undefined) armCrashPoint(crash);
  const log = createLog(app, config.logLevel, pm2LogFile());
  runProcess(log, (life) => start({ config, log, life }));
}
