import { EVENT_NAMES, eventsOf } from '../../../shared/events/catalogue.ts';
import type { EndpointDocument } from '../../../shared/events/webhooks/endpoint.ts';
import { listEndpoints } from '../../../shared/events/webhooks/endpoint-store.ts';
import { CHANNEL_NAMES } from '../../../shared/messages/channels/channels.ts';
import { newId, type RequestId } from '../../../shared/platform/runtime/ids.ts';
import { bodyOf, callerOf } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import type { FieldProblems } from '../../http/field-problems.ts';
import { choice, list, optional, required } from '../../http/fields/field.ts';
import { address, invalidUrlRequest, type UrlCheck } from '../../http/fields/public-url.ts';
import { type Rule, readRequest, request, whole } from '../../http/fields/request.ts';
import type { Accepted, Action } from '../../http/idempotency/action.ts';
import { refusedLate } from '../../http/idempotency/refused-late.ts';
import { registerEndpoint } from './register-endpoint.ts';
import { webhookRecord } from './webhook-record.ts';

const FIELDS = {
  channel: required(choice(CHANNEL_NAMES, 'Whose events are posted.')),
  url: required(address('Where events are posted to: https, a public address.')),
  events: optional(
    list(choice(EVENT_NAMES), {
      description: 'The events to post. Without it: all events of the channel.',
      minItems: 1,
    }),
  ),
};

const ofChannel: Rule<typeof FIELDS> = ({ channel, events }, _has, problems) => {
  if (channel !== undefined && events !== undefined) checkEvents(channel, events, problems);
};

export const CREATE_WEBHOOK = request(FIELDS, [], [ofChannel]);

/** Reports events that do not happen on the endpoint's channel. */
export function checkEvents(
  channel: EndpointDocument['channel'],
  events: EndpointDocument['events'],
  problems: FieldProblems,
): void {
  const allowed = eventsOf(channel);
  events.forEach((event, index) => {
    if (allowed.includes(event)) return;
    problems.add(`events[${index}]`, 'invalid_value', `The events of this channel are ${allowed.join(', ')}.`);
  });
}

type Deps = Pick<GatewayDeps, 'db' | 'clock' | 'box' | 'config'>;

/**
 * POST /v2/account/webhooks (extension): registers an address for the events of one channel. The secret of a new one is in this
 * answer only. As `ops webhook create` and POST /v2/chatapp/webhook do.
 */
export function createWebhookCreation(deps: Deps, urlCheck: UrlCheck): Action<RequestId> {
  const { db, clock, box, config } = deps;
  return {
    name: 'create-webhook',
    // The endpoint's own id derives from its address. A new one stores this id, and `recover` finds it by that.
    newId: () => newId('req', clock.now().getTime()),
    async act(res, { id, payBy }) {
      const caller = callerOf(res);
      const context = { account: caller.account, now: clock.now(), config };
      const read = await readRequest(CREATE_WEBHOOK, bodyOf(res), context);
      const { given, problems } = read;
      const account = caller.account._id;
      if (given.url !== undefined && urlCheck.form(account, given.url, 'url', problems)) {
        await urlCheck.host(account, given.url, 'url', problems);
      }
      if (problems.count > 0) return { kind: 'refused', problem: invalidUrlRequest(problems) };
      const late = refusedLate(clock, payBy);
      if (late !== undefined) return late;
      const { channel, url, events = eventsOf(channel) } = whole(read);
      const wanted = { account, channel, url, events, registration: id };
      const made = await registerEndpoint(deps, caller, wanted);
      if ('kind' in made) return made;
      return answerOf(deps, made.endpoint, made.created ? made.secret : undefined);
    },
    /** Only a request that created an endpoint needs its old answer. Any other is simply done again. */
    async recover(account, id) {
      const endpoint = (await listEndpoints(db, account)).find(({ registration }) => registration === id);
      const [secret] = endpoint?.secrets ?? [];
      if (endpoint === undefined || secret === undefined) return undefined;
      return answerOf(deps, endpoint, box.open(secret.sealed, ['endpoints', endpoint._id, 'secrets.sealed']));
    },
  };
}

/** Stored encrypted, because it may have the secret. */
async function answerOf(deps: Deps, endpoint: EndpointDocument, secret: string | undefined): Promise<Accepted> {
  const body = {
    status: 'success',
    ...(await webhookRecord(deps, endpoint)),
    ...(secret === undefined ? {} : { secret }),
  };
  return { kind: 'accepted', sealed: true, body };
}
