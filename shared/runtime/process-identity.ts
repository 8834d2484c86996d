import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';

/**
 * Who holds something, so that a taker on the same machine can see at once that the holder is gone: a pid alone may have
 * been given to another program since, hence the start time beside it.
 */
export interface ProcessIdentity {
  /** Host name and boot: pids mean nothing on another machine or after a restart of this one. */
  readonly machine: string;
  readonly pid: number;
  /** Clock ticks after boot (proc(5), `starttime`); empty where the system does not tell. */
  readonly startedAt: string;
}

export function thisProcess(): ProcessIdentity {
  return processIdentity(process.pid);
}

/** Of a living process on this machine, a child for example. */
export function processIdentity(pid: number): ProcessIdentity {
  return { machine: `${hostname()}@${bootId()}`, pid, startedAt: startTime(pid) ?? '' };
}

/** As one string, `<host>@<boot>/<pid>/<start>`: what documents hold and compare. */
export function identityText(identity: ProcessIdentity): string {
  return `${identity.machine}/${identity.pid}/${identity.startedAt}`;
}

export function parseIdentity(text: string): ProcessIdentity {
  const [startedAt = '', pid = '0', ...machine] = text.split('/').reverse();
  return { machine: machine.reverse().join('/'), pid: Number(pid), startedAt };
}

/** True only with proof: the holder ran on this machine, in this boot, and no such process exists any more. */
export function isGone(holder: ProcessIdentity, here: ProcessIdentity = thisProcess()): boolean {
  if (holder.machine !== here.machine) return false;
  if (holder.startedAt !== '') return startTime(holder.pid) !== holder.startedAt;
  try {
    process.kill(holder.pid, 0);
    return false;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH';
  }
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return ''; // Not Linux: the host name has to do.
  }
}

/** The start time of a living process; undefined when there is none (a zombie counts as none). */
function startTime(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in parentheses and may hold spaces; count from its end.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? undefined : fields[19];
  } catch {
    return undefined; // No such process, or no /proc.
  }
}
