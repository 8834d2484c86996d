import { readFileSync } from 'node:fs';

/** One process of the benchmark, with its name in the tables. */
export interface Watched {
  readonly name: string;
  readonly pid: number;
}

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
}

export function memoryMib(pid: number): Memory {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const read = (name: string): number => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / KIB_PER_MIB;
  return { now: read('VmRSS'), peak: read('VmHWM'), own: read('RssAnon') };
}

/** Starts a measurement. The returned function gives the CPU of each process since then, by name. */
export function measureCpu(processes: readonly Watched[]): () => Map<string, number> {
  const before = processes.map(({ pid }) => cpuMs(pid));
  return () => new Map(processes.map(({ name, pid }, i) => [name, cpuMs(pid) - (before[i] ?? 0)]));
}
