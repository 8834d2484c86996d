import type { EndpointDocument } from '../../../shared/events/webhooks/endpoint.ts';
import { Poster, type PostResult } from '../../../shared/events/webhooks/posting/post.ts';
import { asPosted, type Posted, signedPost } from '../../../shared/events/webhooks/posting/signed-post.ts';
import { openTarget, type TargetDeps } from '../../../shared/events/webhooks/posting/target.ts';
import { type Clock, isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { newId } from '../../../shared/platform/runtime/ids.ts';

export interface TestDeps extends TargetDeps {
  readonly clock: Clock;
  readonly timeoutMs: number;
}

/**
 * Posts a signed event `webhook.test` now, with connections of its own, and keeps the beginning of any answer. It is no delivery:
 * nothing is stored or repeated, and the endpoint's health stays as it is.
 */
export async function postTestEvent(deps: TestDeps, endpoint: EndpointDocument): Promise<Posted & PostResult> {
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
