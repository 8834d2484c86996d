import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/**
 * Identifies the process that holds something, so that another process on the same machine can see that the holder is
 * gone. Has the start time, because another program may have the pid by now.
 */
export interface ProcessIdentity {
  /** Host name, boot and pid namespace: elsewhere a pid means nothing. Containers may share a host name. */
  readonly machine: string;
  readonly pid: number;
  /** Clock ticks after boot (proc(5), `starttime`); empty on systems that do not tell. */
  readonly startedAt: string;
}

export function thisProcess(): ProcessIdentity {
  return processIdentity(process.pid);
}

export function processIdentity(pid: number): ProcessIdentity {
  return {
    machine: machineName(),
    pid,
    startedAt: startTime(pid) ?? '',
  };
}

let machine: string | undefined;

/** Asked once: a host that gets another name while the process runs must not make another process of it. */
function machineName(): string {
  machine ??= `${hostname()}${BOOT_MARK}${bootId()}${NAMESPACE_MARK}${pidNamespace()}`;
  return machine;
}

/** `<host>@<boot>#<namespace>/<pid>/<start>`: documents store and compare it. */
export function identityText(identity: ProcessIdentity): string {
  return `${identity.machine}/${identity.pid}/${identity.startedAt}`;
}

/** `<host>/<pid>`, for people. Processes of several containers may share it. */
export function processName(identity: ProcessIdentity): string {
  return `${hostOf(identity).name}/${identity.pid}`;
}

export function parseIdentity(text: string): ProcessIdentity {
  const [startedAt = '', pid = '0', ...machine] = text.split('/').reverse();
  return { machine: machine.reverse().join('/'), pid: Number(pid), startedAt };
}

/** True only when proven: it ran in this machine's boot and pid namespace, and is not there any more. */
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
 * A directory's holder that does not answer there (`unix-socket.ts`) may still be alive: on another machine, whose
 * sockets cannot be reached from here, or as a visible process. A holder from an earlier boot of this machine is gone.
 */
export function mayLive(holder: ProcessIdentity, here: ProcessIdentity = thisProcess()): boolean {
  const [theirs, ours] = [hostOf(holder), hostOf(here)];
  if (theirs.boot !== ours.boot || (ours.boot === '' && theirs.name !== ours.name)) return theirs.name !== ours.name;
  return theirs.namespace === ours.namespace && !isGone({ ...holder, machine: here.machine }, here);
}

/** True only when proven: exactly this process lives. Only on systems that tell start times. */
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
/** A character that occurs in no host name and no boot id. */
const NAMESPACE_MARK = '#';

function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid').replace(/\D/g, '');
  } catch {
    return ''; // not Linux
  }
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return ''; // not Linux: the host name has to do
  }
}

/** Undefined when there is no living process (a zombie counts as none). */
function startTime(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in parentheses and may hold spaces; count from its end.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? undefined : fields[19];
  } catch {
    return undefined; // no such process, or no /proc
  }
}
