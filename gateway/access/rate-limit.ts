import type { Request } from 'express';
import { type ClientRateLimitInfo, type RateLimitInfo, rateLimit, type Store } from 'express-rate-limit';
import type { Clock } from '../../shared/runtime/clock.ts';
import { sendProblem } from '../http/answer.ts';
import { callerOf, type Handler, type Reply } from '../http/context.ts';
import type { RateCounter } from './counter.ts';
import { WINDOW_MS } from './window.ts';

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
      return `${perMinute} ${countedAs(keyId)}`;
    },
    limit: (_req, res) => callerOf(asReply(res)).perMinute,
    handler: (req, res) => {
      refuse(asReply(res), tell(req, asReply(res), clock), 'was not processed');
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

/**
 * The store of express-rate-limit that counts in the product's own, over all processes. Its keys are `<limit> <who is counted>`:
 * the library hands on one string, and the counter wants to know the limit.
 */
class RateLimitStore implements Store {
  readonly #counter: RateCounter;
  readonly #clock: Clock;

  constructor(counter: RateCounter, clock: Clock) {
    this.#counter = counter;
    this.#clock = clock;
  }

  async increment(key: string): Promise<ClientRateLimitInfo> {
    const blank = key.indexOf(' ');
    const { rank, endsMs } = await this.#counter.count(key.slice(blank + 1), Number(key.slice(0, blank)));
    const restMs = endsMs - this.#clock.monotonicMs();
    return { totalHits: rank, resetTime: new Date(this.#clock.now().getTime() + restMs) };
  }

  /** Part of the interface; every request counts, whatever became of it. */
  decrement(): void {}

  /** Part of the interface; a window ends by itself. */
  resetKey(): void {}
}

/** Counts this request as `cost` requests of its key, 1 at least; false: it has fewer left, and 429 is answered. */
export type Charge = (res: Reply, cost: number) => Promise<boolean>;

/**
 * For what costs the store more than a usual request, once the endpoint knows how much. What was left is used up either way.
 * Nothing counts as more than the key may make in a minute: with a small limit it could never be asked for.
 */
export function createCharge(counter: RateCounter, clock: Clock): Charge {
  return async (res, cost) => {
    const { keyId, perMinute } = callerOf(res);
    const more = Math.min(cost, perMinute) - 1; // It was counted once when it came.
    if (more <= 0) return true;
    const { rank, endsMs } = await counter.countMany(countedAs(keyId), perMinute, more);
    const told = tellLeft(res, perMinute, perMinute - rank, endsMs - clock.monotonicMs());
    if (rank > perMinute) refuse(res, told, `counts as ${more + 1} and was not processed`);
    return rank <= perMinute;
  };
}

function countedAs(keyId: string): string {
  return `key:${keyId}`;
}

function tell(req: Request, res: Reply, clock: Clock): Told {
  // express-rate-limit sets it (`requestPropertyName`) before it calls anyone.
  const { limit, remaining, resetTime } = (req as Request & { readonly rateLimit: RateLimitInfo }).rateLimit;
  return tellLeft(
    res,
    limit,
    remaining,
    resetTime === undefined ? WINDOW_MS : resetTime.getTime() - clock.now().getTime(),
  );
}

/** draft-ietf-httpapi-ratelimit-headers: what the key may do, what is left of it, and for how long. */
function tellLeft(res: Reply, limit: number, left: number, restMs: number): Told {
  const seconds = Math.max(Math.ceil(restMs / 1000), 1);
  res.locals.rateHeaders = [
    'RateLimit-Policy',
    `"default";q=${limit};w=${WINDOW_MS / 1000}`,
    'RateLimit',
    `"default";r=${Math.max(left, 0)};t=${seconds}`,
  ];
  return { limit, seconds };
}

interface Told {
  readonly limit: number;
  /** Until the window ends. */
  readonly seconds: number;
}

function refuse(res: Reply, { limit, seconds }: Told, what: string): void {
  sendProblem(res, 'rate_limited', {
    detail: `The key may make ${limit} requests a minute. This one ${what}; the next may come in ${seconds} s.`,
    headers: ['Retry-After', String(seconds)],
  });
}

/** express-rate-limit's types know nothing of our context, but `begin` has filled `locals` of every response. */
function asReply(res: unknown): Reply {
  return res as Reply;
}
