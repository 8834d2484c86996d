import { parseArgs } from 'node:util';

export interface ChaosOptions {
  /** The same seed gives the same plan of faults and load; the timing depends on the machine. */
  readonly seed: number;
  readonly messages: number;
  readonly kills: number;
  /** Number of SIGSTOPs among the faults, and how long each lasts. */
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

/** Reads the command line. Throws one sentence for the person who typed it. Undefined: help was requested. */
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
