import {
  AddressGuard,
  type GuardOptions,
  literalAddress,
  portOf,
  RefusedAddress,
} from '../../../shared/events/webhooks/address-guard.ts';
import type { Clock } from '../../../shared/platform/runtime/clock.ts';
import { FreshCache } from '../../../shared/platform/runtime/fresh-cache.ts';
import { type AccountId, liveAccountOf } from '../../../shared/platform/runtime/ids.ts';
import { within } from '../../../shared/platform/runtime/within.ts';
import type { ProblemAnswer } from '../answer.ts';
import { type FieldProblems, invalidRequest } from '../field-problems.ts';
import type { ProblemSlug } from '../problem.ts';
import { type Kind, string } from './field.ts';

/** How long a host's result is used again. Safe, because every connection checks the address itself. */
const BELIEVED_MS = 10_000;
const HOSTS_MAX = 10_000;
/** Look-ups of one account at a time. Each occupies the name server for seconds if nobody answers for it. */
const LOOK_UPS_MAX = 16;

/** A URL. A `UrlCheck` checks where it points, because that needs the operator's settings. */
export function address(description: string): Kind<string> {
  return string({ description, format: 'uri', minLength: 1, maxLength: 2_048 }, (url) => url);
}

/** Checks where a URL of an account points. Adds what is wrong to `problems`, for the field `field`. */
export interface UrlCheck {
  /** The checks that need no network. True when they find nothing. */
  form(account: AccountId, url: string, field: string, problems: FieldProblems): boolean;
  /**
   * Looks up the host of a URL that passed `form`, at most once in some seconds per host. An account with too many slow
   * look-ups gets the result of a look-up that timed out.
   */
  host(account: AccountId, url: string, field: string, problems: FieldProblems): Promise<void>;
}

interface UrlCheckOptions extends GuardOptions {
  /** How long a request waits for a slow name server. */
  readonly withinMs: number;
  /**
   * Whether to refuse a host that our DNS does not know. False for URLs that only the provider connects to, because its
   * DNS may know them.
   */
  readonly mustResolve: boolean;
}

/** Throws `StartError` when a subnet of the allow-list is malformed. */
export function createUrlCheck({ withinMs, mustResolve, ...options }: UrlCheckOptions, clock: Clock): UrlCheck {
  const guard = new AddressGuard(options);
  /** Running look-ups, including those that nobody waits for any more. */
  const lookUps = new Map<string, number>();
  const count = (account: string, by: 1 | -1): void => {
    const running = (lookUps.get(account) ?? 0) + by;
    if (running === 0) lookUps.delete(account);
    else lookUps.set(account, running);
  };
  const hosts = new FreshCache<OwnOrigin, Found>({
    freshMs: BELIEVED_MS,
    isBrief: ({ isBusy }) => isBusy === true,
    maxEntries: HOSTS_MAX,
    clock,
    read: async (key) => {
      const [account, origin] = key.split(' ') as [AccountId, string]; // a key is made of these two
      const url = new URL(origin);
      const unknown = (problem: string) => (mustResolve ? { problem } : {});
      const tooSlow = unknown(`The host name ${url.hostname} could not be resolved in time.`);
      if ((lookUps.get(account) ?? 0) >= LOOK_UPS_MAX) return { ...tooSlow, isBusy: true };
      count(account, 1);
      const looked = guard
        .for(liveAccountOf(account))
        .addressesOf(url.hostname, portOf(url))
        .finally(() => count(account, -1))
        .then(
          () => ({}),
          (error: unknown) =>
            error instanceof RefusedAddress
              ? { problem: LEADS_INSIDE }
              : unknown(`The host name ${url.hostname} cannot be resolved.`),
        );
      return (await within(withinMs, looked)) ?? tooSlow;
    },
  });
  return {
    form(account, text, field, problems) {
      const form = guard.checkForm(text);
      if (!form.ok) return problems.add(field, form.code, form.detail) ?? false;
      const url = new URL(text);
      const literal = literalAddress(url.hostname);
      if (literal === undefined || guard.for(liveAccountOf(account)).allows(literal, portOf(url))) return true;
      return problems.add(field, 'url_not_allowed', LEADS_INSIDE) ?? false;
    },
    async host(account, url, field, problems) {
      const found = await hosts.get(`${account} ${new URL(url).origin}`);
      if (found?.problem !== undefined) problems.add(field, 'url_not_allowed', found.problem);
    },
  };
}

type OwnOrigin = `${AccountId} ${string}`;

interface Found {
  readonly problem?: string;
  /** Not looked up, because too many look-ups were running. */
  readonly isBusy?: true;
}

const LEADS_INSIDE = 'The url leads to a private or reserved address.';

/** The 400 for such a URL. It has its own slug if nothing else is wrong with the request. */
export function invalidUrlRequest(problems: FieldProblems): readonly [ProblemSlug, ProblemAnswer] {
  const [only] = problems.listed;
  if (problems.count !== 1 || only?.code !== 'url_not_allowed') return invalidRequest(problems);
  return ['url_not_allowed', { detail: `${only.field}: ${only.detail}`, errors: problems.listed }];
}
