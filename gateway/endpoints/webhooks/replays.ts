import { z } from 'zod';
import { findOwnEndpoint } from '../../../shared/events/webhooks/endpoint-store.ts';
import {
  findReplay,
  listReplays,
  type ReplayDocument,
  ReplayRunning,
  startReplay,
} from '../../../shared/events/webhooks/replay.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { idTime, isReplayId, newId } from '../../../shared/platform/runtime/ids.ts';
import { done, endpoint, refused, type Shown } from '../../api/endpoint.ts';
import { decimal, id, named, pageShape, success, text, whole } from '../../api/shapes.ts';
import { changeAudited } from '../../http/audited.ts';
import { required } from '../../http/fields/field.ts';
import { cursorOf, limit, pageOfFound, readsPer } from '../../http/fields/query.ts';
import { request } from '../../http/fields/request.ts';
import { earlierTime } from '../../http/fields/times.ts';
import { type Accepted, type Refused, refusedLate } from '../../http/idempotency/action.ts';
import { IN_PATH, WebhookId } from './webhooks.ts';

/** Posts again what a webhook missed since a time. The webhooks worker does it in pages. */

const ReplayId = id('rpl', undefined, 'rpl_01m7znjn7hdb5pft3awkb6pgvz');

const Replay = named('Replay', {
  replay_id: ReplayId,
  webhook_id: WebhookId,
  state: z
    .enum(['running', 'done', 'stopped'])
    .meta({ description: '`stopped`: the webhook was disabled or removed meanwhile.' }),
  since: text(undefined, { format: 'date-time', example: '2026-11-21T00:00:00+00:00' }),
  started_at: text(undefined, { format: 'date-time', example: '2026-11-22T10:00:00+00:00' }),
  ended_at: text(undefined, { format: 'date-time' }).nullable(),
  replayed: whole('Deliveries that are posted again so far.', { example: 120 }),
  progress: decimal('The part of the time that was looked through, from 0 to 1.', {
    minimum: 0,
    maximum: 1,
    example: 0.4,
  }),
});

export const replays = endpoint({
  id: 'replays',
  call: 'webhooks.replays',
  method: 'get',
  path: '/v2/account/webhooks/{webhook_id}/replays',
  tag: 'Account',
  summary: 'Replays of a webhook',
  description:
    'Extension. The newest first, with their progress. They are kept for 30 days, the newest 500 of the account. A page counts as one request for each 250 of `limit`.',
  scopes: ['read', 'manage'],
  params: IN_PATH,
  query: { limit, cursor: cursorOf('replays', isReplayId) },
  reads: readsPer(250),
  answer: pageShape('ReplayPage', Replay, 'Replays, newest first.'),
  problems: ['webhook_not_found'],
  async handle({ db }, { caller, params, query }) {
    const webhook = await findOwnEndpoint(db, caller.account._id, params.webhook_id);
    if (webhook === undefined) return refused('webhook_not_found');
    const found = await listReplays(db, webhook._id, query.limit + 1, query.cursor);
    return pageOfFound('replays', found, query.limit, replayRecord);
  },
});

export const startedReplay = endpoint({
  id: 'startReplay',
  call: 'webhooks.startReplay',
  method: 'post',
  path: '/v2/account/webhooks/{webhook_id}/replays',
  tag: 'Account',
  summary: 'Post again what was lost',
  description:
    'Extension. Everything since a time that the webhook did not get: exhausted and discarded deliveries. It goes on in the background; one at a time.',
  scopes: ['manage', 'admin:support'],
  params: IN_PATH,
  body: request({
    since: required(earlierTime('Events from this time on are posted again, as far back as deliveries are kept.')),
  }),
  answer: success('StartedReplay', Replay.shape),
  problems: ['webhook_not_found', 'webhook_disabled', 'replay_running'],
  examples: { body: { since: { since: '2026-11-21T00:00:00+00:00' } } },
  newId: ({ clock }) => newId('rpl', clock.now().getTime()),
  action: (deps) => ({
    async act({ caller, params, body: { since } }, { id, payBy }) {
      const { db, clock } = deps;
      const account = caller.account._id;
      const webhook = await findOwnEndpoint(db, account, params.webhook_id);
      if (webhook === undefined) return refused('webhook_not_found');
      if (webhook.status !== 'active') return refused('webhook_disabled');
      const late = refusedLate(clock, payBy);
      if (late !== undefined) return late;
      const started = await changeAudited(deps, caller, {
        action: 'webhook.replay',
        subject: { kind: 'webhook', id: webhook._id },
        make: () => startReplay(db, { _id: id, account, endpoint: webhook._id, since }, clock.now()),
        madeOf: () => ({ since }),
        isRefusal: (error) => error instanceof ReplayRunning,
      }).catch(running);
      return 'kind' in started ? started : answerOf(started);
    },
    async recover(account, id) {
      const started = await findReplay(deps.db, account, id);
      return started && answerOf(started);
    },
  }),
});

function running(error: unknown): Refused {
  if (error instanceof ReplayRunning) return refused('replay_running');
  throw error;
}

export const showReplay = endpoint({
  id: 'showReplay',
  call: 'webhooks.replay',
  method: 'get',
  path: '/v2/account/webhooks/{webhook_id}/replays/{replay_id}',
  tag: 'Account',
  summary: 'One replay',
  description: 'Extension. Its progress.',
  scopes: ['read', 'manage'],
  params: { ...IN_PATH, replay_id: ReplayId.describe('Id of the replay.') },
  reads: 1,
  answer: Replay,
  problems: ['replay_not_found'],
  async handle({ db }, { caller, params }) {
    const found = await findReplay(db, caller.account._id, params.replay_id);
    return found?.endpoint === params.webhook_id ? replayRecord(found) : refused('replay_not_found');
  },
});

function answerOf(replay: ReplayDocument): Accepted {
  return { kind: 'accepted', body: done(replayRecord(replay)) };
}

export function replayRecord(replay: ReplayDocument): Shown<typeof Replay> {
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

/** By the messages' times, newest first. Below 1 until all is done: events of older messages come last. */
function progressOf({ state, before, startedAt, since }: ReplayDocument): number {
  if (state === 'done') return 1;
  if (before === undefined) return 0;
  const part = (startedAt.getTime() - idTime(before).getTime()) / (startedAt.getTime() - since.getTime() + 1);
  return Math.round(Math.min(Math.max(part, 0), 0.999) * 1000) / 1000;
}
