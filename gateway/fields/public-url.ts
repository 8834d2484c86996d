import type { Clock } from '../../shared/runtime/clock.ts';
import { FreshCache } from '../../shared/runtime/fresh-cache.ts';
import { within } from '../../shared/runtime/within.ts';
import {
  AddressGuard,
  type GuardOptions,
  literalAddress,
  RefusedAddress,
} from '../../shared/webhooks/address-guard.ts';
import type { ProblemAnswer } from '../http/answer.ts';
import { type FieldProblems, invalidRequest } from '../http/fields.ts';
import type { ProblemSlug } from '../http/problem.ts';
import { type Kind, string } from './field.ts';

/**
 * How long the result for a host is used again. No connection relies on it, because each connection checks the address itself.
 */
const BELIEVED_MS = 10_000;
const HOSTS_MAX = 10_000;

/** An address. What it points to is checked by a `UrlCheck`, because that needs the operator's settings. */
export function address(description: string): Kind<string> {
  return string({ description, format: 'uri', minLength: 1, maxLength: 2_048 }, (url) => url);
}

/** Checks what an address points to. Adds to `problems` what is wrong with it, for the field `field`. */
export interface UrlCheck {
  /** Makes the checks that need no network. True when they find nothing. */
  form(url: string, field: string, problems: FieldProblems): boolean;
  /** Looks up the host of an address that passed `form`. Each host is looked up at most once in some seconds. */
  host(url: string, field: string, problems: FieldProblems): Promise<void>;
}

export interface UrlCheckOptions extends GuardOptions {
  /** How long a request waits for a slow name server. */
  readonly withinMs: number;
  /**
   * Whether to refuse a host that our DNS does not know. False for addresses that only the provider connects to,
   * because the provider's DNS may know them.
   */
  readonly mustResolve: boolean;
}

/** Throws `StartError` when a subnet of the allow-list is malformed. */
export function createUrlCheck({ withinMs, mustResolve, ...options }: UrlCheckOptions, clock: Clock): UrlCheck {
  const guard = new AddressGuard(options);
  const hosts = new FreshCache<string, { readonly problem?: string }>({
    freshMs: BELIEVED_MS,
    maxEntries: HOSTS_MAX,
    clock,
    read: async (host) => {
      const unknown = (problem: string) => (mustResolve ? { problem } : {});
      const tooSlow = unknown(`The host name ${host} could not be resolved in time.`);
      const looked = guard.addressesOf(host).then(
        () => ({}),
        (error: unknown) =>
          error instanceof RefusedAddress
            ? { problem: LEADS_INSIDE }
            : unknown(`The host name ${host} cannot be resolved.`),
      );
      return (await within(withinMs, looked)) ?? tooSlow;
    },
  });
  return {
    form(url, field, problems) {
      const form = guard.checkForm(url);
      const literal = form.ok ? literalAddress(new URL(url).hostname) : undefined;
      if (!form.ok) problems.add(field, form.code, form.detail);
      else if (literal !== undefined && !guard.allows(literal)) problems.add(field, 'url_not_allowed', LEADS_INSIDE);
      else return true;
      return false;
    },
    async host(url, field, problems) {
      const found = await hosts.get(new URL(url).hostname);
      if (found?.problem !== undefined) problems.add(field, 'url_not_allowed', found.problem);
    },
  };
}

const LEADS_INSIDE = 'The url leads to a private or reserved address.';

/** The 400 for such an address. It has a slug of its own if nothing else is wrong with the request. */
export function invalidUrlRequest(problems: FieldProblems): readonly [ProblemSlug, ProblemAnswer] {
  const [only] = problems.listed;
  if (problems.count !== 1 || only?.code !== 'url_not_allowed') return invalidRequest(problems);
  return ['url_not_allowed', { detail: `${only.field}: ${only.detail}`, errors: problems.listed }];
}
