import { expect } from 'chai';
import { type DeliveryDocument, deliveryId } from '../../../shared/events/webhooks/delivery.ts';
import type { EndpointDocument } from '../../../shared/events/webhooks/endpoint.ts';
import { type AccountId, eventId, newId } from '../../../shared/platform/runtime/ids.ts';
import { makeDelivery, present } from '../../shared/events/webhooks/make.ts';
import { OpsWorld } from '../../support/ops-world.ts';
import { openReceiver } from '../../workers/webhooks/receiver.ts';
import { verify } from '../../workers/webhooks/world.ts';

describe('npm run ops: webhooks', () => {
  let world: OpsWorld;
  before(async () => {
    world = await OpsWorld.open();
  });
  after(() => world.close());

  describe('webhook', () => {
    const allowed = { WEBHOOK_ALLOW_HTTP: 'yes', WEBHOOK_ALLOW_SUBNETS: '127.0.0.0/8' };

    it('is created with a secret that is shown once, disabled and enabled', async () => {
      const account = await world.newAccount();
      const made = await world.json(`webhook create ${account} http://127.0.0.1:9/hook --events message.sent`, allowed);

      expect(made.secret).to.match(/^whsec_/);
      const listed = await world.run(`webhook list ${account}`);
      expect(listed.out).to.include(String(made.webhook)).and.not.to.include('whsec_');
      const again = await world.json(`webhook create ${account} http://127.0.0.1:9/hook`, allowed);
      expect(again).to.include({ webhook: made.webhook, created: false }).and.not.to.have.property('secret');
      await world.json(`webhook disable ${made.webhook}`);
      expect((await world.run(`webhook list ${account}`)).out).to.include('disabled (operator)');
      await world.json(`webhook enable ${made.webhook}`);
      expect((await world.run(`webhook list ${account}`)).out).to.match(/ active /);
    });

    it('is tested by a signed event, whose answer is shown', async () => {
      const account = await world.newAccount();
      let status = 200;
      const receiver = await openReceiver((_, res) => res.writeHead(status).end('noted'));
      const { webhook, secret } = await world.json(`webhook create ${account} ${receiver.url}/hook`, allowed);

      const tested = await world.json(`webhook test ${webhook}`, allowed);
      status = 500;
      const failed = await world.run(`webhook test ${webhook}`, allowed);
      await receiver.close();

      expect(tested).to.include({ result: 200, answer: 'noted' });
      expect(verify(secret, present(receiver.received[0]))).to.include({ event: 'webhook.test', webhook_id: webhook });
      expect(failed).to.include({ code: 1 });
      expect(failed.out).to.include('Your server answered 500.').and.to.include('noted');
      // Without the settings that allow it, customers' webhooks may not have this address.
      expect((await world.run(`webhook test ${webhook}`)).out).to.include('refused_url');
    });

    it('gets again what it missed since a time, and only when it is enabled', async () => {
      const account = await world.newAccount();
      const url = 'http://127.0.0.1:9/missed';
      await world.json(`webhook create ${account} ${url}`, allowed);
      const endpoint = present(await world.store.db.collection<EndpointDocument>('endpoints').findOne({ url }))._id;
      const missed = makeDelivery({ endpoint, state: 'exhausted' });
      const got = makeDelivery({ endpoint, state: 'done' });
      await world.store.db.collection<DeliveryDocument>('deliveries').insertMany([missed, got]);
      const line = `webhook replay ${endpoint} --since ${new Date(missed.createdAt.getTime() - 1).toISOString()}`;

      await world.json(`webhook disable ${endpoint}`);
      expect((await world.run(line)).err).to.include('is disabled');
      await world.json(`webhook enable ${endpoint}`);
      expect(await world.json(line)).to.include({ replayed: 1 });

      const states = await world.store.db
        .collection('deliveries')
        .find({ endpoint })
        .project({ state: 1, _id: 0 })
        .toArray();
      expect(states.map(({ state }) => state)).to.have.members(['due', 'done']);
      expect(await world.run(`webhook replay ${endpoint}`)).to.include({ code: 2 });
    });

    it('gets one event again, also one that it acknowledged', async () => {
      const account = await world.newAccount();
      await world.json(`webhook create ${account} http://127.0.0.1:9/again`, allowed);
      const { _id: endpoint } = present(
        await world.store.db.collection<EndpointDocument>('endpoints').findOne({ account: account as AccountId }),
      );
      const event = eventId(newId('msg'), 'delivered');
      const got = makeDelivery({ _id: deliveryId(event, endpoint), endpoint, eventId: event, state: 'done' });
      await world.store.db.collection<DeliveryDocument>('deliveries').insertOne(got);

      expect(await world.json(`webhook replay-event ${endpoint} ${got.eventId}`)).to.include({ event: got.eventId });

      const after = await world.store.db.collection<DeliveryDocument>('deliveries').findOne({ _id: got._id });
      expect(after).to.include({ state: 'due' });
      // Refused, because it is on its way already.
      expect(await world.run(`webhook replay-event ${endpoint} ${got.eventId}`)).to.include({ code: 1 });
      expect(await world.run(`webhook replay-event ${endpoint} nonsense`)).to.include({ code: 2 });
    });

    it('changes its secret, which is shown once', async () => {
      const account = await world.newAccount();
      const made = await world.json(`webhook create ${account} http://127.0.0.1:9/rotated`, allowed);

      const rotated = await world.json(`webhook rotate ${made.webhook}`);

      expect((await world.run(`webhook rotate ${made.webhook}`)).out).to.include('posts have both signatures');
      expect(rotated.secret)
        .to.match(/^whsec_/)
        .and.not.equal(made.secret);
      expect((await world.run(`webhook list ${account}`)).out).not.to.include('whsec_');
      await world.json(`webhook remove ${made.webhook}`);
      expect(await world.run(`webhook rotate ${made.webhook}`)).to.include({ code: 1 });
    });

    it('changes a secret that cannot be read, and then only the new one signs', async () => {
      const account = await world.newAccount();
      const receiver = await openReceiver((_, res) => res.writeHead(200).end());
      const { webhook } = await world.json(`webhook create ${account} ${receiver.url}/lost`, allowed);
      const other = { ...allowed, HARKARA_SECRET_KEY: 'ab'.repeat(32) };
      const before = await world.run(`webhook test ${webhook}`, other);

      const rotated = await world.run(`webhook rotate ${webhook}`, other);
      const tested = await world.run(`webhook test ${webhook}`, other);
      await receiver.close();

      expect(before.out).to.include('The secret of the webhook cannot be read. Rotate it');
      expect(rotated.out).to.include('The old one cannot be read, so only the new one signs.');
      expect(tested.out).to.include('acknowledged');
      const [secret = ''] = rotated.out.split('\n');
      expect(verify(secret, present(receiver.received[0]))).to.include({ event: 'webhook.test' });
      expect((await world.run(`webhook rotate ${webhook}`, other)).out).to.include('only the new one signs');
    });

    it('is removed, which makes room for another and forgets its secret', async () => {
      const account = await world.newAccount();
      const made = [];
      for (let i = 0; i < 10; i++) {
        made.push(await world.json(`webhook create ${account} http://127.0.0.1:9/${i}`, allowed));
      }
      expect(await world.run(`webhook create ${account} http://127.0.0.1:9/10`, allowed)).to.include({ code: 1 });

      await world.json(`webhook remove ${made[3]?.webhook}`);

      expect(await world.json(`webhook create ${account} http://127.0.0.1:9/10`, allowed)).to.include({
        created: true,
      });
      expect(await world.run(`webhook remove ${made[3]?.webhook}`)).to.include({ code: 1 });
      await world.json(`webhook remove ${made[4]?.webhook}`);
      const again = await world.json(`webhook create ${account} http://127.0.0.1:9/4`, allowed);
      expect(again.secret)
        .to.match(/^whsec_/)
        .and.not.to.equal(made[4]?.secret);
    });

    it('on http or a private address is refused with the reason and the setting', async () => {
      const account = await world.newAccount();

      const http = await world.run(`webhook create ${account} http://127.0.0.1:9/hook`);
      const local = await world.run(`webhook create ${account} https://127.0.0.1:9/hook`);
      const { out } = await world.run('webhook create --help');

      expect(http.err).to.include('is refused. The url must begin with https://. See `webhook create --help`.');
      expect(local.err).to.include('is refused. The url leads to a private or reserved address.');
      expect(out).to.include('WEBHOOK_ALLOW_HTTP').and.to.include('WEBHOOK_ALLOW_SUBNETS');
    });
  });
});
