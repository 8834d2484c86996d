import { totalmem } from 'node:os';

/** The product's processes, for PM2 (`ecosystem.config.js`, which `npm start` runs), the benchmark and the tests. */

/** In the order of their start: the store first, so that the others need not wait for it. */
export const APPS = ['embedded-db', 'gateway', 'smpp', 'webhooks', 'chatapp', 'background'] as const;
export type AppName = (typeof APPS)[number];

/** The build's file, relative to `dist/`. */
export function appFile(app: AppName): string {
  return app === 'gateway' ? 'gateway/main.js' : `workers/${app}/main.js`;
}

/**
 * How many gateways run by default: one for every two cores. The store and the workers need the other half; more
 * gateways make smaller groups, and a message costs more CPU (docs/decisions/0034).
 */
export function usualGateways(cores: number): number {
  return Math.max(1, Math.floor(cores / 2));
}

/**
 * Node's options for every process.
 *
 * `--single-threaded-gc`: the four helper threads of each process would take CPU from all processes and shorten no
 * pause (docs/performance.md).
 *
 * `--no-allocation-site-pretenuring`: V8 makes objects old from birth where objects lived long while the process
 * started. In a server such a place serves requests later: its objects die at once, but stay until the next full
 * collection, with what they point to.
 *
 * The other two are for idle processes (docs/decisions/0034): V8 would collect garbage several times to give memory
 * back, and drop the bytecode of functions that were not called for a while.
 */
const NODE_FLAGS = [
  '--single-threaded-gc',
  '--no-allocation-site-pretenuring',
  '--no-memory-reducer',
  '--no-flush-bytecode',
] as const;

/** The apps that every message passes. */
const BUSY: readonly string[] = ['embedded-db', 'gateway', 'smpp', 'webhooks'] satisfies AppName[];

/** `memory`: of the machine, in bytes. An unknown app gets what all have. */
export function nodeFlags(app: string, memory: number = usableMemory()): readonly string[] {
  return BUSY.includes(app) ? [...NODE_FLAGS, ...youngGeneration(memory)] : NODE_FLAGS;
}

/** In MiB, of which a young generation may have three. V8's default of 1 grows too little (docs/decisions/0034). */
function youngGeneration(memory: number): readonly string[] {
  if (memory < 3.5 * GIB) return [];
  const most = memory < 7 * GIB ? 32 : 64; // a machine that is sold with 8 shows a little less
  return ['--min-semi-space-size=16', `--max-semi-space-size=${most}`];
}

const GIB = 2 ** 30;

/** Or what its container may use of it. */
function usableMemory(): number {
  return Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
}

/** The major version that the product was measured with. */
const RECOMMENDED_NODE = 24;

/** For whoever starts the product with an older Node. `version`: `20.19.0`. */
export function nodeAdvice(version: string): string | undefined {
  if (Number.parseInt(version, 10) >= RECOMMENDED_NODE) return undefined;
  return `Node ${version} runs Harkara; a message takes up to a fifth less CPU with Node ${RECOMMENDED_NODE} (docs/operating.md, "Which Node").`;
}
