import type { Request } from 'express';
import { type ProblemAnswer, sendProblem } from '../http/answer.ts';
import { type CallerAddress, callerNetwork } from '../http/caller-address.ts';
import type { Reply } from '../http/context.ts';
import type { GatewayDeps } from '../http/deps.ts';
import { PROBLEMS, type ProblemSlug } from '../http/problem.ts';
import type { RateCounter } from './counter.ts';

export type Unauthorized = (req: Request, res: Reply, slug: ProblemSlug, more?: ProblemAnswer) => Promise<void>;

/**
 * Answers requests without a good key (or signature): with the reason a few times a minute for each address, then
 * with 429. Counted over all processes, like requests of keys. An address above its limit costs the store nothing
 * more until its minute is over.
 */
export function createUnauthorized(
  { clock, config }: Pick<GatewayDeps, 'clock' | 'config'>,
  counter: RateCounter,
  addressOf: CallerAddress,
): Unauthorized {
  return async (req, res, slug, more = {}) => {
    // Somebody who has not signed in yet asks who it is. That is no failure, and costs the store nothing.
    if (slug === 'session_missing') return sendProblem(res, slug, { ...CHALLENGE, ...more });
    const address = addressOf(req);
    const { name, limit } = countedAs(slug, config.authFailuresPerMinute);
    const { rank, endsMs } = await counter.count(`${name}:${callerNetwork(address)}`, limit);
    if (rank <= limit) {
      const challenge = PROBLEMS[slug].status === 401 ? CHALLENGE : {};
      sendProblem(res, slug, { ...challenge, ...(slug === 'ip_not_allowed' ? cameFrom(address) : {}), ...more });
      return;
    }
    const seconds = Math.max(Math.ceil((endsMs - clock.monotonicMs()) / 1000), 1);
    sendProblem(res, 'auth_failures_limited', { headers: ['Retry-After', String(seconds)] });
  };
}

/** RFC 9110 §11.6.1: a 401 must name the scheme. */
export const CHALLENGE = { headers: ['WWW-Authenticate', 'Bearer realm="harkara"'] } as const;

/**
 * A cookie cannot be guessed, and the pages of a whole office may find that their sessions have ended in the same minute. They
 * count apart, and have more.
 */
const ENDED_SESSIONS = 10;

function countedAs(slug: ProblemSlug, limit: number): { readonly name: string; readonly limit: number } {
  return slug === 'session_ended' || slug === 'other_user'
    ? { name: 'session-ip', limit: limit * ENDED_SESSIONS }
    : { name: 'ip', limit };
}

/** Names the address that we see. That shows when it is the address of a proxy which `HARKARA_TRUST_PROXY` lacks. */
function cameFrom(address: string): ProblemAnswer {
  return {
    detail: `The request came from ${address}, and this key may not be used from there. ${PROBLEMS.ip_not_allowed.advice}`,
  };
}
