import ipaddr from 'ipaddr.js';
import { canonicalSubnet } from '../../people/keys/allowed-addresses.ts';

/**
 * The addresses that a customer may make us connect to. An allow-list of what is public, not a list of what is not: IPv4 outside
 * every special range, IPv6 inside 2000::/3 (RFC 4291 §2.4) and outside every special range there. That refuses loopback,
 * private, link-local (cloud metadata at 169.254.169.254), carrier-grade NAT, multicast, reserved and documentation ranges, and
 * every IPv6 form that carries an IPv4 address (mapped, 64:ff9b::/96, 2002::/16, Teredo).
 */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');
/** Azure's metadata and control address: in a public range, but answered by the host itself on any Azure machine. */
const AZURE_HOST = ipaddr.IPv4.parse('168.63.129.16');

export type Subnet = ReturnType<typeof ipaddr.parseCIDR>;

/**
 * Parses `10.0.0.0/8`, `fd00::/8` or a single address; IPv4 written as IPv6 becomes IPv4. Undefined for any other text, also for
 * the old forms of IPv4 (`10`, `127.1`, `010.0.0.1`, which would be 8.0.0.1): nobody means what they say.
 */
export function parseSubnet(text: string): Subnet | undefined {
  const canonical = canonicalSubnet(text);
  if (canonical === undefined) return undefined;
  if (canonical.includes('/')) return ipaddr.parseCIDR(canonical);
  const address = ipaddr.parse(canonical);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  if (address instanceof ipaddr.IPv6) return address.match(GLOBAL_UNICAST);
  return !address.match(AZURE_HOST, 32);
}

/** An IPv4-mapped IPv6 address counts as the IPv4 address that the system would connect to. */
export function inSubnets(text: string, subnets: readonly Subnet[]): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.process(text);
  return subnets.some((subnet) => subnet[0].kind() === address.kind() && address.match(subnet));
}
