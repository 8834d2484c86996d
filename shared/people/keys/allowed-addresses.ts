import ipaddr from 'ipaddr.js';

/** Per key. For more, a subnet is the right form. */
export const ALLOWED_ADDRESSES_MAX = 100;

/** ::ffff:0:0/96, in which IPv4 addresses are written as IPv6 (RFC 4291 §2.5.5.2). */
const MAPPED_BITS = 96;

/** Equal subnets get equal texts: mapped addresses become IPv4, host bits 0. Undefined: malformed. */
export function canonicalSubnet(text: string): string | undefined {
  const [address = '', bits, ...more] = text.trim().split('/');
  if (more.length > 0 || !isAddress(address) || (bits !== undefined && !/^\d{1,3}$/.test(bits))) return undefined;
  const parsed = ipaddr.parse(address);
  const mapped = parsed instanceof ipaddr.IPv6 && parsed.isIPv4MappedAddress();
  const whole = parsed.kind() === 'ipv4' ? 32 : 128;
  const given = bits === undefined ? whole : Number(bits);
  if (given > whole || (mapped && given < MAPPED_BITS)) return undefined;
  const plain = ipaddr.process(address);
  const length = mapped ? given - MAPPED_BITS : given;
  if (plain instanceof ipaddr.IPv4) {
    return length === 32 ? plain.toString() : `${ipaddr.IPv4.networkAddressFromCIDR(`${plain}/${length}`)}/${length}`;
  }
  return length === 128 ? plain.toString() : `${ipaddr.IPv6.networkAddressFromCIDR(`${plain}/${length}`)}/${length}`;
}

/** `isValid` also accepts forms like `1` and `0x7f.1`. */
function isAddress(text: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text);
}

/** For subnets in canonical form: the smaller of the two, or nothing. */
export function subnetIntersection(a: string, b: string): string | undefined {
  const [first, second] = [ipaddr.parseCIDR(withBits(a)), ipaddr.parseCIDR(withBits(b))];
  const [smaller, larger, text] = first[1] >= second[1] ? [first, second, a] : [second, first, b];
  if (smaller[0].kind() !== larger[0].kind()) return undefined;
  return smaller[0].match(larger) ? text : undefined;
}

function withBits(subnet: string): string {
  if (subnet.includes('/')) return subnet;
  return `${subnet}/${ipaddr.parse(subnet).kind() === 'ipv4' ? 32 : 128}`;
}
