import type { SmscOptions } from '../../../scripts/simulator/smsc/options.ts';
import { type Smsc, startSmsc } from '../../../scripts/simulator/smsc.ts';
import { type BindReportDocument, unusableSession, writeBindReport } from '../../../shared/carriers/bind-report.ts';
import type { CarrierDocument } from '../../../shared/carriers/carrier.ts';
import { type Condition, listConditions } from '../../../shared/carriers/carrier-condition.ts';
import { BindReporter } from '../../../workers/smpp/monitoring/bind-reporter.ts';
import { eventually } from '../../support/eventually.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { silentLog } from '../../support/silent-log.ts';
import { openWorld, QUICK, type World } from '../../support/smpp-world.ts';

describe('smpp worker: what it tells of its binds', () => {
  let world: World | undefined;
  let smsc: Smsc | undefined;
  afterEach(async () => {
    await world?.close();
    await smsc?.close();
    world = undefined;
    smsc = undefined;
  });
  const open = async (options: Partial<SmscOptions>, carrier: Partial<CarrierDocument> = {}): Promise<World> => {
    world = await openWorld({ smsc: options, carrier: { ...QUICK, ...carrier } });
    return world;
  };
  const becomes = ({ db }: World, condition: Condition, id = 'sim') =>
    eventually(async () => {
      const all = await listConditions(db, new Date());
      const found = all.find(({ carrier }) => carrier._id === id);
      if (found?.condition !== condition) throw new Error(`is ${found?.words}`);
      return found;
    }, `${id} is ${condition}`);
  const change = ({ db }: World, set: Partial<CarrierDocument>) =>
    db.collection<CarrierDocument>('carriers').updateOne({ _id: 'sim' }, { $set: set });

  it('a wrong password: refused, in words and since when; cleared when it is bound', async () => {
    const here = await open({ password: 'another' });

    const refused = await becomes(here, 'refused');
    const stored = await here.db.collection<BindReportDocument>('bind_reports').findOne({ _id: 'sim' });
    smsc = await startSmsc();
    await change(here, { port: smsc.port });
    const bound = await becomes(here, 'bound');

    expect(refused.words).to.match(/^bind refused: wrong password \(0x0E\) since 20/);
    expect(stored?.binds[0]?.trouble).to.include({ kind: 'refused', code: '0x0E', reason: 'wrong password' });
    expect(JSON.stringify(stored)).not.to.include('secret');
    expect(bound.binds.map(({ index, state, trouble }) => ({ index, state, trouble }))).to.deep.equal([
      { index: 0, state: 'bound', trouble: undefined },
    ]);
  });

  it('nobody listens: unreachable; paused; held by no process', async () => {
    const here = await open({});
    await becomes(here, 'bound');

    await here.smsc.close();
    const gone = await becomes(here, 'unreachable');
    await change(here, { status: 'paused' });
    const paused = await becomes(here, 'paused');
    await change(here, { status: 'active' });
    await here.worker.stop();
    const unheld = await becomes(here, 'unheld');

    expect(gone.words).to.match(/^unreachable: nothing listens at its address \(ECONNREFUSED\)/);
    expect([paused.words, unheld.words.slice(0, 18)]).to.deep.equal(['paused', 'held by no process']);
  });

  it('TLS to a carrier that speaks none: unreachable, and says that it is TLS', async () => {
    const here = await open({}, { tls: true });

    expect((await becomes(here, 'unreachable')).words).to.match(/^unreachable: TLS failed \(/);
  });

  it('the trouble of a pair is that of the session that ended first', async () => {
    const here = await open({ password: 'another' }, { bindKind: 'pair' });

    expect((await becomes(here, 'refused')).words).to.match(/wrong password/);
  });

  it('a bind that is lost again in a moment is in trouble since the first time', async () => {
    const { db } = await open({});
    const clock = new ManualClock(new Date('2026-11-21T10:00:00Z'));
    const began = clock.now();
    const lost = unusableSession({ code: '20003', reason: 'The carrier answered HTTP 401' });
    const reporter = new BindReporter({ db, clock, log: silentLog, carrier: 'x', epoch: 1 });
    const told = (since: Date) =>
      eventually(async () => {
        const { binds } = (await db.collection<BindReportDocument>('bind_reports').findOne({ _id: 'x' })) ?? {};
        expect(binds?.[0]?.trouble).to.deep.equal({ ...lost, since });
        return true;
      }, 'the trouble is stored');
    reporter.tell(0, 'backoff', lost);
    for (const seconds of [2, 5, 9]) {
      clock.turn(seconds * 1_000);
      reporter.tell(0, 'bound');
      clock.turn(seconds * 1_000);
      reporter.tell(0, 'draining');
      reporter.tell(0, 'backoff', lost);
    }
    await told(began);

    reporter.tell(0, 'bound');
    clock.turn(60_000);
    reporter.tell(0, 'backoff', lost);

    await told(clock.now());
    reporter.end();
  });

  it('an earlier holder says nothing over the head of a later one', async () => {
    const { db } = await open({});
    const at = new Date();
    await writeBindReport(db, { _id: 'x', epoch: 2, at, flow: {}, binds: [] });

    await writeBindReport(db, { _id: 'x', epoch: 1, at: new Date(0), flow: {}, binds: [] });

    expect(await db.collection<BindReportDocument>('bind_reports').findOne({ _id: 'x' })).to.deep.include({
      epoch: 2,
      at,
    });
  });
});
