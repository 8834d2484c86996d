import { totalmem } from 'node:os';

/**
 * What runs, and how: PM2 (`ecosystem.config.js`, which `npm start` runs too), the benchmark and the tests start the product from
 * here.
 */

/** In the order of their start: the store first, so that the others need not wait for it. */
export const APPS = ['embedded-db', 'gateway', 'smpp', 'webhooks', 'chatapp', 'background'] as const;
export type AppName = (typeof APPS)[number];

/** The build's file of an app, relative to `dist/`. */
export function appFile(app: AppName): string {
  return app === 'gateway' ? 'gateway/main.js' : `workers/${app}/main.js`;
}

/**
 * How many gateways run where nobody says a number: one for every two cores, at least one. The store and the workers need the
 * other half. With more gateways each makes smaller groups, and a message costs more CPU (docs/decisions/0034).
 */
export function usualGateways(cores: number): number {
  return Math.max(1, Math.floor(cores / 2));
}

/**
 * Node's options for every process.
 *
 * `--single-threaded-gc`: by default V8 collects garbage with four helper threads in each process. On a machine with few cores they
 * take CPU from all processes and shorten no pause (docs/performance.md).
 *
 * `--no-allocation-site-pretenuring`: V8 makes objects old from birth where those it saw while the process started lived long. In a
 * server such a place serves requests later: its objects die at once, but stay until the next great collection, and keep alive
 * what they point to, which is then copied and becomes old as well.
 *
 * The other two are for processes that have little to do (docs/decisions/0034). V8 collects garbage several times when a process
 * becomes quiet, to give memory back, and drops the bytecode of functions that were not called for a while, which are then compiled
 * again at the next call.
 */
const NODE_FLAGS = [
  '--single-threaded-gc',
  '--no-allocation-site-pretenuring',
  '--no-memory-reducer',
  '--no-flush-bytecode',
] as const;

/** The apps that every message passes. */
const BUSY: readonly string[] = ['embedded-db', 'gateway', 'smpp', 'webhooks'] satisfies AppName[];

/** Options of one app on a machine with so much memory, in bytes. An app of none of our names gets what all have. */
export function nodeFlags(app: string, memory: number = usableMemory()): readonly string[] {
  return BUSY.includes(app) ? [...NODE_FLAGS, ...youngGeneration(memory)] : NODE_FLAGS;
}

/**
 * Semi-spaces in MiB, of which a young generation may have three. V8 alone begins with 1 and lets them grow with what survives, which
 * in our processes is too little to get far (docs/decisions/0034).
 */
function youngGeneration(memory: number): readonly string[] {
  if (memory < 3.5 * GIB) return [];
  const most = memory < 7 * GIB ? 32 : 64; // a machine that is sold with 8 shows a little less
  return ['--min-semi-space-size=16', `--max-semi-space-size=${most}`];
}

const GIB = 2 ** 30;

/** The machine's memory, or what its container may use of it. */
function usableMemory(): number {
  return Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
}

/** The major version that is recommended, and what the product was measured with. */
const RECOMMENDED_NODE = 24;

/** What whoever starts the product with an older Node should know; undefined with 24 or later. `version`: `20.19.0`. */
export function nodeAdvice(version: string): string | undefined {
  if (Number.parseInt(version, 10) >= RECOMMENDED_NODE) return undefined;
  return `Node ${version} runs Harkara; a message takes up to a fifth less CPU with Node ${RECOMMENDED_NODE} (docs/operating.md, "Which Node").`;
}
