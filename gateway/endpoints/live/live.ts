import type { Request } from 'express';
import type { Clock } from '../../../shared/platform/runtime/clock.ts';
import type { Log } from '../../../shared/platform/runtime/log.ts';
import type { Identify } from '../../access/authenticate.ts';
import { refusesOther } from '../../access/page-user.ts';
import type { Sessions } from '../../access/sessions.ts';
import { perProcess } from '../../api/per-process.ts';
import { beginStream, sendProblem } from '../../http/answer.ts';
import { type Reply, type Requester, requesterOf } from '../../http/context.ts';
import type { ProblemSlug } from '../../http/problem.ts';
import { LiveHub } from './hub.ts';
import type { Reading } from './sources.ts';
import { LiveStream } from './stream.ts';

/** How often a stream shows that it lives, and its caller is looked at again. Common proxies wait for 60 s. */
const BEAT_MS = 15_000;
/** Seconds after which a caller who has too many streams may try again. */
const RETRY_AFTER = ['Retry-After', '30'] as const;

interface LiveDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly stopping: AbortSignal;
  readonly identify: Identify;
  readonly sessions: Pick<Sessions, 'scopesOf'>;
  readonly beatMs?: number;
}

/** The streams of live numbers: one hub for all of them, made once per process. */
class Live {
  readonly #identify: Identify;
  readonly #sessions: LiveDeps['sessions'];
  readonly #beatMs: number;
  readonly #hub: LiveHub;
  readonly #open: OpenStreams;

  constructor({ clock, log, stopping, identify, sessions, beatMs = BEAT_MS }: LiveDeps) {
    this.#identify = identify;
    this.#sessions = sessions;
    this.#beatMs = beatMs;
    this.#hub = new LiveHub({ clock, log });
    this.#open = new OpenStreams(stopping);
  }

  /** Answers with a stream of these readings, unless it is refused. `user`: the only one whose session may listen. */
  open(res: Reply, readings: readonly Reading[], user: string | undefined): void {
    if (refusesOther(res, user)) return;
    if (!this.#open.hasRoomFor(requesterOf(res))) {
      sendProblem(res, 'too_many_streams', { headers: RETRY_AFTER });
      return;
    }
    // The caller left while the store was asked who it is: `close` will not come a second time.
    if (res.closed) return;
    // Without the first header nginx keeps events until its buffer is full.
    beginStream(res, 'text/event-stream; charset=utf-8', ['X-Accel-Buffering', 'no', 'Connection', 'close']);
    if (res.req.method === 'HEAD') res.end();
    else this.#begin(res.req, res, readings);
  }

  #begin(req: Request, res: Reply, readings: readonly Reading[]): void {
    const requester = requesterOf(res);
    const leave: (() => void)[] = [];
    const stream = new LiveStream(res, () => {
      clearInterval(timer);
      for (const end of leave) end();
      this.#open.delete(stream);
    });
    const timer = setInterval(() => void this.#beat(req, requester, stream), this.#beatMs);
    this.#open.add(stream, requester);
    for (const reading of readings) leave.push(this.#hub.watch(reading, (name, json) => stream.tell(name, json)));
  }

  /**
   * Ends the stream of somebody who may not ask any more: a revoked key, a session that was ended. When the store cannot say, the
   * stream goes on: nothing comes on it then. Never rejects.
   */
  async #beat(req: Request, requester: Requester, stream: LiveStream): Promise<void> {
    const problem = await this.#lost(req, requester).catch(() => undefined);
    if (problem === undefined) stream.beat();
    else stream.end(problem);
  }

  /** A session is only looked at: an open page is no request, and does not keep the session from ending. */
  async #lost(req: Request, { who, account }: Requester): Promise<ProblemSlug | undefined> {
    const now = who.kind === 'user' ? await this.#sessions.scopesOf(who.session) : await this.#identify(req);
    if (typeof now === 'string') return now;
    // Who looks at an account may read it for that (access/looking.ts).
    const has = now.scopes.includes('admin:look') ? [...now.scopes, 'read'] : now.scopes;
    return has.includes(account === undefined ? 'admin:read' : 'read') ? undefined : 'scope_missing';
  }
}

/** A key, or a signed-in user: as many tabs as a person looks at, and what browsers have not closed yet. */
const PER_CALLER_MAX = 12;
const PER_ACCOUNT_MAX = 100;
/** All streams of one process. Each takes a connection and some 20 KB. */
const PROCESS_MAX = 2_000;

/** The streams that are open in this process. All end when the process begins to stop: nothing waits for them. */
class OpenStreams {
  readonly #streams = new Map<LiveStream, { readonly account: string | undefined; readonly caller: string }>();
  readonly #stopping: AbortSignal;

  constructor(stopping: AbortSignal) {
    this.#stopping = stopping;
    stopping.addEventListener('abort', () => {
      for (const stream of this.#streams.keys()) stream.end();
    });
  }

  /** Whether the caller may open one more. */
  hasRoomFor({ account, who }: Requester): boolean {
    if (this.#streams.size >= PROCESS_MAX) return false;
    let [ofCaller, ofAccount] = [0, 0];
    for (const open of this.#streams.values()) {
      if (open.caller === who.id) ofCaller++;
      if (account !== undefined && open.account === account._id) ofAccount++;
    }
    return ofCaller < PER_CALLER_MAX && ofAccount < PER_ACCOUNT_MAX;
  }

  add(stream: LiveStream, { account, who }: Requester): void {
    this.#streams.set(stream, { account: account?._id, caller: who.id });
    if (this.#stopping.aborted) stream.end();
  }

  delete(stream: LiveStream): void {
    this.#streams.delete(stream);
  }
}

export const liveOf = perProcess((gateway) => new Live(gateway));
