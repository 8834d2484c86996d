import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Watched {
  readonly name: string;
  readonly pid: number;
}

/** Processes that belong to no contender. */
export const WORLD = 'carrier + receiver';
export const LOAD = 'load';
const NOT_MEASURED: readonly string[] = [WORLD, LOAD];

/** Length of a clock tick in /proc: 100 a second on every architecture that Node supports. */
const TICK_MS = 10;
const KIB_PER_MIB = 1024;

/** CPU time of a process so far, all its threads, user and system, in milliseconds (proc(5): utime, stime). */
export function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The second field is the program's name in parentheses and may hold spaces: count from its end.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/** How often any thread of a process has gone to sleep and so was woken (proc(5): voluntary_ctxt_switches). */
export function wakeUps(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.reduce(
    (sum, thread) => sum + field(`/proc/${pid}/task/${thread}/status`, 'voluntary_ctxt_switches'),
    0,
  );
}

/** In MiB, from /proc. */
export interface Memory {
  /** Resident now (VmRSS) and at most (VmHWM). */
  readonly now: number;
  readonly peak: number;
  /** Resident memory outside files (RssAnon): the system can reclaim the pages that the store maps. */
  readonly own: number;
  /** Resident, shared pages divided among their users (Pss): a sum over processes counts Node's code once. */
  readonly part: number;
}

export function memoryMib(pid: number): Memory {
  const read = (name: string): number => field(`/proc/${pid}/status`, name) / KIB_PER_MIB;
  const part = field(`/proc/${pid}/smaps_rollup`, 'Pss') / KIB_PER_MIB;
  return { now: read('VmRSS'), peak: read('VmHWM'), own: read('RssAnon'), part };
}

function field(file: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(readFileSync(file, 'utf8'))?.[1] ?? 0);
}

/** Starts a measurement; the returned function gives each process's CPU since then, by name. */
export function measureCpu(processes: readonly Watched[]): () => Map<string, number> {
  const before = processes.map(({ pid }) => cpuMs(pid));
  return () => new Map(processes.map(({ name, pid }, i) => [name, cpuMs(pid) - (before[i] ?? 0)]));
}

/** By the process's name in the tables. */
export type ByProcess = Readonly<Record<string, number>>;

/** The sum without the simulated world and the load. */
export function own(values: ByProcess): number {
  return sum(Object.entries(values).filter(([name]) => !NOT_MEASURED.includes(name)));
}

/**
 * The contender's CPU divided by that of world and load in the same run. Their work for each message is constant, so
 * this evens out most differences in the machine's speed.
 */
export function norm(cpu: ByProcess): number {
  return own(cpu) / sum(Object.entries(cpu).filter(([name]) => NOT_MEASURED.includes(name)));
}

function sum(entries: readonly (readonly [string, number])[]): number {
  return entries.reduce((total, [, value]) => total + value, 0);
}

/** The value that `share` (0 to 1) of the values do not exceed; NaN for no values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** The used fields of a V8 CPU profile (`--cpu-prof`). */
interface Profile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  readonly samples: readonly number[];
  /** Microseconds since the previous sample. */
  readonly timeDeltas: readonly number[];
}

const SHOWN = 25;
const SHOWN_PLACES = 12;
/** Not work: waiting for events. */
const IDLE = '(idle)';

/** The functions with the most CPU of their own, for each profile in a folder. */
export function hotSpots(folder: string): string {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.cpuprofile'))
    .map((file) => {
      // Written by V8 itself.
      const profile = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Profile;
      return `${file}\n${topFunctions(profile).join('\n')}`;
    })
    .join('\n\n');
}

function topFunctions({ nodes, samples, timeDeltas }: Profile): string[] {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const byFunction = new Map<string, number>();
  const byPlace = new Map<string, number>();
  let busyMs = 0;
  samples.forEach((id, i) => {
    const frame = frames.get(id);
    if (frame === undefined || frame.functionName === IDLE) return;
    const ms = (timeDeltas[i] ?? 0) / 1000;
    busyMs += ms;
    add(byFunction, `${frame.functionName || '(anonymous)'} ${placeOf(frame.url)}:${frame.lineNumber + 1}`, ms);
    add(byPlace, packageOf(placeOf(frame.url)), ms);
  });
  const lineOf = ([name, ms]: readonly [string, number]): string =>
    `  ${((ms / busyMs) * 100).toFixed(1).padStart(5)} %  ${name}`;
  return [
    `  ${busyMs.toFixed(0)} ms busy`,
    ...largest(byPlace, SHOWN_PLACES).map(lineOf),
    '',
    ...largest(byFunction, SHOWN).map(lineOf),
  ];
}

function add(sums: Map<string, number>, name: string, ms: number): void {
  sums.set(name, (sums.get(name) ?? 0) + ms);
}

function largest(sums: ReadonlyMap<string, number>, count: number): [string, number][] {
  return [...sums].sort(([, a], [, b]) => b - a).slice(0, count);
}

/** The path from the repository's root or node_modules. V8's own functions have no url. */
function placeOf(url: string): string {
  return url === '' ? '(V8)' : url.replace(/^.*\/(node_modules|dist)\//, '').replace('file://', '');
}

/** The package, or our folder: `workers/smpp`, `shared/messages/document`. */
function packageOf(place: string): string {
  return /^(gateway|workers|shared|scripts)\//.test(place)
    ? place.split('/').slice(0, 2).join('/')
    : (place.split('/')[0] ?? place);
}
