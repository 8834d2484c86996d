import { eventsOf } from '../../../shared/events/catalogue.ts';
import { newId, type RequestId } from '../../../shared/runtime/ids.ts';
import type { EndpointDocument } from '../../../shared/webhooks/endpoint.ts';
import { listEndpoints } from '../../../shared/webhooks/endpoint-store.ts';
import { choice, list, required } from '../../fields/field.ts';
import { address, invalidUrlRequest, type UrlCheck } from '../../fields/public-url.ts';
import { readRequest, request, whole } from '../../fields/request.ts';
import { bodyOf, callerOf } from '../../http/context.ts';
import type { Action } from '../../idempotency/action.ts';
import { refusedLate } from '../../idempotency/refused-late.ts';
import type { GatewayDeps } from '../../process/deps.ts';
import { registerEndpoint } from '../webhooks/register-endpoint.ts';

export const REGISTER_WEBHOOK = request({
  url: required(address('Where events are posted to: https, a public address.')),
  events: required(list(choice(eventsOf('chatapp')), { description: 'The events to post.', minItems: 1 })),
});

/**
 * POST /v2/chatapp/webhook ("Webhook configuration"): where the chat-app channel's events are posted to. A registered
 * address keeps its id and secret, gets the new list of events and is enabled again. The secret of a new address is
 * shown only in this answer. The answer takes half a second, so that every process knows the address by then.
 */
export function createChatWebhook(
  { db, clock, box, config }: Pick<GatewayDeps, 'db' | 'clock' | 'box' | 'config'>,
  urlCheck: UrlCheck,
): Action<RequestId> {
  return {
    name: 'chatapp-webhook',
    // The endpoint's own id derives from its address. A new endpoint also stores this request id, and `recover` finds
    // it by that.
    newId: () => newId('req', clock.now().getTime()),
    async act(res, { id, payBy }) {
      const account = callerOf(res).account._id;
      const context = { account: callerOf(res).account, now: clock.now(), config };
      const read = await readRequest(REGISTER_WEBHOOK, bodyOf(res), context);
      const { given, problems } = read;
      if (given.url !== undefined && urlCheck.form(account, given.url, 'url', problems)) {
        await urlCheck.host(account, given.url, 'url', problems);
      }
      if (problems.count > 0) return { kind: 'refused', problem: invalidUrlRequest(problems) };

      const { url, events } = whole(read);
      const late = refusedLate(clock, payBy);
      if (late !== undefined) return late;
      const wanted = { account, channel: 'chatapp', url, events, registration: id } as const;
      const made = await registerEndpoint({ db, clock, box, config }, callerOf(res), wanted);
      if ('kind' in made) return made;
      const { endpoint, created } = made;
      const answer = webhookResult(endpoint);
      return created ? { ...answer, body: { ...answer.body, secret: made.secret } } : answer;
    },
    /**
     * Only a request that created an endpoint needs its old answer, because that has the secret. Any other is simply
     * done again.
     */
    async recover(account, id) {
      const endpoint = (await listEndpoints(db, account)).find(({ registration }) => registration === id);
      const [secret] = endpoint?.secrets ?? [];
      if (endpoint === undefined || secret === undefined) return undefined;
      const answer = webhookResult(endpoint);
      const opened = box.open(secret.sealed, ['endpoints', endpoint._id, 'secrets.sealed']);
      return { ...answer, body: { ...answer.body, secret: opened } };
    },
  };
}

/** Stored encrypted, because the answer for a new endpoint has its secret. */
function webhookResult({ _id }: EndpointDocument) {
  return { kind: 'accepted', sealed: true, body: { status: 'success', webhook_id: _id } } as const;
}
