import { readdirSync, readFileSync } from 'node:fs';

/** One process of the benchmark, with its name in the tables. */
export interface Watched {
  readonly name: string;
  readonly pid: number;
}

/** Processes that belong to no contender: the simulated world, and the benchmark itself, which makes the load. */
export const WORLD = 'carrier + receiver';
export const LOAD = 'load';
const NOT_MEASURED: readonly string[] = [WORLD, LOAD];

/** Length of a clock tick of /proc. Linux shows programs 100 ticks a second on every architecture that Node runs on. */
const TICK_MS = 10;
const KIB_PER_MIB = 1024;

/** CPU time of a process so far, all its threads, user and system, in milliseconds (proc(5): utime, stime). */
export function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The second field is the program's name in parentheses and may hold spaces; count from its end.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/** How often a process, any thread of it, went to sleep so far, and so was woken (proc(5): voluntary_ctxt_switches). */
export function wakeUps(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.reduce(
    (sum, thread) => sum + field(`/proc/${pid}/task/${thread}/status`, 'voluntary_ctxt_switches'),
    0,
  );
}

/** In MiB, from /proc. */
export interface Memory {
  /** Resident (VmRSS), and at its highest (VmHWM). */
  readonly now: number;
  readonly peak: number;
  /**
   * The part of the resident memory that belongs to no file (RssAnon). The store maps its data file, and the system can take the
   * memory of a mapped file back whenever it needs it.
   */
  readonly own: number;
  /** Resident, with its part of what it shares with others (Pss): the sum over processes counts Node's own code once. */
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

/** Starts a measurement. The returned function gives the CPU of each process since then, by name. */
export function measureCpu(processes: readonly Watched[]): () => Map<string, number> {
  const before = processes.map(({ pid }) => cpuMs(pid));
  return () => new Map(processes.map(({ name, pid }, i) => [name, cpuMs(pid) - (before[i] ?? 0)]));
}

/** A figure of each process, by its name in the tables. */
export type ByProcess = Readonly<Record<string, number>>;

/** The sum of the product's or its peer's processes, without the simulated world and the load. */
export function own(values: ByProcess): number {
  return sum(Object.entries(values).filter(([name]) => !NOT_MEASURED.includes(name)));
}

/**
 * The norm: that CPU, divided by what the simulated world and the load used in the same run. Both do the same for each message
 * always, so this takes out most of what the machine's own speed of that hour does.
 */
export function norm(cpu: ByProcess): number {
  return own(cpu) / sum(Object.entries(cpu).filter(([name]) => NOT_MEASURED.includes(name)));
}

function sum(entries: readonly (readonly [string, number])[]): number {
  return entries.reduce((total, [, value]) => total + value, 0);
}
