import type { Request } from 'express';
import { type ProblemAnswer, sendProblem } from '../http/answer.ts';
import { type CallerAddress, networkOf } from '../http/caller-address.ts';
import type { Reply } from '../http/context.ts';
import { PROBLEMS, type ProblemSlug } from '../http/problem.ts';
import type { GatewayDeps } from '../process/deps.ts';
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
  const limit = config.authFailuresPerMinute;
  return async (req, res, slug, more = {}) => {
    const address = addressOf(req);
    const { rank, endsMs } = await counter.count(`ip:${networkOf(address)}`, limit);
    if (rank <= limit) {
      // RFC 9110 §11.6.1: a 401 must name the scheme.
      const challenge =
        PROBLEMS[slug].status === 401 ? { headers: ['WWW-Authenticate', 'Bearer realm="harkara"'] } : {};
      sendProblem(res, slug, { ...challenge, ...(slug === 'ip_not_allowed' ? cameFrom(address) : {}), ...more });
      return;
    }
    const seconds = Math.max(Math.ceil((endsMs - clock.monotonicMs()) / 1000), 1);
    sendProblem(res, 'auth_failures_limited', { headers: ['Retry-After', String(seconds)] });
  };
}

/** Names the address that we see. That shows when it is the address of a proxy which `TRUST_PROXY` lacks. */
function cameFrom(address: string): ProblemAnswer {
  return {
    detail: `The request came from ${address}, and this key may not be used from there. ${PROBLEMS.ip_not_allowed.advice}`,
  };
}
