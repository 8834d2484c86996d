import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import { inSubnets, parseSubnet } from '../../shared/events/webhooks/address-guard.ts';
import { StartError } from '../../shared/platform/runtime/lifecycle.ts';

/** How many callers' addresses are remembered. Parsing one takes 15 to 60 µs, and every request needs it. */
const KNOWN_MAX = 10_000;
const KNOWN_CHARACTERS = 200;

export type CallerAddress = (req: IncomingMessage) => string;

/**
 * Finds the address that a request came from: usually the socket's. If that is a proxy of `HARKARA_TRUST_PROXY`, it is
 * the right-most address in X-Forwarded-For that is no such proxy; everything left of it is the caller's own claim.
 * Throws `StartError` if the setting has an entry that is neither an address nor a subnet. `onIgnored` is told, once,
 * who sent X-Forwarded-For although no proxy is trusted.
 */
export function createCallerAddress(
  trustProxy: readonly string[],
  onIgnored: (peer: string) => void = () => {},
): CallerAddress {
  const trusted = trustProxy.map((text) => {
    const subnet = parseSubnet(text);
    if (subnet === undefined)
      throw new StartError(
        `HARKARA_TRUST_PROXY must list addresses or subnets with commas, like 127.0.0.1,10.1.0.0/16, not "${text}".`,
      );
    return subnet;
  });
  const known = new Map<string, string>();
  let isTold = trusted.length > 0;
  return (req) => {
    if (!isTold && req.headers['x-forwarded-for'] !== undefined) {
      isTold = true;
      onIgnored(plainAddress(req.socket.remoteAddress ?? '') ?? 'unknown');
    }
    const forwarded = trusted.length === 0 ? undefined : req.headers['x-forwarded-for'];
    const name = `${req.socket.remoteAddress} ${forwarded}`;
    const before = known.get(name);
    if (before !== undefined) return before;
    const found = addressOf(req);
    if (known.size >= KNOWN_MAX) known.clear();
    if (name.length <= KNOWN_CHARACTERS) known.set(name, found);
    return found;
  };

  function addressOf(req: IncomingMessage): string {
    let address = plainAddress(req.socket.remoteAddress ?? '') ?? 'unknown';
    if (trusted.length === 0 || !inSubnets(address, trusted)) return address;
    const forwarded = req.headers['x-forwarded-for'];
    const hops = typeof forwarded === 'string' ? forwarded.split(',') : [];
    for (const hop of hops.reverse()) {
      const named = plainAddress(hop.trim());
      if (named === undefined) return address;
      address = named;
      if (!inSubnets(address, trusted)) return address;
    }
    return address;
  }
}

/**
 * The address without the port: of `1.2.3.4`, `1.2.3.4:80`, `2001:db8::1` or `[2001:db8::1]:80`. IPv4-mapped becomes
 * IPv4.
 */
export function plainAddress(text: string): string | undefined {
  const [, bracketed] = /^\[([^\]]*)\](?::\d+)?$/.exec(text) ?? [];
  const [, withPort] = /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text) ?? [];
  const address = bracketed ?? withPort ?? text;
  // `isValid` also accepts `1` and `0x7f.1`, which no proxy writes.
  if (!ipaddr.IPv4.isValidFourPartDecimal(address) && !ipaddr.IPv6.isValid(address)) return undefined;
  return ipaddr.process(address).toString();
}

/**
 * The network that is counted for an address: an IPv6 customer has a /64 (RFC 6177) and could use a new address for
 * each request.
 */
export function callerNetwork(address: string): string {
  if (!ipaddr.IPv6.isValid(address)) return address;
  const [a = 0, b = 0, c = 0, d = 0] = ipaddr.IPv6.parse(address).parts;
  return `${new ipaddr.IPv6([a, b, c, d, 0, 0, 0, 0]).toString()}/64`;
}
