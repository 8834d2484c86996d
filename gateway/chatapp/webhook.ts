import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { type EventName, eventsOf } from '../../shared/events/catalogue.ts';
import { newId, type RequestId } from '../../shared/runtime/ids.ts';
import type { EndpointDocument } from '../../shared/webhooks/endpoint.ts';
import { ENDPOINTS_PER_ACCOUNT } from '../../shared/webhooks/endpoint-places.ts';
import {
  createEndpoint,
  endpointId,
  findEndpoints,
  listEndpoints,
  TooManyEndpoints,
} from '../../shared/webhooks/endpoint-store.ts';
import { SUBSCRIPTIONS_FRESH_MS } from '../../shared/webhooks/subscriptions.ts';
import { RETRY_AFTER } from '../http/answer.ts';
import { changeAudited } from '../http/audited.ts';
import { bodyOf, callerOf, type JsonObject } from '../http/context.ts';
import { FieldProblems, refuseUnknown, requiredString, wrongType } from '../http/fields.ts';
import type { Action, Refused } from '../idempotency/once.ts';
import type { GatewayDeps } from '../process/deps.ts';
import { invalidUrlRequest, type UrlCheck } from './public-url.ts';

const EVENTS = eventsOf('chatapp');

/**
 * POST /v2/chatapp/webhook ("Webhook configuration"): where the chat-app channel's events are posted to. An address that the
 * account has already keeps its id and secret, takes the new events and is active again; a new one's secret is told this once. Answered half a
 * second later, when no event passes the new address by any more.
 */
export function createChatWebhook(
  { db, clock, box, config }: Pick<GatewayDeps, 'db' | 'clock' | 'box' | 'config'>,
  urlCheck: UrlCheck,
): Action<RequestId> {
  return {
    name: 'chatapp-webhook',
    // The endpoint's own id derives from its address. A new endpoint keeps this one, to be found by it.
    newId: () => newId('req', clock.now().getTime()),
    async act(res, { id, payBy }) {
      const [account, body] = [callerOf(res).account._id, bodyOf(res)];
      const problems = new FieldProblems();
      refuseUnknown(body, ['url', 'events'], problems);
      const url = requiredString(body, 'url', problems);
      if (url !== undefined && urlCheck.form(url, 'url', problems)) await urlCheck.host(url, 'url', problems);
      const events = parseEvents(body, problems);
      if (problems.count > 0) return { kind: 'refused', problem: invalidUrlRequest(problems) };

      assert(url !== undefined && events !== undefined, 'a field is missing without a problem');
      // Another request with the key may have begun by then. What is written late all the same is an update that is done twice.
      if (payBy !== undefined && clock.now() >= payBy) {
        return { kind: 'refused', problem: ['store_unavailable', { headers: RETRY_AFTER }] };
      }
      const wanted = { account, channel: 'chatapp', url, events, registration: id } as const;
      const endpointOf = endpointId(account, 'chatapp', url);
      const made = await changeAudited({ db, clock, config }, callerOf(res), {
        action: 'webhook.register',
        subject: { kind: 'webhook', id: endpointOf },
        read: async () => (await findEndpoints(db, [endpointOf]))[0],
        make: () => createEndpoint(db, clock, box, wanted),
        madeOf: ({ endpoint }) => endpoint,
        isRefusal: (error) => error instanceof TooManyEndpoints,
      }).catch(tooMany);
      if ('kind' in made) return made;
      // Until every process has looked again: what happens after the answer is posted to this address, without exception.
      await wait(SUBSCRIPTIONS_FRESH_MS);
      const { endpoint, created } = made;
      const answer = webhookResult(endpoint);
      return created ? { ...answer, body: { ...answer.body, secret: made.secret } } : answer;
    },
    /** Only what made an endpoint needs its old answer, which has the secret; any other is simply done again. */
    async recover(account, id) {
      const endpoint = (await listEndpoints(db, account)).find(({ registration }) => registration === id);
      const [secret] = endpoint?.secrets ?? [];
      if (endpoint === undefined || secret === undefined) return undefined;
      const answer = webhookResult(endpoint);
      return { ...answer, body: { ...answer.body, secret: box.open(secret.sealed) } };
    },
  };
}

/** Sealed where it is kept: the answer to a new one has a secret. */
function webhookResult({ _id }: EndpointDocument) {
  return { kind: 'accepted', sealed: true, body: { status: 'success', webhook_id: _id } } as const;
}

/** Undefined when there is no such list. */
function parseEvents(body: JsonObject, problems: FieldProblems): readonly EventName[] | undefined {
  if (!Object.hasOwn(body, 'events')) {
    problems.add('events', 'missing_field', 'It is required.');
    return undefined;
  }
  const list = body.events;
  if (!Array.isArray(list)) {
    problems.add('events', 'wrong_type', `It must be an array of strings, not ${wrongType(list)}.`);
    return undefined;
  }
  if (list.length === 0) problems.add('events', 'wrong_count', 'It must name at least one event.');
  const events = new Set<EventName>();
  for (const [index, name] of list.entries()) {
    const event = EVENTS.find((known) => known === name);
    if (event !== undefined) events.add(event);
    else if (typeof name === 'string') {
      problems.add(`events[${index}]`, 'invalid_value', `It must be one of ${EVENTS.join(', ')}.`);
    } else problems.add(`events[${index}]`, 'wrong_type', `It must be a string, not ${wrongType(name)}.`);
  }
  return [...events];
}

function tooMany(error: unknown): Refused {
  if (!(error instanceof TooManyEndpoints)) throw error;
  const detail = `An account may have ${ENDPOINTS_PER_ACCOUNT} webhooks. Register an address that it has already.`;
  return { kind: 'refused', problem: ['too_many_webhooks', { detail }] };
}
