import assert from 'node:assert/strict';
import type { Request } from 'express';
import { type ClientRateLimitInfo, type RateLimitInfo, rateLimit, type Store } from 'express-rate-limit';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import { type ProblemAnswer, sendProblem } from '../http/answer.ts';
import { type CallerAddress, callerNetwork } from '../http/caller-address.ts';
import { type Charge, type Handler, type Reply, requesterOf } from '../http/context.ts';
import type { GatewayDeps } from '../http/deps.ts';
import { PROBLEMS, type ProblemSlug } from '../http/problem.ts';
import type { Counted, RateCounter } from './counter.ts';
import { WINDOW_MS } from './window.ts';

/**
 * "Limits": requests a minute per API key or user, over all processes and machines. Comes right after authentication,
 * so that every request of a key counts. A request of a key made by another key counts for both, so making keys gains
 * no requests (docs/decisions/0025). When the store cannot count, the answer is 503; nothing passes uncounted.
 */
export function createRateLimit(counter: RateCounter, clock: Clock): Handler {
  const limiter = rateLimit({
    windowMs: WINDOW_MS,
    store: new RateLimitStore(counter, clock),
    keyGenerator: (_req, res) => {
      return windowsOf(asReply(res))
        .flatMap(({ limit, name }) => [limit, name])
        .join(' ');
    },
    limit: (_req, res) => requesterOf(asReply(res)).perMinute,
    handler: (req, res) => {
      refuse(asReply(res), tell(req, asReply(res), clock), 'was not processed');
    },
    // answer.ts writes the headers. The library would compute the remaining time by this machine's clock.
    standardHeaders: false,
    legacyHeaders: false,
    // The library's own checks concern addresses, which are not counted here.
    validate: false,
  });
  return (req, res: Reply, next) => {
    // This promise never rejects: errors go to `next`.
    void limiter(req, res, (error?: unknown) => {
      if (error === undefined) tell(req, res, clock);
      next(error);
    });
  };
}

/**
 * Connects express-rate-limit to our counter. The library passes only one string, but the counter needs the limits too:
 * a key is `<limit> <who is counted>` for each window that counts.
 */
class RateLimitStore implements Store {
  readonly #counter: RateCounter;
  readonly #clock: Clock;

  constructor(counter: RateCounter, clock: Clock) {
    this.#counter = counter;
    this.#clock = clock;
  }

  async increment(key: string): Promise<ClientRateLimitInfo> {
    const words = key.split(' ');
    const windows = words.flatMap((name, i) => (i % 2 === 0 ? [] : [{ limit: Number(words[i - 1]), name }]));
    const { rank, endsMs } = await countAll(windows, ({ name, limit }) => this.#counter.count(name, limit));
    const restMs = endsMs - this.#clock.monotonicMs();
    return { totalHits: rank, resetTime: new Date(this.#clock.now().getTime() + restMs) };
  }

  /** Required by the interface. Every request counts, whatever its answer. */
  decrement(): void {}

  resetKey(): void {}
}

/**
 * For requests that cost the store more than usual. A refused request uses up what was left. Nothing costs more than
 * the key's requests of a minute; otherwise a key with a small limit could never make it.
 */
export function createCharge(counter: RateCounter, clock: Clock): Charge {
  return async (res, cost) => {
    if (cost <= 1) return true; // It was counted once already.
    const { perMinute } = requesterOf(res);
    const more = Math.min(cost, perMinute) - 1;
    if (more === 0) return true;
    const count = ({ name, limit }: Window) => counter.countMany(name, limit, more);
    const { rank, endsMs } = await countAll(windowsOf(res), count);
    const told = tellLeft(res, perMinute, perMinute - rank, endsMs - clock.monotonicMs());
    if (rank > perMinute) refuse(res, told, `counts as ${more + 1} and was not processed`);
    return rank <= perMinute;
  };
}

interface Window {
  readonly name: string;
  readonly limit: number;
}

function windowsOf(res: Reply): readonly Window[] {
  const { who, account, perMinute, makers } = requesterOf(res);
  const own = who.kind === 'key' && who.test ? `test:${account?._id}` : `${who.kind}:${who.id}`;
  const ofMakers = makers.map((maker) => ({ name: `key:${maker.id}`, limit: maker.perMinute }));
  return [{ name: own, limit: perMinute }, ...ofMakers];
}

/**
 * Counts in each window only if those before let the request pass, so requests beyond a key's own rate take nothing
 * from its makers. Returns the window with the least left.
 */
async function countAll(
  [own, ...others]: readonly Window[],
  count: (window: Window) => Promise<Counted>,
): Promise<Counted> {
  assert(own !== undefined, 'a caller has a window of its own');
  let tightest = await count(own);
  for (const window of others) {
    if (tightest.rank > own.limit) break;
    const { rank, endsMs } = await count(window);
    const asOwn = own.limit - (window.limit - rank);
    if (asOwn > tightest.rank) tightest = { rank: asOwn, endsMs };
  }
  return tightest;
}

function tell(req: Request, res: Reply, clock: Clock): Told {
  // express-rate-limit sets it (`requestPropertyName`) before it calls a handler.
  const { limit, remaining, resetTime } = (req as Request & { readonly rateLimit: RateLimitInfo }).rateLimit;
  return tellLeft(
    res,
    limit,
    remaining,
    resetTime === undefined ? WINDOW_MS : resetTime.getTime() - clock.now().getTime(),
  );
}

/** The headers of draft-ietf-httpapi-ratelimit-headers: the limit, how much of it is left, and for how long. */
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
  readonly seconds: number;
}

function refuse(res: Reply, { limit, seconds }: Told, what: string): void {
  const { who, makers } = requesterOf(res);
  const shared =
    makers.length === 0 ? '' : ' A key made it: the requests of that one, and of all that it made, count too.';
  sendProblem(res, 'rate_limited', {
    detail: `${who.kind === 'key' ? 'The key' : 'You'} may make ${limit} requests a minute.${shared} This one ${what}; the next may come in ${seconds} s.`,
    headers: ['Retry-After', String(seconds)],
  });
}

/** express-rate-limit's types do not know our context, which `begin` has put into `locals`. */
function asReply(res: unknown): Reply {
  return res as Reply;
}

export type Unauthorized = (req: Request, res: Reply, slug: ProblemSlug, more?: ProblemAnswer) => Promise<void>;

/**
 * Answers requests without a valid key (or signature): with the reason a few times a minute per address, then with 429.
 * Counted over all processes. An address above its limit costs the store nothing more until its minute is over.
 */
export function createUnauthorized(
  { clock, config }: Pick<GatewayDeps, 'clock' | 'config'>,
  counter: RateCounter,
  addressOf: CallerAddress,
): Unauthorized {
  return async (req, res, slug, more = {}) => {
    // Somebody who has not signed in asks for the session: no failed attempt, so it is not counted.
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
 * Ended sessions count apart and have more: cookies cannot be guessed, and a whole office's sessions may end in the
 * same minute.
 */
const ENDED_SESSIONS = 10;

function countedAs(slug: ProblemSlug, limit: number): { readonly name: string; readonly limit: number } {
  return slug === 'session_ended' || slug === 'other_user'
    ? { name: 'session-ip', limit: limit * ENDED_SESSIONS }
    : { name: 'ip', limit };
}

/** Names the address that we see, which shows a proxy that `HARKARA_TRUST_PROXY` lacks. */
function cameFrom(address: string): ProblemAnswer {
  return {
    detail: `The request came from ${address}, and this key may not be used from there. ${PROBLEMS.ip_not_allowed.advice}`,
  };
}
