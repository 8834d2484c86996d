import ipaddr from 'ipaddr.js';

/** More would be a range. */
export const ALLOWED_ADDRESSES_MAX = 100;

/** ::ffff:0:0/96, in which IPv4 addresses are written as IPv6 (RFC 4291 §2.5.5.2). */
const MAPPED_BITS = 96;

/**
 * An address or subnet that a key may be limited to, in the form that is stored: IPv4-mapped as IPv4, the host's bits of a subnet
 * cleared, so that equal ones are equal texts. Undefined for any other text.
 */
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

/** `isValid` takes forms like `1` and `0x7f.1` too. */
function isAddress(text: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text);
}
