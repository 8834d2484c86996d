import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/**
 * Who holds something, so that a taker on the same machine can see at once that the holder is gone: a pid alone may have
 * been given to another program since, hence the start time beside it.
 */
export interface ProcessIdentity {
  /**
   * Host name, boot and pid namespace: pids mean nothing on another machine, after a restart of this one, or in another
   * container, which may bear the same host name.
   */
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
  return {
    machine: `${hostname()}${BOOT_MARK}${bootId()}${NAMESPACE_MARK}${pidNamespace()}`,
    pid,
    startedAt: startTime(pid) ?? '',
  };
}

/** As one string, `<host>@<boot>#<namespace>/<pid>/<start>`: what documents hold and compare. */
export function identityText(identity: ProcessIdentity): string {
  return `${identity.machine}/${identity.pid}/${identity.startedAt}`;
}

export function parseIdentity(text: string): ProcessIdentity {
  const [startedAt = '', pid = '0', ...machine] = text.split('/').reverse();
  return { machine: machine.reverse().join('/'), pid: Number(pid), startedAt };
}

/** True only with proof: the holder ran on this machine, in this boot and pid namespace, and no such process exists any more. */
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

/**
 * Whether the holder of a directory that does not answer there (`directory-lock.ts`) may live all the same: on another
 * machine, whose sockets cannot be reached from here, or as a process that one can see. An earlier boot of this machine is over.
 */
export function mayLive(holder: ProcessIdentity, here: ProcessIdentity = thisProcess()): boolean {
  const [theirs, ours] = [hostOf(holder), hostOf(here)];
  if (theirs.boot !== ours.boot || (ours.boot === '' && theirs.name !== ours.name)) return theirs.name !== ours.name;
  return theirs.namespace === ours.namespace && !isGone({ ...holder, machine: here.machine }, here);
}

/** True only with proof: it is this very process, where the system tells start times. */
export function isAlive({ machine, pid, startedAt }: ProcessIdentity): boolean {
  return machine === thisProcess().machine && startedAt !== '' && startTime(pid) === startedAt;
}

function hostOf({ machine }: ProcessIdentity): {
  readonly name: string;
  readonly boot: string;
  readonly namespace: string;
} {
  const [host = '', namespace = ''] = machine.split(NAMESPACE_MARK);
  const [name = '', boot = ''] = host.split(BOOT_MARK);
  return { name, boot, namespace };
}

const BOOT_MARK = '@';
/** Neither a host name nor a boot id has it. */
const NAMESPACE_MARK = '#';

function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid').replace(/\D/g, '');
  } catch {
    return ''; // Not Linux.
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
