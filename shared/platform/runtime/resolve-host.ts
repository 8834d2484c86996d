import { Resolver } from 'node:dns/promises';
import { readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { systemClock } from './clock.ts';

/** Rejects when there are no addresses or nobody answered. */
export type ResolveHost = (hostname: string) => Promise<readonly string[]>;

interface HostResolverOptions {
  /** `127.0.0.1:5300`. Absent: those of the system (/etc/resolv.conf). */
  readonly servers?: readonly string[];
  /** Names that the operator has given to addresses. They come before DNS. */
  readonly hostsFile?: string;
}

const TRY_MS = 2_000;
const TRIES = 2;
/** An answer is used for as long as it says, and no longer than this. */
const KEPT_MAX_S = 30;
const KEPT_MAX = 1_000;

interface Answer {
  readonly addresses: readonly string[];
  readonly untilMs: number;
}

/**
 * Asks DNS, never the system's resolver: `getaddrinfo` runs on the four threads of the process, so four host names
 * whose servers do not answer would block every other account's posts, and password hashes. Names of the hosts file are
 * known without DNS; search domains, mDNS and NIS are not asked (docs/decisions/0029). Simultaneous requests for a name
 * share one question.
 */
export function createHostResolver({ servers, hostsFile = '/etc/hosts' }: HostResolverOptions = {}): ResolveHost {
  const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES });
  if (servers !== undefined) resolver.setServers(servers);
  const hosts = new HostsFile(hostsFile);
  const kept = new Map<string, Answer>();
  const asking = new Map<string, Promise<readonly string[]>>();

  async function ask(name: string): Promise<readonly string[]> {
    const answers = await Promise.allSettled([
      resolver.resolve4(name, { ttl: true }),
      resolver.resolve6(name, { ttl: true }),
    ]);
    const records = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    const failed = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as unknown] : []));
    if (records.length === 0) throw failed.find((error) => !saysNone(error)) ?? failed[0];
    const addresses = records.map(({ address }) => address);
    // Half an answer is not kept: the other family may be known at the next try.
    const seconds = failed.every(saysNone) ? Math.min(KEPT_MAX_S, ...records.map(({ ttl }) => ttl)) : 0;
    kept.delete(name);
    if (seconds > 0) kept.set(name, { addresses, untilMs: systemClock.monotonicMs() + seconds * 1_000 });
    const [oldest] = kept.keys();
    if (kept.size > KEPT_MAX && oldest !== undefined) kept.delete(oldest);
    return addresses;
  }

  return async (hostname) => {
    const name = hostname.toLowerCase().replace(/\.$/, '');
    // RFC 6761 §6.3: never asked of DNS.
    if (/^(.+\.)?localhost$/.test(name)) return ['127.0.0.1', '::1'];
    const known = hosts.addressesOf(name);
    if (known !== undefined) return known;
    const answer = kept.get(name);
    if (answer !== undefined && systemClock.monotonicMs() < answer.untilMs) return answer.addresses;
    const asked = asking.get(name) ?? ask(name).finally(() => asking.delete(name));
    asking.set(name, asked);
    return asked;
  };
}

/** No such name, or no address of that family. */
function saysNone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOTFOUND' || error.code === 'ENODATA');
}

const LOOK_MS = 5_000;

/** `ADDRESS NAME…`, read again when it has changed. Without a file there are none. */
class HostsFile {
  readonly #path: string;
  #lookedMs = Number.NEGATIVE_INFINITY;
  #changedMs: number | undefined;
  #names: ReadonlyMap<string, readonly string[]> = new Map();

  constructor(path: string) {
    this.#path = path;
  }

  addressesOf(name: string): readonly string[] | undefined {
    const nowMs = systemClock.monotonicMs();
    if (nowMs - this.#lookedMs >= LOOK_MS) {
      this.#lookedMs = nowMs;
      this.#read();
    }
    return this.#names.get(name);
  }

  #read(): void {
    const changedMs = statSync(this.#path, { throwIfNoEntry: false })?.mtimeMs;
    if (changedMs === this.#changedMs) return;
    this.#changedMs = changedMs;
    this.#names = changedMs === undefined ? new Map() : namesOf(readFileSync(this.#path, 'utf8'));
  }
}

function namesOf(text: string): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...all] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (isIP(address) === 0) continue;
    for (const name of all) names.set(name.toLowerCase(), [...(names.get(name.toLowerCase()) ?? []), address]);
  }
  return names;
}
