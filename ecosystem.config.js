import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism, homedir } from 'node:os';
import { join, resolve } from 'node:path';

/**
 * What PM2 runs: `npx pm2 start ecosystem.config.js`. Settings come from the environment or from `.env` beside this
 * file (docs/operating.md); secrets pass through neither PM2 nor its dump. PM2 reads this file with `require`, so it
 * must export `apps` and have no top-level await.
 */
const root = import.meta.dirname;

if (!existsSync(join(root, 'dist', 'gateway', 'main.js'))) {
  stop('There is no build in dist/: run `npm run build` first.');
}
const require = createRequire(import.meta.url);
const { createCallerAddress } = require('./dist/gateway/http/caller-address.js');
const {
  envFile,
  readEnvFile,
  readEnvironment,
  SECRET_VARIABLES,
  withoutSecrets,
} = require('./dist/shared/platform/config/environment.js');
const { loadConfig, SETTINGS } = require('./dist/shared/platform/config/settings.js');
const { DAMAGED_EXIT_CODE } = require('./dist/shared/platform/runtime/lifecycle.js');
const { loadSecretKeys } = require('./dist/shared/platform/runtime/secret-box.js');
const { openDirectory } = require('./dist/shared/platform/runtime/own-file.js');
const { APPS, appFile, nodeAdvice, nodeFlags, usualGateways } = require('./dist/shared/platform/processes/apps.js');
const { AddressGuard, guardOptions } = require('./dist/shared/events/webhooks/address-guard.js');

/** Variables that PM2, Node, the loader and the C library read, and those of the simulator. */
const NEEDED =
  /^(PATH|HOME|USER|LOGNAME|PWD|LANG|LC_\w+|TZ|TMPDIR|LD_PRELOAD|LD_LIBRARY_PATH|NODE_OPTIONS|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR)|UV_THREADPOOL_SIZE|PM2_\w+|HARKARA_ENV_FILE|HARKARA_SIMULATOR_\w+)$/;

const { config, env } = settings();
tellOpenDirectories();
tellNode();
leaveOnlyNeeded();
// Not PM2's own 0, which is one for each core.
const gateways = config.gatewayInstances || usualGateways(availableParallelism());

/** How PM2 waits for a start, ends a process, and restarts one that died. */
const common = {
  cwd: root,
  env,
  // The process itself reports ready (runtime/lifecycle.ts); it may wait 30 s for its store.
  wait_ready: true,
  listen_timeout: 40_000,
  // PM2 stops with SIGINT; a process ends within 15 s, the store last. PM2's default kills after 1.6 s.
  kill_timeout: 20_000,
  // One log file for all processes of an app: <app>-out.log (JSON lines) and <app>-error.log.
  merge_logs: true,
  // Restarts 0.1 s after a crash, each further one 1.5 times later (at most 15 s), from 0.1 s again after 30 s of life.
  // PM2 never gives up on a process, except on a damaged store (below).
  exp_backoff_restart_delay: 100,
  // Our processes have no children, and finding children needs `ps`.
  treekill: false,
  // Without PM2's monitoring inside our processes.
  pmx: false,
  vizion: false,
};

const own = {
  // Another start would find the same damage: stay stopped, with advice in the log.
  'embedded-db': { stop_exit_codes: [DAMAGED_EXIT_CODE] },
  gateway: { exec_mode: 'cluster', instances: gateways },
};

export const apps = [
  ...APPS.filter((name) => name !== 'embedded-db' || config.mongodbUri === '').map((name) => app(name, appFile(name))),
  ...(config.simulator === 'on' ? [app('simulator', 'scripts/simulator/main.js')] : []),
];

function app(name, file) {
  return { ...common, ...own[name], name, node_args: nodeFlags(name), script: join(root, 'dist', file) };
}

/**
 * Each setting from the caller's environment, or empty, because a reload would keep an earlier caller's value. Nothing
 * from `.env`, which every process reads itself: PM2 would save it and start with the old value after a reboot. No
 * secrets: PM2 shows what it is given.
 */
function settings() {
  try {
    const file = envFile(process.env);
    const config = loadConfig(readEnvironment());
    refuseWrongForms(config);
    const inFile = readEnvFile(file);
    tellUnknownNames(file, Object.keys(inFile));
    const given = Object.values(SETTINGS).map(({ env }) => [env, process.env[env] ?? '']);
    const kept = withoutSecrets(process.env, inFile, file);
    return { config, env: { NODE_ENV: 'production', HARKARA_ENV_FILE: file, ...Object.fromEntries(given), ...kept } };
  } catch (error) {
    return stop(error.message);
  }
}

/** Throws a process's own sentence about wrong settings: PM2 ends old gateways even if the new ones do not start. */
function refuseWrongForms(config) {
  createCallerAddress(config.trustProxy);
  new AddressGuard(guardOptions(config));
  if (config.secretKey !== '') loadSecretKeys(config.secretKey, config.dataDir);
}

/** A misspelled setting would silently have no effect. */
function tellUnknownNames(file, names) {
  const known = new Set([...Object.values(SETTINGS).map(({ env }) => env), ...SECRET_VARIABLES]);
  for (const name of names) {
    if (known.has(name) || name.startsWith('HARKARA_SIMULATOR_')) continue;
    process.stderr.write(`${file} has ${name}, which Harkara does not know: .env.example lists all settings.\n`);
  }
}

/** The logs hold customers' addresses and ids, and PM2 creates directories with its first starter's umask. */
function tellOpenDirectories() {
  const { PM2_HOME = join(homedir(), '.pm2'), PM2_DEFAULT_LOG_PATH = '' } = process.env;
  for (const dir of [PM2_HOME, PM2_DEFAULT_LOG_PATH, resolve(root, config.dataDir)]) {
    const words = dir === '' ? undefined : openDirectory(dir);
    if (words !== undefined) process.stderr.write(`${words}\n`);
  }
}

/** Advises in one line if another version of Node would be better. */
function tellNode() {
  const advice = nodeAdvice(process.versions.node);
  if (advice !== undefined) process.stderr.write(`${advice}\n`);
}

/**
 * PM2 copies its command's environment into what it stores and shows of each process, including tokens of other
 * programs in the shell that reloads. So only settings and what PM2, Node and system libraries read stay.
 */
function leaveOnlyNeeded() {
  const ours = new Set(Object.values(SETTINGS).map(({ env }) => env));
  for (const name of Object.keys(process.env)) if (!ours.has(name) && !NEEDED.test(name)) delete process.env[name];
}

/** Ends the PM2 command with one sentence; PM2 shows an exception as "malformated" with a stack. */
function stop(sentence) {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
}
