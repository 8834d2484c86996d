import { AddressGuard, guardOptions } from '../../../shared/events/webhooks/address-guard.ts';
import type { EndpointDocument } from '../../../shared/events/webhooks/endpoint.ts';
import { findOwnEndpoint } from '../../../shared/events/webhooks/endpoint-store.ts';
import { isAcknowledged, Poster, type PostResult, resultWords } from '../../../shared/events/webhooks/post.ts';
import {
  asPosted,
  openTarget,
  type Posted,
  signedPost,
  type TargetDeps,
} from '../../../shared/events/webhooks/target.ts';
import { type Clock, isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { newId } from '../../../shared/platform/runtime/ids.ts';
import { done, endpoint, perProcess, refused } from '../../api/endpoint.ts';
import { flag, success, text, whole } from '../../api/shapes.ts';
import { IN_PATH, PostResult as PostResultShape, WebhookId } from './webhooks.ts';

/** Per account over all gateways: enough for people, too few to scan ports. */
const TESTS_PER_MINUTE = 10;

/** Posts like all others (guard, signer, limits), but stores and repeats nothing, and the webhook's health stays. */
export const testWebhook = endpoint({
  id: 'testWebhook',
  call: 'webhooks.test',
  method: 'post',
  path: '/v2/account/webhooks/{webhook_id}/test',
  tag: 'Account',
  summary: 'Post a test event',
  description:
    "Extension. Posts a signed event `webhook.test` now and shows what your server answered. It is not stored or repeated, and the webhook's health stays as it is. Ten a minute.",
  scopes: ['manage', 'admin:support'],
  params: IN_PATH,
  answer: success('WebhookTest', {
    webhook_id: WebhookId,
    event_id: text("The post's `webhook-id`.", { example: 'evt_01m7znjn7hdb5pft3awkb6pgvz_test' }),
    body: text('What was posted, byte by byte.', {
      example:
        '{"event":"webhook.test","webhook_id":"whk_3fa85f6457174562b3fc2c963f","channel":"sms","timestamp":"2026-11-22T10:00:00+00:00"}',
    }),
    acknowledged: flag('Whether the answer was 2xx.', true),
    result: PostResultShape.meta({ example: 200 }),
    reason: text('What `result` means.', { example: 'Your server acknowledged the event.' }),
    duration_ms: whole(undefined, { example: 41 }),
    answer: text("The first 2 KB of the answer's body.", { example: 'ok' }).nullable(),
  }),
  problems: ['webhook_not_found'],
  async handle(deps, { caller, params }) {
    const { db, clock, config, counter } = deps;
    const account = caller.account._id;
    const found = await findOwnEndpoint(db, account, params.webhook_id);
    if (found === undefined) return refused('webhook_not_found');
    const { rank, endsMs } = await counter.count(`webhook-test:${account}`, TESTS_PER_MINUTE);
    if (rank > TESTS_PER_MINUTE) {
      const seconds = String(Math.max(Math.ceil((endsMs - clock.monotonicMs()) / 1000), 1));
      const detail = `An account may test its webhooks ${TESTS_PER_MINUTE} times a minute. Try again in ${seconds} s.`;
      return refused('rate_limited', { detail, headers: ['Retry-After', seconds] });
    }
    const guard = guardOf(deps);
    const tested = await postTestEvent({ ...deps, guard, timeoutMs: config.webhookTimeoutMs }, found);
    const { eventId, body, result, durationMs, excerpt } = tested;
    return done({
      webhook_id: found._id,
      event_id: eventId,
      body,
      acknowledged: isAcknowledged(result),
      result,
      reason: resultWords(result),
      duration_ms: Math.round(durationMs),
      answer: excerpt ?? null,
    });
  },
});

const guardOf = perProcess(
  ({ config, resolveHost }) => new AddressGuard({ ...guardOptions(config), resolve: resolveHost }),
);

interface TestDeps extends TargetDeps {
  readonly clock: Clock;
  readonly timeoutMs: number;
}

/** Posts a signed event `webhook.test` on connections of its own, and keeps the beginning of any answer. */
async function postTestEvent(deps: TestDeps, endpoint: EndpointDocument): Promise<Posted & PostResult> {
  const { guard, clock, timeoutMs } = deps;
  const target = openTarget(endpoint, deps);
  const posted = asPosted(target, [testEvent(endpoint, clock.now())]);
  if (target.problem !== undefined) return { ...posted, result: target.problem, durationMs: 0 };
  const poster = new Poster({ guard, clock, timeoutMs });
  try {
    return { ...posted, ...(await poster.post(signedPost(target, posted, clock.now()), 'all')) };
  } finally {
    await poster.close();
  }
}

function testEvent({ _id, channel }: EndpointDocument, now: Date): Posted {
  return {
    eventId: `evt_${newId('req', now.getTime()).slice('req_'.length)}_test`,
    body: JSON.stringify({ event: 'webhook.test', webhook_id: _id, channel, timestamp: isoTimestamp(now) }),
  };
}
