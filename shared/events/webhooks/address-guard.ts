import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { canonicalSubnet } from '../../people/keys/allowed-addresses.ts';
import type { Config } from '../../platform/config/settings.ts';
import { type AccountId, isAccountId } from '../../platform/runtime/ids.ts';
import { StartError } from '../../platform/runtime/lifecycle.ts';
import { createHostResolver, type ResolveHost } from '../../platform/runtime/resolve-host.ts';

export interface GuardOptions {
  readonly allowHttp: boolean;
  /** Reachable although not public, in the form of HARKARA_WEBHOOK_ALLOW_SUBNETS. */
  readonly allowSubnets: readonly string[];
  /** Absent: `createHostResolver`. */
  readonly resolve?: ResolveHost;
}

export function guardOptions(config: Pick<Config, 'webhookAllowHttp' | 'webhookAllowSubnets'>): GuardOptions {
  return { allowHttp: config.webhookAllowHttp === 'yes', allowSubnets: config.webhookAllowSubnets };
}

export class RefusedAddress extends Error {
  readonly code = 'refused_address';
}

export type UrlVerdict =
  | { readonly ok: true }
  | { readonly ok: false; readonly code: 'url_not_allowed'; readonly detail: string };

const URL_LENGTH_MAX = 2_048;

/**
 * Keeps customers' webhooks away from private networks (server-side request forgery). A url is checked at registration
 * and again at every connection: names are resolved once, all addresses are checked, and one of the checked addresses
 * is used, so a name that changes in between (DNS rebinding) gains nothing. An operator may open subnets for one port
 * or account only (docs/decisions/0029).
 */
export class AddressGuard {
  readonly #allowHttp: boolean;
  readonly #allowed: readonly Allowed[];
  /** For the accounts that may reach more than others. */
  readonly #own: ReadonlyMap<AccountId, AddressGuard>;
  readonly #resolve: ResolveHost;

  /** Throws `StartError` when a subnet of the allow-list is malformed. */
  constructor(options: GuardOptions) {
    this.#allowHttp = options.allowHttp;
    const resolve = options.resolve ?? createHostResolver();
    const all = options.allowSubnets.map(parseAllowed);
    const common = all.filter(({ account }) => account === undefined);
    this.#resolve = resolve;
    this.#allowed = common;
    this.#own = new Map(
      all.flatMap(({ account }) => {
        if (account === undefined) return [];
        const allowSubnets = [...common, ...all.filter((one) => one.account === account)].map(({ form }) => form);
        return [[account, new AddressGuard({ ...options, resolve, allowSubnets })]];
      }),
    );
  }

  /** Accounts for which nothing is opened share this one. */
  for(account: AccountId): AddressGuard {
    return this.#own.get(account) ?? this;
  }

  allows(address: string, port: number): boolean {
    const open = this.#allowed.filter((one) => one.port === undefined || one.port === port);
    return (
      isPublicAddress(address) ||
      inSubnets(
        address,
        open.map(({ subnet }) => subnet),
      )
    );
  }

  /**
   * All addresses of a host, checked. `host`: a name or a literal address, IPv6 with or without brackets. Rejects with
   * `RefusedAddress` when any address is not allowed at that port, and with the resolver's error when there is none.
   */
  async addressesOf(host: string, port: number): Promise<readonly string[]> {
    const literal = literalAddress(host);
    const addresses = literal === undefined ? await this.#resolve(host) : [literal];
    const refused = addresses.find((address) => !this.allows(address, port));
    if (refused !== undefined) throw new RefusedAddress(`${refused} is not a public address`);
    return addresses;
  }

  /** Every rule for an endpoint's url that needs no DNS lookup. */
  checkForm(text: string): UrlVerdict {
    if (text.length > URL_LENGTH_MAX) return refuse(`The url must have at most ${URL_LENGTH_MAX} characters.`);
    // The URL parser drops these at the ends, and line breaks anywhere; others might read the url as another address.
    if (/[\s\p{Cc}]/u.test(text)) return refuse('The url must not hold spaces or control characters.');
    // The URL parser also normalizes unusual IPv4 literals (0x7f.1, 2130706433).
    if (!URL.canParse(text)) return refuse('The url is malformed.');
    const url = new URL(text);
    if (url.protocol !== 'https:' && !(url.protocol === 'http:' && this.#allowHttp)) {
      return refuse(
        this.#allowHttp ? 'The url must begin with https:// or http://.' : 'The url must begin with https://.',
      );
    }
    if (url.username !== '' || url.password !== '') return refuse('The url must not hold a user name or password.');
    return { ok: true };
  }

  async checkUrl(text: string): Promise<UrlVerdict> {
    const form = this.checkForm(text);
    if (!form.ok) return form;
    const url = new URL(text);
    const { hostname } = url;
    try {
      await this.addressesOf(hostname, portOf(url));
      return { ok: true };
    } catch (error) {
      if (error instanceof RefusedAddress) return refuse('The url leads to a private or reserved address.');
      return refuse(`The host name ${hostname} cannot be resolved.`);
    }
  }
}

interface Allowed {
  /** As written, without the account. */
  readonly form: string;
  readonly subnet: Subnet;
  /** Absent: every port. */
  readonly port?: number;
  /** Absent: for all. */
  readonly account?: AccountId;
}

/** Reads `10.1.0.0/16`, `10.1.0.0/16:8443`, `fd00::/8`, `[fd00::/8]:8443`, each perhaps after `acc_…=`. */
function parseAllowed(text: string): Allowed {
  const [, account, form = ''] = /^(?:([^=]*)=)?(.*)$/.exec(text) ?? [];
  const [, six, four, digits] = /^(?:\[([^\]]+)\]|([\d.]+(?:\/\d+)?))(?::(\d{1,5}))?$/.exec(form) ?? [];
  const subnet = parseSubnet(six ?? four ?? form);
  const port = digits === undefined ? undefined : Number(digits);
  const isWrong = subnet === undefined || (port !== undefined && (port < 1 || port > 65_535));
  if (isWrong || (account !== undefined && !isAccountId(account))) {
    const forms =
      '10.1.0.0/16, 10.1.0.0/16:8443 for one port, [fd00::/8]:8443, or acc_…=10.1.0.0/16:8443 for one account';
    throw new StartError(`HARKARA_WEBHOOK_ALLOW_SUBNETS: "${text}" is not a subnet like ${forms}.`);
  }
  return { form, subnet, ...(port === undefined ? {} : { port }), ...(account === undefined ? {} : { account }) };
}

export function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port);
}

/** Undefined when the host is a name. */
export function literalAddress(host: string): string | undefined {
  const bare = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
  return isIP(bare) === 0 ? undefined : bare;
}

function refuse(detail: string): UrlVerdict {
  return { ok: false, code: 'url_not_allowed', detail };
}

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

function isPublicAddress(text: string): boolean {
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
