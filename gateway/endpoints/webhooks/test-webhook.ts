import { AddressGuard, guardOptions } from '../../../shared/events/webhooks/address-guard.ts';
import { findOwnEndpoint } from '../../../shared/events/webhooks/endpoint-store.ts';
import { postTestEvent } from '../../../shared/events/webhooks/posting/test-event.ts';
import { isAcknowledged, resultWords } from '../../../shared/events/webhooks/result-words.ts';
import type { RateCounter } from '../../access/counter.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import { callerOf, type Handler, type Reply } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';

/** Of one account, over all gateways: enough for people, too few to look for open ports. */
const TESTS_PER_MINUTE = 10;

type Deps = Pick<GatewayDeps, 'db' | 'clock' | 'log' | 'box' | 'config' | 'resolveHost'>;

/**
 * POST /v2/account/webhooks/{webhook_id}/test (extension): posts a signed event `webhook.test` now and tells what was answered.
 * The post goes the way of all posts: same guard, signer and limits. It is no delivery: nothing is stored or repeated, and the
 * webhook's health stays as it is. A disabled webhook can be tested too.
 */
export function createTestWebhook(deps: Deps, counter: Pick<RateCounter, 'count'>): Handler {
  const guard = new AddressGuard({ ...guardOptions(deps.config), resolve: deps.resolveHost });
  return async (req, res: Reply) => {
    const account = callerOf(res).account._id;
    const endpoint = await findOwnEndpoint(deps.db, account, String(req.params.webhook_id));
    if (endpoint === undefined) return sendProblem(res, 'webhook_not_found');
    const { rank, endsMs } = await counter.count(`webhook-test:${account}`, TESTS_PER_MINUTE);
    if (rank > TESTS_PER_MINUTE) {
      const seconds = String(Math.max(Math.ceil((endsMs - deps.clock.monotonicMs()) / 1000), 1));
      const detail = `An account may test its webhooks ${TESTS_PER_MINUTE} times a minute. Try again in ${seconds} s.`;
      return sendProblem(res, 'rate_limited', { detail, headers: ['Retry-After', seconds] });
    }
    const { config } = deps;
    const tested = await postTestEvent({ ...deps, guard, timeoutMs: config.webhookTimeoutMs }, endpoint);
    const { eventId, body, result, durationMs, excerpt } = tested;
    sendJson(res, {
      status: 'success',
      webhook_id: endpoint._id,
      event_id: eventId,
      body,
      acknowledged: isAcknowledged(result),
      result,
      reason: resultWords(result),
      duration_ms: Math.round(durationMs),
      answer: excerpt ?? null,
    });
  };
}
