import type { Clock } from '../../shared/runtime/clock.ts';
import { AddressGuard, type GuardOptions, type UrlVerdict } from '../../shared/webhooks/address-guard.ts';
import type { ProblemAnswer } from '../http/answer.ts';
import { type FieldProblems, invalidRequest } from '../http/fields.ts';
import type { ProblemSlug } from '../http/problem.ts';
import { ReadCache } from '../read-cache.ts';

/** How long a host name may take to resolve; a request must not wait for somebody's slow name server. */
const RESOLVE_WITHIN_MS = 2_000;
/** How long the answer for a host is believed. Nobody connects on the strength of it: that is checked anew at every connect. */
const BELIEVED_MS = 10_000;
const HOSTS_MAX = 10_000;

/** Says what is wrong with an address that a caller gave in `field`; its host is looked up, at most once in some seconds. */
export type CheckUrl = (url: string, field: string, problems: FieldProblems) => Promise<void>;

/** Throws `StartError` when a subnet of the allow-list is malformed. */
export function createCheckUrl(options: GuardOptions, clock: Clock, resolveWithinMs = RESOLVE_WITHIN_MS): CheckUrl {
  const guard = new AddressGuard(options);
  const hosts = new ReadCache<string, UrlVerdict>({
    ttlMs: BELIEVED_MS,
    maxEntries: HOSTS_MAX,
    clock,
    nameOf: (host) => host,
    read: (host) => inTime(guard.checkUrl(`https://${host}/`), tooSlow(host), resolveWithinMs),
  });
  return async (url, field, problems) => {
    const form = guard.checkForm(url);
    const verdict = form.ok ? await hosts.get(new URL(url).hostname) : form;
    if (verdict !== undefined && !verdict.ok) problems.add(field, verdict.code, verdict.detail);
  };
}

/** The 400 of a request with such an address: the problem's own slug when nothing else is wrong. */
export function invalidUrlRequest(problems: FieldProblems): readonly [ProblemSlug, ProblemAnswer] {
  const [only] = problems.listed;
  if (problems.count !== 1 || only?.code !== 'url_not_allowed') return invalidRequest(problems);
  return ['url_not_allowed', { detail: `${only.field}: ${only.detail}`, errors: problems.listed }];
}

function tooSlow(host: string): UrlVerdict {
  return { ok: false, code: 'url_not_allowed', detail: `The host name ${host} could not be resolved in time.` };
}

/** `late` when it takes longer; what comes then is dropped. */
async function inTime<T>(work: Promise<T>, late: T, withinMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<T>((resolve) => {
    timer = setTimeout(() => resolve(late), withinMs);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
