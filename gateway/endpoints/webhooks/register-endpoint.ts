import { setTimeout as wait } from 'node:timers/promises';
import { ENDPOINTS_PER_ACCOUNT } from '../../../shared/events/webhooks/endpoint.ts';
import {
  type CreatedEndpoint,
  createEndpoint,
  findEndpointId,
  findEndpoints,
  type NewEndpoint,
} from '../../../shared/events/webhooks/endpoint-store.ts';
import { SUBSCRIPTIONS_FRESH_MS } from '../../../shared/events/webhooks/subscriptions.ts';
import { AllPlacesTaken } from '../../../shared/platform/mongo/places.ts';
import { changeAudited } from '../../http/audited.ts';
import type { Caller } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import type { Refused } from '../../http/idempotency/action.ts';

/**
 * Registers an address for events of one channel. An address that the account has already keeps its id and secret, takes the new
 * events and is active again. Resolves half a second later, when every process knows it and no event misses it any more.
 */
export async function registerEndpoint(
  { db, clock, box, config }: Pick<GatewayDeps, 'db' | 'clock' | 'box' | 'config'>,
  caller: Caller,
  wanted: NewEndpoint,
): Promise<CreatedEndpoint | Refused> {
  const id = await findEndpointId(db, wanted);
  const made = await changeAudited({ db, clock, config }, caller, {
    action: 'webhook.register',
    subject: { kind: 'webhook', id },
    read: async () => {
      const [known] = await findEndpoints(db, [id]);
      // Throws when its secret cannot be opened: nothing is changed then, because its events could not be signed.
      for (const { sealed } of known?.secrets.slice(0, 1) ?? []) box.open(sealed, ['endpoints', id, 'secrets.sealed']);
      return known;
    },
    make: () => createEndpoint(db, clock, box, { ...wanted, events: [...new Set(wanted.events)] }, id),
    madeOf: ({ endpoint }) => endpoint,
    isRefusal: (error) => error instanceof AllPlacesTaken,
  }).catch(tooMany);
  // Every process has read the endpoints again by then.
  if (!('kind' in made)) await wait(SUBSCRIPTIONS_FRESH_MS);
  return made;
}

function tooMany(error: unknown): Refused {
  if (!(error instanceof AllPlacesTaken)) throw error;
  const detail = `An account may have ${ENDPOINTS_PER_ACCOUNT} webhooks. Register an address that it has already, or remove one: \`DELETE /v2/account/webhooks/{webhook_id}\`.`;
  return { kind: 'refused', problem: ['too_many_webhooks', { detail }] };
}
