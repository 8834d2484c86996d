import { deliveriesOf } from '../../../../shared/events/webhooks/delivery.ts';
import { createEndpoint, findEndpoints } from '../../../../shared/events/webhooks/endpoint-store.ts';
import { startReplay } from '../../../../shared/events/webhooks/replay.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { makeDelivery } from '../../../shared/events/webhooks/make.ts';
import { TEST_BOX } from '../../../support/chatapp.ts';
import { makeAccount } from '../../../support/make.ts';
import { expectProblem } from '../../../support/problem.ts';
import { settingsWorld } from '../settings-world.ts';

const SINCE = { since: '2026-11-01T00:00:00Z' };

describe('webhooks: who may do what', () => {
  const { site, ask, roleOf, keyWith } = settingsWorld();

  /** A webhook with a delivery and a replay, and every call that names one of them. */
  async function webhookOf(account = site.account) {
    const { db } = site;
    const { endpoint } = await createEndpoint(db, systemClock, TEST_BOX, {
      ...{ account, channel: 'sms', url: 'https://shop.example/mine', events: ['message.sent'] },
    });
    const delivery = makeDelivery({ endpoint: endpoint._id, account, state: 'exhausted' });
    await deliveriesOf(db).insertOne(delivery);
    const replay = { _id: newId('rpl'), account, endpoint: endpoint._id, since: new Date(0) };
    await startReplay(db, replay, new Date());
    return { endpoint, delivery, paths: pathsOf(endpoint._id, delivery.eventId, replay._id) };
  }

  const pathsOf = (webhook: string, event: string, replay: string) => {
    const one = `/v2/account/webhooks/${webhook}`;
    return {
      reads: [one, `${one}/deliveries`, `${one}/deliveries/${event}`, `${one}/replays`, `${one}/replays/${replay}`],
      writes: [
        ['patch', one, { state: 'disabled' }],
        ['delete', one, undefined],
        ['post', `${one}/rotate`, {}],
        ['post', `${one}/test`, undefined],
        ['post', `${one}/deliveries/${event}/replay`, undefined],
        ['post', `${one}/replays`, SINCE],
      ] as const,
    };
  };

  it("another account's are as unknown as those that do not exist", async () => {
    const theirs = await webhookOf(await makeAccount(site.db, 1));
    const mine = await webhookOf();
    const nobodys = pathsOf(newId('whk'), 'evt_x_sent', newId('rpl'));
    // My webhook with an unknown event and the replay of their webhook.
    const mixed = pathsOf(mine.endpoint._id, newId('evt'), theirs.paths.reads.at(-1)?.split('/').at(-1) ?? '');

    for (const { reads, writes } of [theirs.paths, nobodys]) {
      for (const path of reads) {
        const slug = /replays\//.test(path) ? 'replay_not_found' : 'webhook_not_found';
        expectProblem(await ask('get', path), slug);
      }
      for (const [method, path, body] of writes) expectProblem(await ask(method, path, body), 'webhook_not_found');
    }
    expectProblem(await ask('get', mixed.reads[2] ?? ''), 'delivery_not_found');
    expectProblem(await ask('get', mixed.reads[4] ?? ''), 'replay_not_found');
    const listed = (await ask('get', '/v2/account/webhooks').expect(200)).body.data;
    expect(listed.map(({ webhook_id }: { webhook_id: string }) => webhook_id)).to.deep.equal([mine.endpoint._id]);
    expect((await findEndpoints(site.db, [theirs.endpoint._id]))[0]).to.deep.equal(theirs.endpoint);
    expect(await deliveriesOf(site.db).findOne({ _id: theirs.delivery._id })).to.deep.equal(theirs.delivery);
  });

  for (const role of ['viewer', 'sender'] as const) {
    it(`a ${role} reads and does not write`, async () => {
      const { endpoint, paths } = await webhookOf();
      const headers = await roleOf(role);

      for (const path of paths.reads) await ask('get', path, undefined, headers).expect(200);
      for (const [method, path, body] of paths.writes) {
        expectProblem(await ask(method, path, body, headers), 'scope_missing');
      }
      const good = { channel: 'sms', url: 'https://shop.example/' };
      expectProblem(await ask('post', '/v2/account/webhooks', good, headers), 'scope_missing');
      expect((await findEndpoints(site.db, [endpoint._id]))[0]).to.deep.equal(endpoint);
    });
  }

  it('a key that may only manage sees no deliveries: their bodies have what customers wrote', async () => {
    const { paths } = await webhookOf();
    const headers = await keyWith(['manage']);

    for (const path of paths.reads.slice(1, 3)) {
      expectProblem(await ask('get', path, undefined, headers), 'scope_missing');
    }
    await ask('get', paths.reads[0] ?? '', undefined, headers).expect(200);
  });
});
