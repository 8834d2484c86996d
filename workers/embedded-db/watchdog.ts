import { Worker } from 'node:worker_threads';

const BEAT_MS = 1_000;

/** A string: a file would have other names in the build than in the sources. Each turn of the loop raises `beats`. */
const THREAD = `
const { writeSync } = require('node:fs');
const { beats, everyMs, stuckMs } = require('node:worker_threads').workerData;
let seen = -1;
let turns = 0;
setInterval(() => {
  const now = Atomics.load(beats, 0);
  turns = now === seen ? turns + 1 : 0;
  seen = now;
  if (turns * everyMs < stuckMs) return;
  writeSync(2, 'A command has held the store for ' + stuckMs / 1000 + ' s: it ends, and is started again.\\n');
  process.kill(process.pid, 'SIGKILL');
}, everyMs);
`;

/**
 * Ends this process with SIGKILL and one sentence on stderr when its event loop has not turned for `stuckMs`: an
 * endless loop in one command would block everybody, and a process that ends is started again. A separate thread
 * watches. It counts its own turns, so that a suspended machine or a stopped process does not count as stuck. The
 * returned function ends the watching.
 */
export function startWatchdog(stuckMs: number, everyMs: number = BEAT_MS): () => Promise<unknown> {
  const beats = new Int32Array(new SharedArrayBuffer(4));
  const timer = setInterval(() => void Atomics.add(beats, 0, 1), everyMs);
  timer.unref();
  const thread = new Worker(THREAD, { eval: true, execArgv: [], workerData: { beats, everyMs, stuckMs } });
  thread.unref();
  return () => {
    clearInterval(timer);
    return thread.terminate();
  };
}
