import { writeBindReport } from '../../../shared/carriers/bind-report.ts';
import { createCarrier } from '../../../shared/carriers/carrier-store.ts';
import { type ConditionDocument, conditionsOf, PRESENT, readConditions } from '../../../shared/conditions/condition.ts';
import type { AccountDocument } from '../../../shared/money/accounts/account.ts';
import { type ProcessReport, reportProcess } from '../../../shared/platform/processes/report.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { Metrics } from '../../../shared/platform/runtime/metrics.ts';
import { Watch } from '../../../workers/maintenance/watch.ts';
import { createSmppMetrics } from '../../../workers/smpp/monitoring/metrics.ts';
import { TEST_BOX } from '../../support/chatapp.ts';
import { makeAccount, makeMessage } from '../../support/make.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { silentLog } from '../../support/silent-log.ts';
import { useStore } from '../../support/store.ts';

describe('the watch', () => {
  const store = useStore();
  const clock = new ManualClock(new Date());
  const told = new Metrics();
  const smpp = createSmppMetrics(told);
  let process: ProcessReport;
  let watch: Watch;
  before(async () => {
    await createCarrier(store.db, systemClock, TEST_BOX, {
      ...{ _id: 'airtel', name: 'Airtel', host: 'smpp.example.com', port: 2775, systemId: 'harkara' },
      password: 'hunter2!',
    });
    const until = new Date(Date.now() + 86_400_000);
    await store.db
      .collection<{ _id: string }>('leases')
      .insertOne({ _id: 'carrier:airtel', owner: 'another-machine', epoch: 3, until } as never);
    await report('bound');
    process = await reportProcess('smpp', store.db, told, silentLog);
    watch = new Watch({ db: store.db, clock, metrics: new Metrics(), notes: {} });
    await look(0);
  });
  after(() => process.end());

  const report = (state: 'bound' | 'backoff') =>
    writeBindReport(store.db, {
      ...{ _id: 'airtel', epoch: 3, at: clock.now(), binds: [{ index: 0, state, since: clock.now() }], flow: {} },
      measured: {
        ...{ since: clock.now(), unanswered: [0], answers: {}, receipts: {} },
        lastRefusal: { code: '0x45', reason: 'submit_sm failed', at: clock.now() },
      },
    });
  const look = async (seconds: number) => {
    clock.turn(seconds * 1_000);
    await process.setWorking(true); // reports at once
    await watch.look([]);
  };
  const answer = (cls: string, times: number) => smpp.answers.inc({ carrier: 'airtel', class: cls }, times);
  const found = async (name: string): Promise<ConditionDocument | undefined> =>
    (await conditionsOf(store.db).findOne<ConditionDocument>({ ...PRESENT, name })) ?? undefined;

  it('a carrier that refuses ten in a minute and accepts none refuses all, until it accepts one', async () => {
    answer('rejected', 4);
    await look(10);
    const began = clock.now();
    answer('retry', 5);
    await look(60);
    expect(await found('carrier.refusing')).to.equal(undefined, 'nine are too few');
    answer('retry', 1);
    await look(10);

    const refusing = await found('carrier.refusing');
    expect(refusing).to.deep.include({
      ...{ _id: 'carrier.refusing:airtel', subject: { kind: 'carrier', id: 'airtel' } },
      words: 'Airtel refuses all messages: submit_sm failed (0x45).',
    });
    expect(refusing?.since.getTime()).to.be.within(began.getTime() - 10_000, began.getTime());
    await look(600);
    expect((await found('carrier.refusing'))?.since).to.deep.equal(refusing?.since);

    answer('accepted', 1);
    await look(10);
    expect(await found('carrier.refusing')).to.equal(undefined);
  });

  it('a fifth of the last quarter of an hour is too much, until the last minute was better; then quiet changes nothing', async () => {
    await look(3_600);
    answer('accepted', 70);
    answer('rejected', 30);
    await look(10);
    expect((await found('carrier.refusing'))?.words).to.match(/refuses more than a fifth of the messages/);

    answer('accepted', 20);
    await look(60);
    expect(await found('carrier.refusing')).to.equal(undefined);
    for (const seconds of [120, 180, 240]) {
      await look(seconds);
      expect(await found('carrier.refusing')).to.equal(undefined);
    }
  });

  it('a bind that is down, messages that wait for their next try, submits without an answer', async () => {
    const claim = { id: 'clm_1', carrier: 'airtel', epoch: 3, at: new Date() } as never;
    const waiting = makeMessage({ state: 'waiting', claim });
    await store.db
      .collection('messages')
      .insertMany([waiting, makeMessage({ state: 'submitting', outcome: 'unknown', claim })] as never[]);
    await report('backoff');
    await look(120);

    expect((await found('carrier.down'))?.concerns.operator?.severity).to.equal('look'); // it is binding
    expect(await found('messages.retrying')).to.include({ words: '1 message of Airtel waits for the next try.' });
    expect(await found('carrier.unanswered')).to.include({ words: 'Airtel never answered 1 submit.' });
  });

  it('what holds when another process takes over goes on, and ends only when it has seen enough', async () => {
    await report('bound');
    watch.leave();
    await look(10);
    expect(await found('carrier.down')).not.to.equal(undefined);
    await look(130);
    expect(await found('carrier.down')).to.equal(undefined);
  });

  it('accounts that cannot send, and why', async () => {
    const day = (days: number) => new Date(clock.now().getTime() + days * 86_400_000).toISOString().slice(0, 10);
    const cases: readonly (readonly [string, number, Partial<AccountDocument>])[] = [
      ['balance.empty', 0, {}],
      ['balance.low', 50, { lowBalance: 50 }],
      ['account.suspended', 10, { status: 'suspended', held: true }],
      ['account.paused', 10, { held: true }],
      ['account.expired', 10, { expiryDate: day(-1) }],
      ['account.expiring', 10, { expiryDate: day(13) }],
      ['account.no_sender', 10, { senders: 'registered' }],
    ];
    const healthy = await makeAccount(store.db, 10, { expiryDate: day(14) });
    const accounts = await Promise.all(cases.map(([, credits, more]) => makeAccount(store.db, credits, more)));
    await watch.lookAtAccounts(() => true);

    for (const [i, account] of accounts.entries()) {
      const names = (await readConditions(store.db, account)).map((one) => one.name);
      expect(names).to.deep.equal([cases[i]?.[0]]);
    }
    expect(await readConditions(store.db, healthy)).to.deep.equal([]);
  });
});
