import { expect } from 'chai';
import type { EndpointDocument } from '../../../shared/events/webhooks/endpoint.ts';
import { disableEndpoint, enableEndpoint, removeEndpoint } from '../../../shared/events/webhooks/endpoint-store.ts';
import { present } from '../../shared/events/webhooks/make.ts';
import { eventually } from '../../support/eventually.ts';
import { WebhookWorld } from './world.ts';

describe('webhooks worker: endpoints that fail or are gone', () => {
  const world = WebhookWorld.use();

  it('410 disables the endpoint, and discards what else is due for it', async () => {
    const target = await world().receiver((_, res) => res.writeHead(410).end());
    const registered = await world().register(target.url);
    const deliveries = await world().deliver(registered, 20);
    await world().startWorker({ perHost: 1 });

    for (const delivery of deliveries) await world().inState(delivery, 'discarded');

    expect(target.received).to.have.length(1);
    await eventually(async () => (await world().endpointOf(registered))?.status === 'disabled', 'disabled');
    expect(await world().endpointOf(registered)).to.include({ disabledReason: 'the endpoint answered 410 Gone' });
  });

  it('nothing is posted to an endpoint that was disabled or is gone', async () => {
    const target = await world().receiver();
    const disabled = await world().register(`${target.url}/disabled`);
    const gone = await world().register(`${target.url}/gone`);
    await disableEndpoint(world().db, disabled.endpoint._id, 'by its owner');
    await world().db.collection<EndpointDocument>('endpoints').deleteOne({ _id: gone.endpoint._id });
    const deliveries = [...(await world().deliver(disabled, 3)), ...(await world().deliver(gone, 3))];
    await world().startWorker();

    for (const delivery of deliveries)
      expect(await world().inState(delivery, 'discarded')).to.deep.include({ attempts: [] });

    expect(target.received).to.deep.equal([]);
  });

  it('an endpoint that is enabled, or registered again, gets what is due from then on', async () => {
    const target = await world().receiver();
    const disabled = await world().register(`${target.url}/disabled`);
    const gone = await world().register(`${target.url}/gone`);
    await disableEndpoint(world().db, disabled.endpoint._id, 'by its owner');
    await removeEndpoint(world().db, gone.endpoint._id);
    await world().startWorker();
    for (const one of [disabled, gone]) await world().inState(present((await world().deliver(one))[0]), 'discarded');

    // The worker's clock stands still: whatever it remembers for a while, it remembers now.
    await enableEndpoint(world().db, world().clock, disabled.endpoint._id);
    await world().register(gone.endpoint.url, gone.endpoint.account);

    for (const one of [disabled, gone]) await world().inState(present((await world().deliver(one))[0]), 'done');
  });

  it('so does one that is enabled right after its 410', async () => {
    let status = 410;
    const target = await world().receiver((_, res) => res.writeHead(status).end());
    const registered = await world().register(target.url);
    await world().startWorker();
    await world().inState(present((await world().deliver(registered))[0]), 'discarded');
    await eventually(async () => (await world().endpointOf(registered))?.status === 'disabled', 'disabled');

    status = 200;
    await enableEndpoint(world().db, world().clock, registered.endpoint._id);

    await world().inState(present((await world().deliver(registered))[0]), 'done');
  });

  it('five days of only failures disable the endpoint, and say so', async () => {
    const target = await world().receiver((_, res) => res.writeHead(500).end());
    const registered = await world().register(target.url);
    await world().startWorker();
    const first = present((await world().deliver(registered))[0]);
    await world().inState(first, 'waiting');
    await eventually(async () => (await world().endpointOf(registered))?.failingSince, 'failing noted');

    world().clock.turn(5 * 86_400_000);

    await eventually(async () => (await world().endpointOf(registered))?.status === 'disabled', 'disabled');
    expect((await world().endpointOf(registered))?.disabledReason).to.include('for five days');
  });

  it('a success clears since when the endpoint was failing', async () => {
    let status = 500;
    const target = await world().receiver((_, res) => res.writeHead(status).end());
    const registered = await world().register(target.url);
    await world().startWorker();
    await world().deliver(registered);
    const failing = await eventually(async () => (await world().endpointOf(registered))?.failingSince, 'failing noted');
    expect(failing).to.deep.equal(world().clock.now());

    status = 200;
    await world().deliver(registered);

    await eventually(async () => (await world().endpointOf(registered))?.failingSince === undefined, 'cleared');
  });
});
