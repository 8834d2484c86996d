import type { SmscOptions } from '../../../scripts/simulator/smsc/options.ts';
import { type Smsc, startSmsc } from '../../../scripts/simulator/smsc.ts';
import { replaceRoute } from '../../../shared/carriers/routing/store.ts';
import type { MessageDocument } from '../../../shared/messages/document/message.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import type { MessageId } from '../../../shared/platform/runtime/ids.ts';
import { Reroute } from '../../../workers/maintenance/reroute.ts';
import { eventually } from '../../support/eventually.ts';
import { type HostileCarrier, startHostileCarrier } from '../../support/hostile-carrier.ts';
import { latch } from '../../support/latch.ts';
import { numbered, QUICK, type World, worldPerTest } from '../../support/smpp-world.ts';

const REFUSES = () => ({ status: 0x0b });

describe('smpp worker: one carrier after the other', () => {
  const open = worldPerTest();
  let others: Smsc[] = [];
  afterEach(async () => {
    await Promise.all(others.map((smsc) => smsc.close()));
    others = [];
  });

  /** Another carrier with its own simulated SMSC. */
  async function add(
    world: World,
    _id: string,
    smsc: Partial<SmscOptions> = {},
    paths = ['transactional'],
  ): Promise<Smsc> {
    const started = await startSmsc({ receiptDelayMs: 20, ...smsc });
    others.push(started);
    await world.addCarrier({
      ...{ _id, name: _id, host: '127.0.0.1', port: started.port, systemId: 'harkara', password: 'x', paths },
      ...QUICK,
    });
    await eventually(() => started.stats().binds > 0, `${_id} is bound`);
    return started;
  }

  const submits = (smsc: Smsc): number => smsc.stats().submits.submitted;
  const texts = (smsc: Smsc): readonly string[] => smsc.messages().map(({ to }) => to);
  async function read(world: World, ids: readonly MessageId[]): Promise<MessageDocument[]> {
    return Promise.all(ids.map((id) => world.message(id)));
  }

  /** Does not wait for the receipt, which a carrier paused just after the submit does not send. */
  async function carriedBy(world: World, path: string, carrier: string): Promise<boolean> {
    const id = await world.send({ path });
    const taken = await eventually(async () => {
      const message = await world.message(id);
      return ['sent', 'delivered'].includes(message.state) ? message : undefined;
    }, `${id} is taken`);
    return taken?.claim?.carrier === carrier;
  }

  it('of two carriers of one path one refuses everything with 0x0B: all messages arrive, once', async () => {
    const world = await open({ smsc: { behaviour: REFUSES }, carrier: { ...QUICK, paths: ['transactional'] } });
    const healthy = await add(world, 'healthy');

    const ids = await world.sendMany(numbered(100));
    await world.allReach(ids, 'delivered');

    expect(new Set(texts(healthy)).size).to.equal(100);
    expect(texts(healthy)).to.have.length(100);
    const refused = (await read(world, ids)).filter(({ attempts = [] }) => attempts.length > 0);
    for (const { attempts, claim } of refused) {
      expect(attempts?.map(({ carrier, code }) => ({ carrier, code }))).to.deep.equal([
        { carrier: 'sim', code: '0x0B' },
      ]);
      expect(claim?.carrier).to.equal('healthy');
    }
    // Its breaker opens after twenty answers; a few more submits were in flight.
    expect(submits(world.smsc)).to.be.below(100);
  });

  it('refused by every carrier, it is rejected with the code of the last one, and asked of none twice', async () => {
    const world = await open({ smsc: { behaviour: REFUSES }, carrier: { ...QUICK, paths: ['transactional'] } });
    const second = await add(world, 'second', { behaviour: () => ({ status: 0x0a }) });

    const id = await world.send({});
    const ended = await world.reaches(id, 'rejected');

    expect((ended.attempts ?? []).length).to.equal(1);
    expect([ended.errorCode, ended.attempts?.[0]?.code].sort()).to.deep.equal(['0x0A', '0x0B']);
    expect(ended.history.map(({ state }) => state)).to.deep.equal(['rejected']);
    expect(submits(world.smsc) + submits(second)).to.equal(2);
  });

  it('one that says "not bound" to all is left when it has answered for all: none is unknown', async () => {
    let refused = 0;
    const behaviour = () => (refused++ < 10 ? { status: 0x04 } : undefined);
    const world = await open({
      smsc: { behaviour, responseDelayMs: 100 },
      carrier: { ...QUICK, paths: ['transactional'] },
    });

    const ids = await world.sendMany(numbered(10));
    await world.allReach(ids, 'delivered');

    expect((await read(world, ids)).filter(({ earlier }) => earlier !== undefined)).to.deep.equal([]);
    expect(submits(world.smsc)).to.equal(20);
  });

  it('a refusal of the text stays where it is', async () => {
    const world = await open({ smsc: { behaviour: () => ({ status: 0x01 }) }, carrier: { paths: ['promotional'] } });
    const healthy = await add(world, 'healthy', {}, ['transactional']);
    await world.db.collection('routes').insertOne(ROUTE as never);
    const id = await world.send({ route: 'promotional', path: '@30:sim>healthy', lane: 3 });

    expect(await world.reaches(id, 'rejected')).to.include({ errorCode: '0x01' });
    expect(texts(healthy)).to.deep.equal([]);
  });

  it('a list of carriers: the first while it is up, the next when it is down, the first again', async () => {
    const world = await open({ carrier: { ...QUICK, paths: ['promotional'] } });
    await world.db.collection('routes').insertOne(ROUTE as never);
    const healthy = await add(world, 'healthy', {}, ['promotional']);
    const path = '@30:sim>healthy';
    const first = await world.sendMany(numbered(5, { path }));
    await world.allReach(first, 'delivered');
    expect(texts(healthy)).to.deep.equal([]);

    await world.db.collection('carriers').updateOne({ _id: 'sim' as never }, { $set: { status: 'paused' } });
    await eventually(() => carriedBy(world, path, 'healthy'), 'the next takes');

    await world.db.collection('carriers').updateOne({ _id: 'sim' as never }, { $set: { status: 'active' } });
    await eventually(() => carriedBy(world, path, 'sim'), 'the first takes again');
  });

  it('a carrier that accepts each bind and closes it at once is down: the next takes over', async () => {
    const flapping: HostileCarrier = await startHostileCarrier({
      withBind: () => {
        setImmediate(() => flapping.hangUp());
        return Buffer.alloc(0);
      },
    });
    const world = await open({ carrier: { ...QUICK, port: flapping.port, paths: ['promotional'] } });
    await world.db.collection('routes').insertOne(ROUTE as never);
    await add(world, 'healthy', {}, ['promotional']);
    const id = await world.send({ path: '@30:sim>healthy' });

    const taken = await world.reaches(id, 'delivered');
    await flapping.close();

    expect(taken.claim?.carrier).to.equal('healthy');
  });

  it('its route is removed while the carrier refuses: the other carrier gets it by a route of now', async () => {
    const answer = latch();
    const world = await open({
      smsc: { behaviour: () => ({ status: 0x0b, answerWhen: answer.opened }) },
      carrier: { ...QUICK, responseTimeoutMs: 60_000, paths: ['promotional'] },
    });
    await world.db.collection('routes').insertOne({ ...ROUTE, waitSeconds: 20 } as never);
    const healthy = await add(world, 'healthy', {}, ['promotional']);
    const id = await world.send({ path: '@20:sim>healthy' });
    await eventually(() => submits(world.smsc) > 0, 'the first carrier has it');

    await world.db.collection('routes').deleteOne({ _id: 'all' as never });
    const rest = { ...ROUTE, _id: 'rest', groups: ROUTE.groups.slice(1), waitSeconds: 5 };
    await world.db.collection('routes').insertOne(rest as never);
    await world.reaches(await world.send({ path: '@5:healthy' }), 'delivered');
    answer.open();
    await eventually(async () => (await world.message(id)).state !== 'submitting', 'it is refused');
    await new Reroute({
      db: world.db,
      clock: systemClock,
      held: () => true,
      holder: () => ({ carrier: '@maintenance', epoch: 1 }),
    }).run();

    const { attempts, claim } = await world.reaches(id, 'delivered');
    expect([attempts?.[0]?.carrier, claim?.carrier]).to.deep.equal(['sim', 'healthy']);
    expect(submits(healthy)).to.equal(2);
  });

  it('sent again because no answer came, and refused: the next carrier gets it', async () => {
    let copies = 0;
    const world = await open({
      smsc: { behaviour: () => (copies++ === 0 ? { answer: 'never', receipts: [] } : { status: 0x0b }) },
      carrier: { ...QUICK, unknownPolicy: 'resend', unknownWaitMs: 500, paths: ['promotional'] },
    });
    await world.db.collection('routes').insertOne(ROUTE as never);
    await add(world, 'healthy', {}, ['promotional']);

    const id = await world.send({ path: '@30:sim>healthy' });
    const { attempts, claim, earlier } = await world.reaches(id, 'delivered');

    expect([attempts?.[0]?.carrier, claim?.carrier]).to.deep.equal(['sim', 'healthy']);
    expect(earlier?.map(({ carrier }) => carrier)).to.deep.equal(['sim']);
    expect(submits(world.smsc)).to.equal(2);
  });

  it('a carrier that is too slow is helped after the waiting time of the route', async () => {
    const world = await open({
      smsc: { responseDelayMs: 5_000 },
      carrier: { ...QUICK, responseTimeoutMs: 60_000, windowSize: 1, paths: ['promotional'] },
    });
    await world.db.collection('routes').insertOne({ ...ROUTE, waitSeconds: 2 } as never);
    const healthy = await add(world, 'healthy', {}, ['promotional']);
    await replaceRoute(world.db, { ...ROUTE, waitSeconds: 2 });

    const ids = await world.sendMany(numbered(40, { path: '@2:sim>healthy' }));
    await world.allReach(ids, 'delivered');

    expect(texts(healthy).length + texts(world.smsc).length).to.equal(40);
    expect(texts(world.smsc).length).to.be.within(1, 10);
  });
});

const ROUTE = {
  _id: 'all',
  order: 0,
  match: {},
  groups: [[{ carrier: 'sim', weight: 1 }], [{ carrier: 'healthy', weight: 1 }]],
  waitSeconds: 30,
  createdAt: new Date('2026-11-22T10:00:00Z'),
};
