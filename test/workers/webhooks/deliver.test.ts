import { expect } from 'chai';
import { AddressGuard } from '../../../shared/events/webhooks/address-guard.ts';
import type { Completion } from '../../../shared/events/webhooks/delivery-store.ts';
import { systemClock as clock } from '../../../shared/platform/runtime/clock.ts';
import { Metrics } from '../../../shared/platform/runtime/metrics.ts';
import { Completer } from '../../../workers/webhooks/complete.ts';
import { Deliverer } from '../../../workers/webhooks/deliver.ts';
import { EndpointQueues } from '../../../workers/webhooks/endpoint-queues.ts';
import { Health } from '../../../workers/webhooks/health.ts';
import { createWebhookMetrics } from '../../../workers/webhooks/metrics.ts';
import { Targets } from '../../../workers/webhooks/targets.ts';
import { makeDelivery, makeEndpoint } from '../../shared/events/webhooks/make.ts';
import { TEST_BOX } from '../../support/chatapp.ts';
import { silentLog as log } from '../../support/silent-log.ts';
import { posterWorld } from './poster.ts';

describe('webhooks worker: a delivery to an endpoint that was disabled', () => {
  const { poster } = posterWorld();

  it('stays due until the endpoint is read again after it was found, and is discarded then', async () => {
    const endpoint = makeEndpoint({ status: 'disabled' });
    const completed: Completion[] = [];
    const findEndpoints = async () => [endpoint];
    const guard = new AddressGuard({ allowHttp: false, allowSubnets: [] });
    const targets = new Targets({ clock, box: TEST_BOX, guard, log, findEndpoints });
    const queues = new EndpointQueues({
      ...{ perHost: 1, isFailing: () => false, hostOf: () => undefined },
      ...{ sizeOf: () => ({ eventsPerPost: 1, gatherMs: 0 }), now: () => clock.now() },
    });
    const deliverer = new Deliverer({
      ...{ queues, targets, clock, log, poster: poster(), owns: () => true, random: () => 0.5 },
      completer: new Completer({ log, write: async (group) => void completed.push(...group) }),
      health: new Health({ log, noteFailingSince: async () => {}, disable: async () => {} }),
      metrics: createWebhookMetrics(new Metrics()),
    });
    const delivery = makeDelivery({ endpoint: endpoint._id });
    await targets.refresh([endpoint._id]);

    targets.outdate();
    queues.add(delivery);
    deliverer.pump();
    await deliverer.drained();
    expect(completed).to.deep.equal([]);

    queues.forgetCompleted();
    queues.add(delivery);
    await targets.refresh(queues.endpoints());
    deliverer.pump();
    await deliverer.drained();
    expect(completed).to.deep.equal([{ id: delivery._id, state: 'discarded' }]);
  });
});
