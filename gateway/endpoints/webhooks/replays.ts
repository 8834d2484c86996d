import { findOwnEndpoint } from '../../../shared/events/webhooks/endpoint-store.ts';
import type { ReplayDocument } from '../../../shared/events/webhooks/replay.ts';
import { findReplay, listReplays, ReplayRunning, startReplay } from '../../../shared/events/webhooks/replay-store.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { idTime, isReplayId, newId, type ReplayId } from '../../../shared/platform/runtime/ids.ts';
import type { ReadingDeps } from '../../access/costly-reads.ts';
import { sendProblem } from '../../http/answer.ts';
import { changeAudited } from '../../http/audited.ts';
import { bodyOf, callerOf, type Handler, type Reply } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { FieldProblems, invalidRequest } from '../../http/field-problems.ts';
import { required } from '../../http/fields/field.ts';
import { readRequest, request, whole } from '../../http/fields/request.ts';
import { earlierTime } from '../../http/fields/times.ts';
import type { Accepted, Action, Refused } from '../../http/idempotency/action.ts';
import { refusedLate } from '../../http/idempotency/refused-late.ts';
import { pageOf, parseCursor, parseLimit } from '../../http/page.ts';
import { parseQuery } from '../../http/query.ts';

/** This many entries of a page count as one request. */
const ENTRIES_PER_REQUEST = 250;

export const START_REPLAY = request({
  since: required(earlierTime('Events from this time on are posted again, as far back as deliveries are kept.')),
});

/**
 * POST /v2/account/webhooks/{webhook_id}/replays (extension): posts again what the webhook did not get since a time. The webhook
 * worker does it in pages; `GET …/replays` shows how far it is.
 */
export function createReplayStart({
  db,
  clock,
  config,
}: Pick<GatewayDeps, 'db' | 'clock' | 'config'>): Action<ReplayId> {
  return {
    name: 'start-replay',
    newId: () => newId('rpl', clock.now().getTime()),
    async act(res, { id, payBy }) {
      const caller = callerOf(res);
      const account = caller.account._id;
      const endpoint = await findOwnEndpoint(db, account, String(res.req.params.webhook_id));
      if (endpoint === undefined) return { kind: 'refused', problem: ['webhook_not_found', {}] };
      const read = await readRequest(START_REPLAY, bodyOf(res), { account: caller.account, now: clock.now(), config });
      if (read.problems.count > 0) return { kind: 'refused', problem: invalidRequest(read.problems) };
      if (endpoint.status !== 'active') return { kind: 'refused', problem: ['webhook_disabled', {}] };
      const late = refusedLate(clock, payBy);
      if (late !== undefined) return late;
      const { since } = whole(read);
      const started = await changeAudited({ db, clock, config }, caller, {
        action: 'webhook.replay',
        subject: { kind: 'webhook', id: endpoint._id },
        read: async () => undefined,
        make: () => startReplay(db, { _id: id, account, endpoint: endpoint._id, since }, clock.now()),
        madeOf: () => ({ since }),
        isRefusal: (error) => error instanceof ReplayRunning,
      }).catch(running);
      return 'kind' in started ? started : answerOf(started);
    },
    async recover(account, id) {
      const started = await findReplay(db, account, id);
      return started && answerOf(started);
    },
  };
}

function running(error: unknown): Refused {
  if (error instanceof ReplayRunning) return { kind: 'refused', problem: ['replay_running', {}] };
  throw error;
}

/** GET /v2/account/webhooks/{webhook_id}/replays (extension): newest first; they are kept for 30 days, 500 of an account. */
export function createReplays({ db, answerRead }: ReadingDeps): Handler {
  return async (req, res: Reply) => {
    const problems = new FieldProblems();
    const query = parseQuery(req, ['limit', 'cursor'], problems);
    const limit = parseLimit(query.limit, problems);
    const before = parseCursor(query.cursor, 'replays', isReplayId, problems);
    if (problems.count > 0) return sendProblem(res, ...invalidRequest(problems));
    const endpoint = await findOwnEndpoint(db, callerOf(res).account._id, String(req.params.webhook_id));
    if (endpoint === undefined) return sendProblem(res, 'webhook_not_found');
    await answerRead(res, Math.ceil(limit / ENTRIES_PER_REQUEST), async () => {
      const found = await listReplays(db, endpoint._id, limit + 1, before);
      const page = found.slice(0, limit);
      return pageOf('replays', page.map(replayRecord), found.length > limit ? page.at(-1)?._id : undefined);
    });
  };
}

/** GET /v2/account/webhooks/{webhook_id}/replays/{replay_id} (extension). */
export function createShowReplay({ db, answerRead }: ReadingDeps): Handler {
  return async (req, res: Reply) => {
    const { webhook_id: webhook, replay_id: id } = req.params;
    const read = async () => {
      const found = await findReplay(db, callerOf(res).account._id, String(id));
      return found?.endpoint === webhook ? found && replayRecord(found) : undefined;
    };
    await answerRead(res, 1, read, 'replay_not_found');
  };
}

function answerOf(replay: ReplayDocument): Accepted {
  return { kind: 'accepted', body: { status: 'success', ...replayRecord(replay) } };
}

export function replayRecord(replay: ReplayDocument): object {
  const { _id, since, state, startedAt, endedAt, replayed } = replay;
  return {
    replay_id: _id,
    webhook_id: replay.endpoint,
    state,
    since: isoTimestamp(since),
    started_at: isoTimestamp(startedAt),
    ended_at: endedAt === undefined ? null : isoTimestamp(endedAt),
    replayed,
    progress: progressOf(replay),
  };
}

/**
 * How much of the time since `since` is done, from 0 to 1, by the times of the messages: the newest come first. It stays below 1
 * until all is done, because events of messages from before `since` come last.
 */
function progressOf({ state, before, startedAt, since }: ReplayDocument): number {
  if (state === 'done') return 1;
  if (before === undefined) return 0;
  const part = (startedAt.getTime() - idTime(before).getTime()) / (startedAt.getTime() - since.getTime() + 1);
  return Math.round(Math.min(Math.max(part, 0), 0.999) * 1000) / 1000;
}
