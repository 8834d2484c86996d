import { eventsOf } from '../../../shared/events/catalogue.ts';
import type { EndpointDocument } from '../../../shared/events/webhooks/endpoint.ts';
import { listEndpoints } from '../../../shared/events/webhooks/endpoint-store.ts';
import { newId } from '../../../shared/platform/runtime/ids.ts';
import { done, endpoint } from '../../api/endpoint.ts';
import { success, text } from '../../api/shapes.ts';
import { choice, list, required } from '../../http/fields/field.ts';
import { address, invalidUrlRequest } from '../../http/fields/public-url.ts';
import { request } from '../../http/fields/request.ts';
import { refusedLate } from '../../http/idempotency/action.ts';
import { registerEndpoint } from '../webhooks/webhooks.ts';

const ChatWebhookResult = success('ChatWebhookResult', {
  webhook_id: text('The same address always has the same id.', {
    pattern: '^whk_[0-9a-f]{26}$',
    example: 'whk_3fa85f6457174562b3fc2c963f',
  }),
  secret: text(
    'Extension: the key that signs the posts (Standard Webhooks). Only in the answer that created the webhook.',
    { pattern: '^whsec_', example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
  ).optional(),
});

/** The answer takes half a second, so that every process knows the URL by then. */
export const chatappWebhook = endpoint({
  id: 'chatappWebhook',
  call: 'chatapp.registerWebhook',
  method: 'post',
  path: '/v2/chatapp/webhook',
  tag: 'Chat-app',
  summary: 'Register a webhook',
  description:
    'An address that is registered already keeps its `webhook_id` and secret, gets the new list of events and is enabled. Everything that happens after the answer is posted to it; the answer takes half a second for that reason. An account may have ten webhooks. The top of this document says how posts are signed and repeated.',
  // Posts to this URL include customers' messages, so the key must be allowed to read and send, or to manage.
  scopes: [['send', 'read'], 'manage'],
  confirmed: true,
  body: request({
    url: required(address('Where events are posted to: https, a public address.')),
    events: required(list(choice(eventsOf('chatapp')), { description: 'The events to post.', minItems: 1 })),
  }),
  ownProblems: true,
  answer: ChatWebhookResult,
  problems: ['url_not_allowed', 'too_many_webhooks'],
  examples: {
    body: { both: { url: 'https://example.com/hooks/chat', events: ['message.received', 'message.read'] } },
    answer: {
      new: {
        status: 'success',
        webhook_id: 'whk_3fa85f6457174562b3fc2c963f',
        secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      },
      known: { status: 'success', webhook_id: 'whk_3fa85f6457174562b3fc2c963f' },
    },
  },
  // The id derives from the URL. A new endpoint also stores this request id, by which `recover` finds it.
  newId: ({ clock }) => newId('req', clock.now().getTime()),
  action: (deps) => ({
    async act({ caller, body, read }, { id, payBy }) {
      const { clock, webhookUrl } = deps;
      const account = caller.account._id;
      const { given, problems } = read;
      if (given.url !== undefined && webhookUrl.form(account, given.url, 'url', problems)) {
        await webhookUrl.host(account, given.url, 'url', problems);
      }
      if (problems.count > 0) return { kind: 'refused', problem: invalidUrlRequest(problems) };

      const late = refusedLate(clock, payBy);
      if (late !== undefined) return late;
      const { url, events } = body;
      const wanted = { account, channel: 'chatapp', url, events, registration: id } as const;
      const made = await registerEndpoint(deps, caller, wanted);
      if ('kind' in made) return made;
      return webhookResult(made.endpoint, made.created ? made.secret : undefined);
    },
    /** Only a request that created an endpoint needs its old answer, which has the secret. Any other is done again. */
    async recover(account, id) {
      const found = (await listEndpoints(deps.db, account)).find(({ registration }) => registration === id);
      const [secret] = found?.secrets ?? [];
      if (found === undefined || secret === undefined) return undefined;
      return webhookResult(found, deps.box.open(secret.sealed, ['endpoints', found._id, 'secrets.sealed']));
    },
  }),
});

/** Encrypted in the store, because a new endpoint's answer has its secret. */
function webhookResult({ _id }: EndpointDocument, secret: string | undefined) {
  const body = done({ webhook_id: _id, ...(secret !== undefined && { secret }) });
  return { kind: 'accepted', sealed: true, body } as const;
}
