import { isIP } from 'node:net';
import type { Config } from '../config/settings.ts';
import { StartError } from '../runtime/lifecycle.ts';
import { inSubnets, isPublicAddress, parseSubnet, type Subnet } from './public-address.ts';
import { createHostResolver, type ResolveHost } from './resolve-host.ts';

export interface GuardOptions {
  readonly allowHttp: boolean;
  /** Subnets or addresses that are reachable although they are not public. */
  readonly allowSubnets: readonly string[];
  /** Absent: `createHostResolver`. Tests give their own. */
  readonly resolve?: ResolveHost;
}

export function guardOptions(config: Pick<Config, 'webhookAllowHttp' | 'webhookAllowSubnets'>): GuardOptions {
  return { allowHttp: config.webhookAllowHttp === 'yes', allowSubnets: config.webhookAllowSubnets };
}

/** At least one address of the host must not be connected to. */
export class RefusedAddress extends Error {
  readonly code = 'refused_address';
}

export type UrlVerdict =
  | { readonly ok: true }
  | { readonly ok: false; readonly code: 'url_not_allowed'; readonly detail: string };

const URL_LENGTH_MAX = 2_048;

/**
 * Keeps customers' webhooks away from private networks (server-side request forgery). The same guard checks a url at registration
 * and again at every connection. Names are resolved once, all addresses are checked, and the connection uses one of the checked
 * addresses. So a name that changes in between (DNS rebinding) gains nothing.
 */
export class AddressGuard {
  readonly #allowHttp: boolean;
  readonly #subnets: readonly Subnet[];
  readonly #resolve: ResolveHost;

  /** Throws `StartError` when a subnet of the allow-list is malformed. */
  constructor(options: GuardOptions) {
    this.#allowHttp = options.allowHttp;
    this.#resolve = options.resolve ?? createHostResolver();
    this.#subnets = options.allowSubnets.map((text) => {
      const subnet = parseSubnet(text);
      if (subnet === undefined)
        throw new StartError(`WEBHOOK_ALLOW_SUBNETS: "${text}" is not a subnet like 10.1.0.0/16.`);
      return subnet;
    });
  }

  allows(address: string): boolean {
    return isPublicAddress(address) || inSubnets(address, this.#subnets);
  }

  /**
   * The addresses of a host, all of them checked. `host` is a name or a literal address, IPv6 with or without brackets. Rejects
   * with `RefusedAddress` when any address is not allowed, and with the resolver's error when there is none.
   */
  async addressesOf(host: string): Promise<readonly string[]> {
    const literal = literalAddress(host);
    const addresses = literal === undefined ? await this.#resolve(host) : [literal];
    const refused = addresses.find((address) => !this.allows(address));
    if (refused !== undefined) throw new RefusedAddress(`${refused} is not a public address`);
    return addresses;
  }

  /** Whether a url may be an endpoint's: every rule that needs no DNS lookup. */
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
    const { hostname } = new URL(text);
    try {
      await this.addressesOf(hostname);
      return { ok: true };
    } catch (error) {
      if (error instanceof RefusedAddress) return refuse('The url leads to a private or reserved address.');
      return refuse(`The host name ${hostname} cannot be resolved.`);
    }
  }
}

/** Checks a url before it is registered. */
export function checkEndpointUrl(url: string, options: GuardOptions): Promise<UrlVerdict> {
  return new AddressGuard(options).checkUrl(url);
}

/** The address that a url's host spells out; undefined when it is a name. */
export function literalAddress(host: string): string | undefined {
  const bare = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
  return isIP(bare) === 0 ? undefined : bare;
}

function refuse(detail: string): UrlVerdict {
  return { ok: false, code: 'url_not_allowed', detail };
}
