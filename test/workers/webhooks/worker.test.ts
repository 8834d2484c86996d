import { randomBytes } from 'node:crypto';
import { AddressGuard } from '../../../shared/events/webhooks/address-guard.ts';
import { createAnnouncer } from '../../../shared/events/webhooks/announce.ts';
import { deliveriesOf } from '../../../shared/events/webhooks/delivery.ts';
import type { EndpointDocument } from '../../../shared/events/webhooks/endpoint.ts';
import { newSecret, setOptions } from '../../../shared/events/webhooks/endpoint-store.ts';
import { makeMessage, present } from '../../shared/events/webhooks/make.ts';
import { eventually } from '../../support/eventually.ts';
import { boxOf } from '../../support/secret-box.ts';
import { verify, WebhookWorld } from './world.ts';

describe('webhooks worker', () => {
  const world = WebhookWorld.use();

  it('an announced change arrives signed, as the specification’s body, and its delivery is done', async () => {
    const target = await world().receiver();
    const registered = await world().register(`${target.url}/hooks?x=1`);
    const message = makeMessage({ account: registered.endpoint.account, operator: 'Jio', reference: 'order 7' });
    await world().startWorker();

    await createAnnouncer(world()).announce([{ message, entry: { state: 'delivered', at: world().clock.now() } }]);

    const received = present(await eventually(() => target.received[0], 'arrived'));
    expect(received).to.include({ method: 'POST', path: '/hooks?x=1' });
    expect(received.headers).to.include({
      'content-type': 'application/json',
      'webhook-id': `evt_${message._id.slice(4)}_delivered`,
    });
    expect(verify(registered.secret, received)).to.include({
      event: 'message.delivered',
      message_id: message._id,
      status: 'delivered',
      operator: 'Jio',
      reference: 'order 7',
    });
    const stored = present(await deliveriesOf(world().db).findOne({ message: message._id }));
    expect(received.body).to.equal(stored.body);
    const done = await world().inState(stored, 'done');
    expect(done).not.to.have.property('due');
    expect(done.attempts.map(({ result }) => result)).to.deep.equal([200]);
  });

  it('posts have the own headers of the endpoint; one that cannot be read is not left out', async () => {
    const target = await world().receiver();
    const registered = await world().register(target.url);
    const { _id } = registered.endpoint;
    const headers = [
      { name: 'Authorization', value: 'Bearer s3cret', secret: true },
      { name: 'X-Team', value: 'billing', secret: false },
    ];
    await setOptions(world().db, world().box, registered.endpoint, { headers });
    await world().startWorker();
    const [delivery] = await world().deliver(registered);

    await world().inState(present(delivery), 'done');
    expect(target.received[0]?.headers).to.include({ authorization: 'Bearer s3cret', 'x-team': 'billing' });

    await world()
      .db.collection<EndpointDocument>('endpoints')
      .updateOne({ _id }, { $set: { headers: [{ name: 'Authorization', sealed: 'of another key' }] } });
    world().clock.turn(2_000);
    const [next] = await world().deliver(registered);
    const waiting = await world().inState(present(next), 'waiting');
    expect(waiting.attempts.map(({ result }) => result)).to.deep.equal(['no_header']);
  });

  it('during a rotation signs with the new and the old secret, until the old one expires', async () => {
    const target = await world().receiver();
    const registered = await world().register(target.url);
    const fresh = newSecret();
    const [old] = registered.endpoint.secrets;
    const expiresAt = new Date(world().clock.now().getTime() + 60_000);
    await world()
      .db.collection<EndpointDocument>('endpoints')
      .updateOne(
        { _id: registered.endpoint._id },
        {
          $set: {
            secrets: [
              { sealed: world().box.seal(fresh, ['endpoints', registered.endpoint._id, 'secrets.sealed']) },
              { sealed: old?.sealed ?? '', expiresAt },
            ],
          },
        },
      );
    await world().startWorker();

    await world().deliver(registered);
    const first = present(await eventually(() => target.received[0], 'the first'));
    world().clock.turn(61_000);
    await world().deliver(registered);
    const second = present(await eventually(() => target.received[1], 'the second'));

    expect(verify(fresh, first)).to.have.property('event');
    expect(verify(registered.secret, first)).to.have.property('event');
    expect(verify(fresh, second)).to.have.property('event');
    expect(() => verify(registered.secret, second)).to.throw('No matching signature');
  });

  it('a redirect is a failure: nothing is posted to where it points', async () => {
    const elsewhere = await world().receiver();
    const target = await world().receiver((_, res) => res.writeHead(307, { location: elsewhere.url }).end());
    const delivery = present((await world().deliver(await world().register(target.url)))[0]);
    await world().startWorker();

    const waiting = await world().inState(delivery, 'waiting');

    expect(waiting.attempts.map(({ result }) => result)).to.deep.equal([307]);
    expect(elsewhere.connections).to.equal(0);
  });

  it('a secret that cannot be opened is a failed try, not a post without a signature', async () => {
    const target = await world().receiver();
    const registered = await world().register(target.url);
    await world()
      .db.collection<EndpointDocument>('endpoints')
      .updateOne(
        { _id: registered.endpoint._id },
        {
          $set: {
            secrets: [
              {
                sealed: boxOf(randomBytes(32)).seal(newSecret(), [
                  'endpoints',
                  registered.endpoint._id,
                  'secrets.sealed',
                ]),
              },
            ],
          },
        },
      );
    const delivery = present((await world().deliver(registered))[0]);
    await world().startWorker();

    const waiting = await world().inState(delivery, 'waiting');

    expect(waiting.attempts.map(({ result }) => result)).to.deep.equal(['no_secret']);
    expect(target.received).to.deep.equal([]);
  });

  it('after a rotation, an old secret that cannot be opened stops nothing: the new one signs', async () => {
    const target = await world().receiver();
    const registered = await world().register(target.url);
    const fresh = newSecret();
    const expiresAt = new Date(world().clock.now().getTime() + 60_000);
    const lost = {
      sealed: boxOf(randomBytes(32)).seal(newSecret(), ['endpoints', registered.endpoint._id, 'secrets.sealed']),
      expiresAt,
    };
    await world()
      .db.collection<EndpointDocument>('endpoints')
      .updateOne(
        { _id: registered.endpoint._id },
        {
          $set: {
            secrets: [
              { sealed: world().box.seal(fresh, ['endpoints', registered.endpoint._id, 'secrets.sealed']) },
              lost,
            ],
          },
        },
      );
    await world().deliver(registered);
    await world().startWorker();

    const received = present(await eventually(() => target.received[0], 'arrived'));

    expect(verify(fresh, received)).to.have.property('event');
  });

  it('an old secret that can still be opened does not sign alone', async () => {
    const target = await world().receiver();
    const registered = await world().register(target.url);
    const [old] = registered.endpoint.secrets;
    const expiresAt = new Date(world().clock.now().getTime() + 60_000);
    const sealed = boxOf(randomBytes(32)).seal(newSecret(), ['endpoints', registered.endpoint._id, 'secrets.sealed']);
    await world()
      .db.collection<EndpointDocument>('endpoints')
      .updateOne(
        { _id: registered.endpoint._id },
        { $set: { secrets: [{ sealed }, { sealed: old?.sealed ?? '', expiresAt }] } },
      );
    const delivery = present((await world().deliver(registered))[0]);
    await world().startWorker();

    const waiting = await world().inState(delivery, 'waiting');

    expect(waiting.attempts.map(({ result }) => result)).to.deep.equal(['no_secret']);
  });

  it('a registered url that is not allowed any more is not posted to', async () => {
    const target = await world().receiver();
    const delivery = present((await world().deliver(await world().register(target.url)))[0]);
    await world().startWorker({ guard: new AddressGuard({ allowHttp: true, allowSubnets: [] }) });

    const waiting = await world().inState(delivery, 'waiting');

    expect(waiting.attempts.map(({ result }) => result)).to.deep.equal(['refused_address']);
    expect(target.connections).to.equal(0);
  });
});
