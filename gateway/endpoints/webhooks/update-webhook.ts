import { setTimeout as wait } from 'node:timers/promises';
import { EVENT_NAMES } from '../../../shared/events/catalogue.ts';
import type { EndpointDocument } from '../../../shared/events/webhooks/endpoint.ts';
import {
  disableEndpoint,
  enableEndpoint,
  findOwnEndpoint,
  removeEndpoint,
  setEvents,
} from '../../../shared/events/webhooks/endpoint-store.ts';
import { SUBSCRIPTIONS_FRESH_MS } from '../../../shared/events/webhooks/subscriptions.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import { changeAudited } from '../../http/audited.ts';
import { bodyOf, callerOf, type Handler, type Reply } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { invalidRequest } from '../../http/field-problems.ts';
import { choice, list, optional } from '../../http/fields/field.ts';
import { readRequest, request, whole } from '../../http/fields/request.ts';
import { checkEvents } from './create-webhook.ts';
import { webhookRecord } from './webhook-record.ts';

export const UPDATE_WEBHOOK = request({
  events: optional(list(choice(EVENT_NAMES), { description: 'The events to post from now on.', minItems: 1 })),
  state: optional(
    choice(
      ['active', 'disabled'],
      '`disabled`: nothing is posted, and what is due is discarded (it can be replayed). `active`: events are posted again, from now on.',
    ),
  ),
});

type Deps = Pick<GatewayDeps, 'db' | 'clock' | 'config'>;

/** PATCH /v2/account/webhooks/{webhook_id} (extension). The address cannot be changed: register the new one, remove the old one. */
export function createUpdateWebhook(deps: Deps): Handler {
  const { db, clock, config } = deps;
  return async (req, res: Reply) => {
    const caller = callerOf(res);
    const endpoint = await findOwnEndpoint(db, caller.account._id, String(req.params.webhook_id));
    if (endpoint === undefined) return sendProblem(res, 'webhook_not_found');
    const read = await readRequest(UPDATE_WEBHOOK, bodyOf(res), { account: caller.account, now: clock.now(), config });
    if (read.given.events !== undefined) checkEvents(endpoint.channel, read.given.events, read.problems);
    if (read.problems.count > 0) return sendProblem(res, ...invalidRequest(read.problems));
    const { events, state } = whole(read);
    const changed = await changeEndpoint(deps, res, endpoint, 'webhook.update', async () => {
      if (events !== undefined) await setEvents(db, clock, endpoint._id, [...new Set(events)]);
      if (state === 'active') await enableEndpoint(db, clock, endpoint._id);
      if (state === 'disabled') await disableEndpoint(db, endpoint._id, 'account');
    });
    if (changed === undefined) return sendProblem(res, 'webhook_not_found');
    // Every process has read the endpoints again by then, so the change applies to everything after the answer.
    await wait(SUBSCRIPTIONS_FRESH_MS);
    sendJson(res, await webhookRecord(deps, changed));
  };
}

/** DELETE /v2/account/webhooks/{webhook_id} (extension): with its secret. What is due is discarded. */
export function createRemoveWebhook(deps: Deps): Handler {
  const { db } = deps;
  return async (req, res: Reply) => {
    const endpoint = await findOwnEndpoint(db, callerOf(res).account._id, String(req.params.webhook_id));
    if (endpoint === undefined) return sendProblem(res, 'webhook_not_found');
    await changeEndpoint(deps, res, endpoint, 'webhook.remove', () => removeEndpoint(db, endpoint._id));
    sendJson(res, { status: 'success', webhook_id: endpoint._id, message: 'The webhook is removed.' });
  };
}

/** Resolves to the endpoint as it is then; undefined when it is gone. */
export function changeEndpoint(
  deps: Deps,
  res: Reply,
  endpoint: EndpointDocument,
  action: string,
  change: () => Promise<unknown>,
): Promise<EndpointDocument | undefined> {
  return changeAudited(deps, callerOf(res), {
    action,
    subject: { kind: 'webhook', id: endpoint._id },
    read: async () => endpoint,
    make: async () => {
      await change();
      return findOwnEndpoint(deps.db, endpoint.account, endpoint._id);
    },
    madeOf: (made) => made ?? { removed: true },
    isRefusal: () => false,
  });
}
