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

/** How long the answer for a host is believed. Nobody connects on the strength of it: that is checked anew at every connect. */
const BELIEVED_MS = 10_000;
const HOSTS_MAX = 10_000;

/** Says what is wrong with an address that a caller gave in `field`, as one of the problems. */
export interface UrlCheck {
  /** What can be said without asking anybody; whether nothing is wrong. */
  form(url: string, field: string, problems: FieldProblems): boolean;
  /** Looks up the host of an address whose form is good, at most once in some seconds. */
  host(url: string, field: string, problems: FieldProblems): Promise<void>;
}

export interface UrlCheckOptions extends GuardOptions {
  /** How long a request waits for somebody's slow name server. */
  readonly withinMs: number;
  /**
   * Whether a host that this machine's DNS does not know is refused. What others connect to needs only not to be private: their
   * DNS may know it.
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

/** The 400 of a request with such an address: the problem's own slug when nothing else is wrong. */
export function invalidUrlRequest(problems: FieldProblems): readonly [ProblemSlug, ProblemAnswer] {
  const [only] = problems.listed;
  if (problems.count !== 1 || only?.code !== 'url_not_allowed') return invalidRequest(problems);
  return ['url_not_allowed', { detail: `${only.field}: ${only.detail}`, errors: problems.listed }];
}
