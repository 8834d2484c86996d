import { expect } from 'chai';
import { deliveriesOf } from '../../../shared/events/webhooks/delivery-store.ts';
import { disableEndpoint } from '../../../shared/events/webhooks/endpoint-store.ts';
import type { ReplayDocument } from '../../../shared/events/webhooks/replay.ts';
import { startReplay } from '../../../shared/events/webhooks/replay-store.ts';
import { newId } from '../../../shared/platform/runtime/ids.ts';
import { Replays } from '../../../workers/webhooks/replays.ts';
import { makeDelivery, present } from '../../shared/events/webhooks/make.ts';
import { eventually } from '../../support/eventually.ts';
import { WebhookWorld } from './world.ts';

describe('webhooks worker: replays', () => {
  const world = WebhookWorld.use();

  /** Makes an endpoint with deliveries that it did not get, and a replay of all of them. */
  async function lost(url: string, count: number) {
    const { db, clock } = world();
    const { endpoint } = await world().register(url);
    const { account, _id } = endpoint;
    const createdAt = new Date(clock.now().getTime() - 60_000);
    const made = Array.from({ length: count }, () =>
      makeDelivery({ endpoint: _id, account, state: 'exhausted', createdAt }),
    );
    await deliveriesOf(db).insertMany(made);
    const since = new Date(createdAt.getTime() - 1_000);
    const replay = await startReplay(db, { _id: newId('rpl'), account, endpoint: _id, since }, clock.now());
    return { endpoint, replay };
  }
  const read = async ({ _id }: ReplayDocument) =>
    present(await world().db.collection<ReplayDocument>('webhook_replays').findOne({ _id }));

  it('posts what was lost, page by page, and notes how far it is', async () => {
    const receiver = await world().receiver();
    const { replay } = await lost(receiver.url, 620);
    await world().startWorker();

    const done = await eventually(async () => {
      const now = await read(replay);
      return now.state === 'done' && receiver.received.length === 620 && now;
    }, 'all of it is posted again');

    expect(done).to.include({ replayed: 620 });
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).to.equal(620);
  });

  it('ends when the endpoint was disabled meanwhile', async () => {
    const { db } = world();
    const { endpoint, replay } = await lost('http://127.0.0.1:1/', 3);
    await disableEndpoint(db, endpoint._id, 'account');
    await world().startWorker();

    const stopped = await eventually(async () => {
      const now = await read(replay);
      return now.state !== 'running' && now;
    }, 'it ends');

    expect(stopped).to.include({ state: 'stopped', replayed: 0 });
    expect(await deliveriesOf(db).countDocuments({ endpoint: endpoint._id, state: 'exhausted' })).to.equal(3);
  });

  it('goes on where an earlier process died: a page that was made due and not noted changes nothing more', async () => {
    const { db, clock } = world();
    const { endpoint, replay } = await lost('http://127.0.0.1:1/', 620);
    const first = new Replays({ db, clock });
    await first.round();
    const half = await read(replay);
    // As if the process had died before it noted the page.
    await db.collection<ReplayDocument>('webhook_replays').updateOne({ _id: replay._id }, { $unset: { before: '' } });

    const next = new Replays({ db, clock });
    await next.round();
    await next.round();

    expect(half).to.include({ state: 'running', replayed: 500 });
    expect(await read(replay)).to.include({ state: 'done', replayed: 620 });
    expect(await deliveriesOf(db).countDocuments({ endpoint: endpoint._id, state: 'due' })).to.equal(620);
  });
});
