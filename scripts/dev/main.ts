import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { readEnvironment } from '../../shared/platform/config/environment.ts';
import { type Config, gatewayUrl, loadConfig } from '../../shared/platform/config/settings.ts';
import { connectStore } from '../../shared/platform/mongo/connect.ts';
import { checkStore } from '../../shared/platform/mongo/feature-probe.ts';
import { openSecretBox } from '../../shared/platform/processes/run-app.ts';
import { systemClock } from '../../shared/platform/runtime/clock.ts';
import { StartError } from '../../shared/platform/runtime/lifecycle.ts';
import { isAlive } from '../../shared/platform/runtime/process-identity.ts';
import type { DirectoryLock } from '../../shared/platform/runtime/unix-socket.ts';
import { buildIfNeeded } from './build.ts';
import { greeting, more, receiverUrl } from './greeting.ts';
import { AppEnded, Pm2 } from './pm2.ts';
import { appPids, awaitGone, forgetPart, kill, type RunFiles, readPart, runFiles, takeRun } from './run.ts';
import { type Demo, enterApp, seedDemo, trustWebhooks } from './seed.ts';
import { type RunSettings, runSettings } from './settings.ts';
import { awaitReady, endReason, followLines } from './watch.ts';

/**
 * `npm start`: runs everything in the foreground until Ctrl-C. It builds, starts all processes under PM2, creates a
 * demo account, shows how to send a message (`--more`: and the rest), and prints what the simulated carrier and webhook
 * receiver see.
 */
const root = join(import.meta.dirname, '..', '..');
/** Short, because the store named by HARKARA_MONGODB_URI should be running already. */
const MONGODB_WAIT_MS = 3_000;
const READY_MS = 60_000;
/** npm repeats a signal that the terminal has already sent to the process group. Two within this time count as one. */
const SAME_MS = 1_000;
const PARENT_LOOK_MS = 1_000;
/** The guard of a killed `npm start` may still be stopping its processes; it needs as long as a normal stop. */
const GUARD_MS = 50_000;
const APPS_MS = 20_000;

let pm2: Pm2 | undefined;
const stopping = stopSignals(() => pm2?.kill());
const stopped = new Promise<never>((_, reject) => {
  stopping.addEventListener('abort', () => reject(stopping.reason));
});
stopped.catch(() => {}); // It is awaited in a race below; an earlier stop must not be an unhandled rejection.

async function run(files: RunFiles): Promise<void> {
  await clearLeftovers(files, say);
  const settings = await runSettings(files);
  await buildIfNeeded(root, stopping, say);
  if (settings.config.mongodbUri !== '') await tryStore(settings.config);
  // After the build, whose files other users may run.
  process.umask(0o077);
  freshFolders(files);

  const wanted = await wantedApps(settings.env);
  say('Starting …');
  stopping.throwIfAborted();
  pm2 = new Pm2(root, files, settings.env);
  const unexpected = pm2.gone.then(() => Promise.reject(new StartError(`PM2 ended. Its log: ${files.logs}/pm2.log`)));
  unexpected.catch(() => {}); // Like `stopped`, only awaited in races.
  const failures = [stopped, unexpected, pm2.failed];
  const demo = await Promise.race([seed(settings), ...failures]);
  await Promise.race([pm2.whenReady(wanted), ...failures]);
  await trustWebhooks(demo);
  const { config } = settings;
  await Promise.race([awaitReady(gatewayUrl(config), receiverUrl(config), files.logs, READY_MS), ...failures]);
  await enterApp(demo.providerUrl, demo.providerApp);

  if (process.argv.includes('--more')) console.log(more(config, files, demo));
  console.log(greeting(config, demo));
  followLines(join(files.logs, 'simulator-out.log'), say);
  pm2.settled((news) => {
    if (news.kind === 'ended') {
      const how = news.code === 0 ? news.signal : `code ${news.code}`;
      say(`${news.app} ended (${how}); PM2 starts it again. Its logs: ${files.logs}/${news.app}-*.log`);
    } else if (news.app === 'simulator') void introduce(demo).catch(() => {}); // Retried at its next start.
  });
  await Promise.race([stopped, unexpected]);
}

/** Ends the start with one sentence if the product cannot run on the configured store. */
async function tryStore(config: Config): Promise<void> {
  const store = await connectStore(config, MONGODB_WAIT_MS);
  try {
    for (const warning of await checkStore(store, systemClock)) say(warning);
  } finally {
    await store.close();
  }
}

/** Enters the settings at a restarted simulator that a person would enter at a receiver and a provider. */
async function introduce(demo: Demo): Promise<void> {
  await trustWebhooks(demo);
  await enterApp(demo.providerUrl, demo.providerApp);
}

/** Always closes its connection: the embedded store waits for its last client before it ends. */
async function seed({ config }: RunSettings): Promise<Demo> {
  const store = await connectStore(config);
  stopping.addEventListener('abort', () => void store.close());
  try {
    stopping.throwIfAborted();
    const box = await openSecretBox(config, store.db);
    return await seedDemo(store.db, systemClock, box, config);
  } finally {
    await store.close();
  }
}

/** The number of processes of each app, from the ecosystem file with these settings. */
async function wantedApps(env: NodeJS.ProcessEnv): Promise<ReadonlyMap<string, number>> {
  Object.assign(process.env, env);
  const { apps }: { apps: readonly { name: string; instances?: number }[] } = await import(
    pathToFileURL(join(root, 'ecosystem.config.js')).href
  );
  return new Map(apps.map(({ name, instances }) => [name, instances ?? 1]));
}

function freshFolders({ pm2Home, logs, previousLogs }: RunFiles): void {
  rmSync(pm2Home, { recursive: true, force: true });
  mkdirSync(pm2Home, { mode: 0o700 }); // Fails if somebody has created it meanwhile.
  rmSync(previousLogs, { recursive: true, force: true });
  if (existsSync(logs)) renameSync(logs, previousLogs);
  mkdirSync(logs, { recursive: true, mode: 0o700 });
}

function say(line: string): void {
  console.log(line);
}

async function main(): Promise<number> {
  let files: RunFiles | undefined;
  let lock: DirectoryLock | undefined;
  let code = 0;
  try {
    const { dataDir } = loadConfig(readEnvironment());
    files = runFiles(dataDir);
    lock = await takeRun(files.runDir, dataDir);
  } catch (error) {
    explain(error);
    return 1;
  }
  try {
    await run(files);
  } catch (error) {
    if (stopping.aborted) say('\nStopping …');
    else {
      explain(error instanceof AppEnded ? new StartError(endReason(files.logs, error.app)) : error);
      code = 1;
    }
  }
  if (pm2 !== undefined) {
    pm2.stop();
    // The guard was killed: do its work.
    if ((await pm2.gone) === 'unexpectedly') await clearLeftovers(files, say);
  }
  await lock.release();
  if (code === 0) say('Stopped.');
  return code;
}

function explain(error: unknown): void {
  if (error instanceof StartError) console.error(error.message);
  else console.error(error instanceof Error ? (error.stack ?? error.message) : error);
}

/** Aborted by Ctrl-C (SIGINT, SIGTERM, SIGHUP) or the end of npm. Every further signal calls `again`. */
function stopSignals(again: () => void): AbortSignal {
  const stopping = new AbortController();
  let lastMs = Number.NEGATIVE_INFINITY;
  const hear = (): void => {
    const same = performance.now() - lastMs < SAME_MS;
    if (!same) lastMs = performance.now();
    if (!stopping.signal.aborted) stopping.abort();
    else if (!same) again();
  };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, hear);
  if (process.env.npm_lifecycle_event === 'start') {
    const parent = process.ppid;
    const timer = setInterval(() => {
      if (process.ppid !== parent && !stopping.signal.aborted) stopping.abort();
    }, PARENT_LOOK_MS);
    timer.unref();
  }
  return stopping.signal;
}

/**
 * Cleans up after a killed `npm start` in this data directory: waits for its guard, or does the guard's work if that
 * was killed too. Touches only processes that provably belong to that run, by pid and start time, or by title.
 */
async function clearLeftovers(files: RunFiles, say: (line: string) => void): Promise<void> {
  const guard = readPart(files.runDir, 'guard');
  const pm2 = readPart(files.runDir, 'pm2');
  if (guard !== undefined && isAlive(guard)) {
    say('Waiting for the end of an earlier run that was killed …');
    const deadline = performance.now() + GUARD_MS;
    while (isAlive(guard) && performance.now() < deadline) await wait(50);
    if (isAlive(guard)) kill(guard.pid);
  }
  const pids = appPids(files.pm2Home);
  if (pm2 !== undefined && isAlive(pm2)) {
    say('Stopping what an earlier run left …');
    kill(pm2.pid); // Its processes end by themselves without PM2.
  }
  await awaitGone(pids, APPS_MS);
  forgetPart(files.runDir, 'pm2');
  forgetPart(files.runDir, 'guard');
}

process.exit(await main());
