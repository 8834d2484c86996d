import type { Request } from 'express';
import { type RateLimitInfo, rateLimit } from 'express-rate-limit';
import type { RateCounter } from '../../shared/rate/counter.ts';
import { WINDOW_MS } from '../../shared/rate/window.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { sendProblem } from './answer.ts';
import { callerOf, type Handler, type Reply } from './context.ts';
import { RateLimitStore, storeKey } from './rate-limit-store.ts';

/**
 * "Limits": requests a minute per API key, over all processes and machines. Comes right after authentication, so that
 * whatever a key's owner asks for counts and every answer to it tells what is left. A store that cannot count is an error
 * (503), never a free pass.
 */
export function createRateLimit(counter: RateCounter, clock: Clock): Handler {
  const limiter = rateLimit({
    windowMs: WINDOW_MS,
    store: new RateLimitStore(counter, clock),
    keyGenerator: (_req, res) => {
      const { keyId, perMinute } = callerOf(asReply(res));
      return storeKey(`key:${keyId}`, perMinute);
    },
    limit: (_req, res) => callerOf(asReply(res)).perMinute,
    handler: (req, res) => {
      const { limit, seconds } = tell(req, asReply(res), clock);
      sendProblem(asReply(res), 'rate_limited', {
        detail: `The key may make ${limit} requests a minute. This one was not processed; the next may come in ${seconds} s.`,
        headers: ['Retry-After', String(seconds)],
      });
    },
    // Written by answer.ts with all others. The library's own count the rest by this machine's clock.
    standardHeaders: false,
    legacyHeaders: false,
    // They look for mistakes with addresses, which are not counted here.
    validate: false,
  });
  return (req, res: Reply, next) => {
    // A promise that never rejects: what fails is given to `next`.
    void limiter(req, res, (error?: unknown) => {
      if (error === undefined) tell(req, res, clock);
      next(error);
    });
  };
}

/** draft-ietf-httpapi-ratelimit-headers: what the key may do, and what is left of it. */
function tell(req: Request, res: Reply, clock: Clock): { readonly limit: number; readonly seconds: number } {
  // express-rate-limit sets it (`requestPropertyName`) before it calls anyone.
  const { limit, remaining, resetTime } = (req as Request & { readonly rateLimit: RateLimitInfo }).rateLimit;
  const restMs = resetTime === undefined ? WINDOW_MS : resetTime.getTime() - clock.now().getTime();
  const seconds = Math.max(Math.ceil(restMs / 1000), 1);
  res.locals.rateHeaders = [
    'RateLimit-Policy',
    `"default";q=${limit};w=${WINDOW_MS / 1000}`,
    'RateLimit',
    `"default";r=${remaining};t=${seconds}`,
  ];
  return { limit, seconds };
}

/** express-rate-limit's types know nothing of our context, but `begin` has filled `locals` of every response. */
function asReply(res: unknown): Reply {
  return res as Reply;
}
