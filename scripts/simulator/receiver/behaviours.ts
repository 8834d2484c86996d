/** How the receiver answers a post. The path of the post decides; its segments are read from left to right. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Pause before the answer, in milliseconds. */
  readonly delayMs: number;
  /** The connection is broken instead of answered. */
  readonly drop: boolean;
  /** Length of the answer's body. */
  readonly octets: number;
}

const PLAIN_REPLY: Reply = { status: 200, headers: {}, delayMs: 0, drop: false, octets: 0 };

/** The longest pause. A request that somebody forgot must not stay for ever. */
const MAX_DELAY_MS = 600_000;

/** The longest body of an answer. */
const MAX_OCTETS = 100_000_000;

/**
 * Reads the segments of a path: `/status/500`, `/slow/3000`, `/redirect`, `/410`, `/flaky/3` (500 for the first three tries of
 * each webhook-id, then 200), `/retry-after/5`, `/drop`, `/big/1000000`. They can be combined, as in
 * `/slow/200/status/503/retry-after/5`. Unknown segments mean nothing. `tries` says how often this webhook-id came: 1 for the
 * first time.
 */
export function replyTo(path: string, tries: number): Reply {
  const segments = path.split('/');
  let reply = PLAIN_REPLY;
  for (const [at, segment] of segments.entries()) {
    const value = Number(segments[at + 1] ?? Number.NaN);
    switch (segment) {
      case 'status':
        if (value >= 200 && value <= 599) reply = { ...reply, status: value };
        break;
      case '410':
        if (segments[at - 1] !== 'status') reply = { ...reply, status: 410 };
        break;
      case 'slow':
        if (value >= 0) reply = { ...reply, delayMs: Math.min(value, MAX_DELAY_MS) };
        break;
      case 'redirect':
        reply = { ...reply, status: 302, headers: { ...reply.headers, location: '/redirected' } };
        break;
      case 'flaky':
        if (tries <= value) reply = { ...reply, status: 500 };
        break;
      case 'retry-after':
        if (value >= 0) reply = { ...reply, headers: { ...reply.headers, 'retry-after': String(value) } };
        break;
      case 'big':
        if (value >= 0) reply = { ...reply, octets: Math.min(value, MAX_OCTETS) };
        break;
      case 'drop':
        reply = { ...reply, drop: true };
        break;
    }
  }
  return reply;
}
