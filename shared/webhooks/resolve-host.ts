import { Resolver, lookup as systemLookup } from 'node:dns/promises';

/** All addresses of a host name, as text. Rejects when there are none or nobody answered. */
export type ResolveHost = (hostname: string) => Promise<readonly string[]>;

const TRY_MS = 2_000;
const TRIES = 2;

/**
 * Asks DNS without the system's resolver. `getaddrinfo` runs on four threads of the process, so four host names whose servers do
 * not answer would block every other endpoint. Only names that DNS certainly does not have (a line of /etc/hosts, a search
 * domain), or all names where there is no DNS server, go to the system.
 */
export function createHostResolver(): ResolveHost {
  const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES });
  return async (hostname) => {
    // RFC 6761 §6.3: never asked of DNS.
    if (/^(.+\.)?localhost\.?$/i.test(hostname)) return ['127.0.0.1', '::1'];
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (addresses.length > 0) return addresses;
    for (const answer of answers) {
      if (answer.status === 'rejected' && !mayAskSystem(answer.reason)) throw answer.reason;
    }
    return (await systemLookup(hostname, { all: true })).map(({ address }) => address);
  };
}

/**
 * No such name, no address of that family, no server that listens: these answers come at once, from the system's resolver too.
 */
const QUICK_ANSWERS = ['ENOTFOUND', 'ENODATA', 'ECONNREFUSED'];

function mayAskSystem(error: unknown): boolean {
  return error instanceof Error && 'code' in error && QUICK_ANSWERS.some((code) => code === error.code);
}
