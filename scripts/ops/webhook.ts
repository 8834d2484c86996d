import { eventsOf } from '../../shared/events/catalogue.ts';
import { AddressGuard, guardOptions } from '../../shared/events/webhooks/address-guard.ts';
import { deliveryId } from '../../shared/events/webhooks/delivery.ts';
import { replayDelivery, replaySince } from '../../shared/events/webhooks/delivery-store.ts';
import { ENDPOINTS_PER_ACCOUNT, type EndpointDocument } from '../../shared/events/webhooks/endpoint.ts';
import {
  createEndpoint,
  disableEndpoint,
  enableEndpoint,
  findEndpoints,
  listEndpoints,
  removeEndpoint,
  rotateSecret,
} from '../../shared/events/webhooks/endpoint-store.ts';
import { openSecrets } from '../../shared/events/webhooks/posting/target.ts';
import { postTestEvent } from '../../shared/events/webhooks/posting/test-event.ts';
import { isAcknowledged, resultWords } from '../../shared/events/webhooks/result-words.ts';
import { newSecret } from '../../shared/events/webhooks/sign.ts';
import { AllPlacesTaken } from '../../shared/platform/mongo/places.ts';
import { existing } from './account.ts';
import { type Command, defineCommand, Failure } from './command.ts';
import { accountId, endpointId, eventId, instant, list, required, withDefault, words } from './parameters.ts';
import { table } from './show.ts';

const account = required(accountId, 'the account');
const webhook = required(endpointId, 'the webhook');
const SMS_EVENTS = eventsOf('sms');

export const WEBHOOK_COMMANDS: readonly Command[] = [
  defineCommand({
    noun: 'webhook',
    verb: 'create',
    about: "Posts an account's SMS events to a URL. Shows the secret that signs them, only this once.",
    args: { account, url: required(words('URL', 'an https:// address', /^\S+$/), 'where to post') },
    options: { events: withDefault(list('EVENTS', SMS_EVENTS), SMS_EVENTS.join(','), 'what to post') },
    notes:
      'Refused are http (allowed by WEBHOOK_ALLOW_HTTP=yes) and private addresses (allowed by WEBHOOK_ALLOW_SUBNETS);\n' +
      'gateways and workers need the same settings. A URL that the account has already keeps its id and secret, takes the\n' +
      'new events and is enabled. Webhooks of the chat-app channel are registered over the API (POST /v2/chatapp/webhook).',
    async run({ account, url, events }, { db, clock, box, config }) {
      const verdict = await new AddressGuard(guardOptions(config)).for(account).checkUrl(url);
      if (!verdict.ok) throw new Failure(`${url} is refused. ${verdict.detail} See \`webhook create --help\`.`);
      const store = await db();
      await existing(store, account);
      const { endpoint, secret, created } = await createEndpoint(store, clock, await box(), {
        account,
        channel: 'sms',
        url,
        events,
      }).catch((error: unknown) => {
        if (error instanceof AllPlacesTaken) {
          throw new Failure(
            `Not created: an account may have ${ENDPOINTS_PER_ACCOUNT} webhooks. \`webhook remove\` takes one away.`,
            { cause: error },
          );
        }
        throw error;
      });
      return {
        text: created
          ? `${endpoint._id}\n${secret}\nKeep the secret now: it checks the signatures (Standard Webhooks) and is not shown again.`
          : `${endpoint._id} had this URL already: it keeps its secret, posts ${events.join(', ')} and is enabled.`,
        json: { ...view(endpoint), created, ...(created ? { secret } : {}) },
      };
    },
  }),
  defineCommand({
    noun: 'webhook',
    verb: 'list',
    about: 'Shows the webhooks of an account.',
    args: { account },
    options: {},
    async run({ account }, { db }) {
      const store = await db();
      await existing(store, account);
      const all = await listEndpoints(store, account);
      const rows = all.map((one) => [
        one._id,
        one.status + (one.disabledReason === undefined ? '' : ` (${one.disabledReason})`),
        one.failingSince?.toISOString() ?? '-',
        one.channel,
        one.url,
        one.events.length === eventsOf(one.channel).length ? 'all' : one.events.join(','),
      ]);
      return {
        text: table(
          ['WEBHOOK', 'STATUS', 'FAILING SINCE', 'CHANNEL', 'URL', 'EVENTS'],
          rows,
          'It has no webhooks yet.',
        ),
        json: all.map(view),
      };
    },
  }),
  defineCommand({
    noun: 'webhook',
    verb: 'disable',
    about: 'Stops posting to a webhook. Its due posts are discarded.',
    args: { webhook },
    options: {},
    async run({ webhook }, { db }) {
      const done = await disableEndpoint(await db(), webhook, 'operator');
      if (!done) throw new Failure(`There is no enabled webhook ${webhook}: \`webhook list <account>\` shows them.`);
      return { text: `${webhook} is disabled.`, json: { webhook, status: 'disabled' } };
    },
  }),
  defineCommand({
    noun: 'webhook',
    verb: 'enable',
    about: 'Posts to a webhook again, from now on.',
    args: { webhook },
    options: {},
    async run({ webhook }, { db, clock }) {
      const done = await enableEndpoint(await db(), clock, webhook);
      if (!done) throw new Failure(`There is no webhook ${webhook}: \`webhook list <account>\` shows them.`);
      return { text: `${webhook} is enabled.`, json: { webhook, status: 'active' } };
    },
  }),
  defineCommand({
    noun: 'webhook',
    verb: 'replay',
    about:
      'Posts again what a webhook did not get: posts that failed in all tries, and posts that were due when it was disabled.',
    args: { webhook },
    options: { since: required(instant, 'events from this time on') },
    notes:
      'It goes back as far as deliveries are kept (DELIVERY_DAYS). Posts that are due or wait for their next try stay as they are. Events\n' +
      'of the time when the webhook was disabled were not stored for it: GET /v2/events shows them, for seven days.',
    async run({ webhook, since }, { db, clock }) {
      const store = await db();
      const [endpoint] = await findEndpoints(store, [webhook]);
      if (endpoint === undefined) {
        throw new Failure(`There is no webhook ${webhook}: \`webhook list <account>\` shows them.`);
      }
      if (endpoint.status !== 'active') {
        throw new Failure(`${webhook} is disabled and would get nothing. Run \`webhook enable ${webhook}\` first.`);
      }
      const replayed = await replaySince(store, { endpoint: webhook, since }, clock.now());
      return { text: `Posts again: ${replayed}.`, json: { webhook, replayed } };
    },
  }),
  defineCommand({
    noun: 'webhook',
    verb: 'replay-event',
    about: 'Posts one event to a webhook again, even if it acknowledged the event.',
    args: { webhook, event: required(eventId, 'the event') },
    options: {},
    notes:
      "The event's id is the `webhook-id` of the post, and `event_id` in GET /v2/messages/{id}. An event that is due or waits is posted anyway.",
    async run({ webhook, event }, { db, clock }) {
      const done = await replayDelivery(await db(), deliveryId(event, webhook), clock.now());
      if (!done) {
        throw new Failure(
          `${event} cannot be posted again to ${webhook}: it was never stored for this webhook, or it is still on its way.`,
        );
      }
      return { text: `Posts ${event} again.`, json: { webhook, event } };
    },
  }),
  defineCommand({
    noun: 'webhook',
    verb: 'test',
    about: 'Posts a signed event webhook.test to a webhook now, and shows what was answered.',
    args: { webhook },
    options: {},
    notes: 'It is no delivery: nothing is stored or repeated. It goes the way of all posts, from this machine.',
    async run({ webhook }, { db, clock, box, config }) {
      const [endpoint] = await findEndpoints(await db(), [webhook]);
      if (endpoint === undefined) {
        throw new Failure(`There is no webhook ${webhook}: \`webhook list <account>\` shows them.`);
      }
      const guard = new AddressGuard(guardOptions(config));
      // Nothing is logged: if the secret cannot be read, the result says so.
      const deps = { clock, box: await box(), guard, timeoutMs: config.webhookTimeoutMs, log: { error: () => {} } };
      const { result, durationMs, excerpt } = await postTestEvent(deps, endpoint);
      const answer = excerpt === undefined ? '' : `\n${excerpt}`;
      return {
        text: `${resultWords(result)} (${result}, ${durationMs} ms)${answer}`,
        json: { webhook, result, reason: resultWords(result), duration_ms: durationMs, answer: excerpt ?? null },
        ok: isAcknowledged(result),
      };
    },
  }),
  defineCommand({
    noun: 'webhook',
    verb: 'rotate',
    about: 'Gives a webhook a new secret, shown only this once. The old one signs beside it for 24 hours.',
    args: { webhook },
    options: {},
    async run({ webhook }, { db, clock, box }) {
      const secret = newSecret();
      const own = await box();
      const rotated = await rotateSecret(await db(), clock, own, { secret }, webhook);
      if (rotated === undefined) {
        throw new Failure(`There is no webhook ${webhook}: \`webhook list <account>\` shows them.`);
      }
      const signatures =
        openSecrets(rotated, own).errors.length === 0
          ? 'For 24 hours posts have both signatures.'
          : 'The old one cannot be read, so only the new one signs.';
      return { text: `${secret}\nKeep it now, it is not shown again. ${signatures}`, json: { webhook, secret } };
    },
  }),
  defineCommand({
    noun: 'webhook',
    verb: 'remove',
    about: 'Removes a webhook and its secret, which makes room for another. Its due posts are discarded.',
    args: { webhook },
    options: {},
    async run({ webhook }, { db }) {
      const done = await removeEndpoint(await db(), webhook);
      if (!done) throw new Failure(`There is no webhook ${webhook}: \`webhook list <account>\` shows them.`);
      return { text: `${webhook} is removed.`, json: { webhook, status: 'removed' } };
    },
  }),
];

function view(one: EndpointDocument): Readonly<Record<string, unknown>> {
  return {
    webhook: one._id,
    account: one.account,
    channel: one.channel,
    url: one.url,
    events: one.events,
    status: one.status,
    disabled_reason: one.disabledReason ?? null,
    failing_since: one.failingSince ?? null,
    created_at: one.createdAt,
  };
}
