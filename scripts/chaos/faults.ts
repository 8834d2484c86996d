import { parseArgs } from 'node:util';
import type { Fleet } from '../bench/fleet.ts';
import type { OtherStore } from './stage.ts';

export interface FaultLog {
  readonly kills: ReadonlyMap<string, number>;
  readonly pauses: ReadonlyMap<string, number>;
}

/** Pause when no process that a fault may hit is alive; the fleet restarts them. */
const PATIENCE_MS = 50;
/** Name of a store other than the embedded one (`OtherStore`) in counts and output. */
const OTHER = 'the store';
/** One of this many faults kills that store: a random choice among all processes would hit it too rarely. */
const OTHER_EVERY = 4;

/**
 * Kills and pauses processes by a seeded plan until all faults are done or `stop` returns true. A paused process is
 * continued after its time, or killed before that if it is chosen. A store other than the embedded one is killed first,
 * and again after every `OTHER_EVERY` faults.
 */
export async function causeFaults(
  fleet: Pick<Fleet, 'pids'>,
  options: ChaosOptions,
  random: Random,
  stop: () => boolean,
  say: (line: string) => void,
  other?: OtherStore,
): Promise<FaultLog> {
  const restarts: Promise<void>[] = [];
  const kills = new Map<string, number>();
  const pauses = new Map<string, number>();
  const waking: Promise<void>[] = [];
  const pauseAt = new Set(
    Array.from({ length: options.pauses }, (_, i) => Math.floor(((i + 0.5) * options.kills) / options.pauses)),
  );
  let done = 0;
  while (done < options.kills && !stop()) {
    await wait(options.everyMs * (0.5 + random.next()));
    const living: { readonly app: string; readonly pid: number }[] = fleet.pids();
    if (other?.pid !== undefined) living.push({ app: OTHER, pid: other.pid });
    // Pausing the store would only make everything else wait.
    const pausable = living.filter((one) => one.app !== 'embedded-db' && one.app !== OTHER);
    if (living.length === 0 || (pauseAt.has(done) && pausable.length === 0)) {
      await wait(PATIENCE_MS);
      continue;
    }
    if (pauseAt.has(done)) {
      const { app, pid } = random.pick(pausable);
      say(`pause ${app} for ${options.pauseMs} ms`);
      count(pauses, app);
      signal(pid, 'SIGSTOP');
      waking.push(wait(options.pauseMs).then(() => signal(pid, 'SIGCONT')));
    }
    const due = done % OTHER_EVERY === 0 ? living.find((one) => one.app === OTHER) : undefined;
    const { app, pid } = due ?? random.pick(living);
    say(`kill ${app}`);
    count(kills, app);
    if (app === OTHER && other !== undefined) restarts.push(other.kill());
    else signal(pid, 'SIGKILL');
    done++;
  }
  await Promise.all([...waking, ...restarts]);
  return { kills, pauses };
}

/** Does nothing if the process is gone. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

function count(counts: Map<string, number>, app: string): void {
  counts.set(app, (counts.get(app) ?? 0) + 1);
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Random numbers from a seed (mulberry32), for repeatable plans. */
export interface Random {
  /** A whole number, 32 bits. */
  uint32(): number;
  /** From 0 (included) to 1 (excluded). */
  next(): number;
  /** From 0 (included) to `below` (excluded). */
  integer(below: number): number;
  /** Throws RangeError for an empty list. */
  pick<T>(from: readonly T[]): T;
}

export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const uint32 = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const next = (): number => uint32() / 2 ** 32;
  const integer = (below: number): number => Math.floor(next() * below);
  return {
    uint32,
    next,
    integer,
    pick: (from) => {
      if (from.length === 0) throw new RangeError('nothing to choose from');
      return from[integer(from.length)] as (typeof from)[number]; // the index is in range
    },
  };
}

export interface ChaosOptions {
  /** Repeats the plan of faults and load; the timing depends on the machine. */
  readonly seed: number;
  readonly messages: number;
  readonly kills: number;
  /** SIGSTOPs among the faults, and how long each lasts. */
  readonly pauses: number;
  readonly pauseMs: number;
  /** Average time between two faults. */
  readonly everyMs: number;
  /** Requests in flight. */
  readonly connections: number;
}

export const CHAOS_DEFAULTS: ChaosOptions = {
  seed: 1,
  messages: 50_000,
  kills: 200,
  pauses: 5,
  pauseMs: 40_000,
  everyMs: 2_500,
  connections: 24,
};

const FLAGS: readonly (readonly [flag: string, option: keyof ChaosOptions, meaning: string])[] = [
  ['seed', 'seed', 'plan of faults and load'],
  ['messages', 'messages', 'recipients in all'],
  ['kills', 'kills', 'kill -9 of a process, the store included'],
  ['pauses', 'pauses', 'SIGSTOPs among them'],
  ['pause', 'pauseMs', 'length of each, in milliseconds'],
  ['every', 'everyMs', 'from one fault to the next on average, in milliseconds'],
  ['connections', 'connections', 'requests in flight'],
];

/** Throws one sentence for the person who typed it. Undefined: help was requested. */
export function readOptions(argv: readonly string[]): ChaosOptions | undefined {
  const options = Object.fromEntries(FLAGS.map(([flag]) => [flag, { type: 'string' as const }]));
  const { values } = parseArgs({ args: [...argv], options: { ...options, help: { type: 'boolean' } } });
  const given: Readonly<Record<string, unknown>> = values;
  if (given.help === true) return undefined;
  const read: Record<keyof ChaosOptions, number> = { ...CHAOS_DEFAULTS };
  for (const [flag, option] of FLAGS) {
    const value = given[flag];
    if (value === undefined) continue;
    if (!/^\d{1,9}$/.test(String(value))) throw new RangeError(`--${flag} must be a whole number, not "${value}"`);
    read[option] = Number(value);
  }
  return read;
}

export function help(): string {
  const lines = FLAGS.map(([flag, option, meaning]) => `  --${flag.padEnd(12)} ${meaning} (${CHAOS_DEFAULTS[option]})`);
  return ['Kills processes of the product while messages flow, then audits it from the outside.', '', ...lines].join(
    '\n',
  );
}
