import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { parsePm2Line } from './pm2.ts';
import { appPids, awaitGone, forgetPart, kill, notePart } from './run.ts';

/**
 * Runs between `npm start` and PM2 as a process in its own group, so that the terminal's Ctrl-C does not reach PM2
 * directly. If `npm start` is killed (their channel breaks), the guard stops PM2 as Ctrl-C would. It ends when nothing
 * of the run is left.
 *
 * Arguments: pm2-runtime's script, the ecosystem file, the run directory, the log directory. PM2_HOME is in the
 * environment.
 */
const [pm2Runtime = '', ecosystem = '', runDir = '', logs = ''] = process.argv.slice(2);
const pm2Home = process.env.PM2_HOME ?? '';

/** PM2 gives a process 20 s (`kill_timeout`), and the store stops last. */
const STOP_MS = 45_000;
/** A process without PM2 ends by itself within 15 s. */
const ORPHAN_MS = 17_000;

const pm2 = spawn(process.execPath, [pm2Runtime, 'start', '--no-auto-exit', ecosystem], {
  stdio: ['ignore', 'pipe', 'pipe'],
});
if (pm2.pid !== undefined) notePart(runDir, 'pm2', pm2.pid);
notePart(runDir, 'guard', process.pid);

const log = createWriteStream(join(logs, 'pm2.log'), { flags: 'a', mode: 0o600 });
for (const stream of [pm2.stdout, pm2.stderr]) {
  createInterface({ input: stream }).on('line', (line) => {
    log.write(`${line}\n`);
    const news = parsePm2Line(line);
    if (news !== undefined && process.connected) process.send?.(news);
  });
}

let stopping = false;
function stop(): void {
  if (stopping) return;
  stopping = true;
  pm2.kill('SIGINT');
  void wait(STOP_MS, undefined, { ref: false }).then(killAll);
}

/** PM2 first, so that it restarts nothing. */
function killAll(): void {
  stopping = true;
  const pids = appPids(pm2Home);
  pm2.kill('SIGKILL');
  for (const pid of pids) kill(pid);
}

process.on('message', (order: unknown) => {
  if (order === 'stop') stop();
  if (order === 'kill') killAll();
});
process.on('disconnect', stop);
process.on('SIGINT', stop);
process.on('SIGTERM', stop);
// The terminal is gone. `npm start` gets this signal too and tells the guard what to do.
process.on('SIGHUP', () => {});

pm2.once('close', () => {
  void awaitGone(appPids(pm2Home), ORPHAN_MS).then(() => {
    forgetPart(runDir, 'pm2');
    forgetPart(runDir, 'guard');
    process.exit(stopping ? 0 : 1);
  });
});
pm2.once('error', () => process.exit(1));
