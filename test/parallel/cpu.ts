import { existsSync, readFileSync } from 'node:fs';

/** Length of a clock tick in /proc, on every architecture that Node supports. */
const TICK_MS = 10;

/** CPU time of this process; on Linux with its ended descendants (proc(5): utime, stime, cutime, cstime). */
export function cpuMs(): number {
  if (!existsSync('/proc/self/stat')) {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  }
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * TICK_MS, 0);
}
