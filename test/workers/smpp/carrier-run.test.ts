import type { Db } from 'mongodb';
import { type Smsc, startSmsc } from '../../../scripts/simulator/smsc.ts';
import { CARRIER_DEFAULTS, type CarrierDocument } from '../../../shared/carriers/carrier.ts';
import { createAnnouncer } from '../../../shared/events/webhooks/announce.ts';
import { DEFAULT_PROMOTIONAL_HOURS } from '../../../shared/messages/document/routing.ts';
import { ClaimGates } from '../../../shared/messages/queue/claim-gates.ts';
import { MessageLog } from '../../../shared/messages/settlement/message-log.ts';
import { Lease } from '../../../shared/platform/leases/lease.ts';
import { systemClock as clock } from '../../../shared/platform/runtime/clock.ts';
import { Metrics } from '../../../shared/platform/runtime/metrics.ts';
import { CarrierRun } from '../../../workers/smpp/carrier-run.ts';
import { Departures } from '../../../workers/smpp/claim/departures.ts';
import { Serving } from '../../../workers/smpp/claim/serving.ts';
import { InboundAnnouncer } from '../../../workers/smpp/inbound/announce-inbound.ts';
import { AnswerSender } from '../../../workers/smpp/inbound/answer-sender.ts';
import { createSmppMetrics } from '../../../workers/smpp/monitoring/metrics.ts';
import { eventually } from '../../support/eventually.ts';
import { type HeldDb, holdUpdates } from '../../support/held-db.ts';
import { keepLines, type LogLine } from '../../support/log-lines.ts';
import { openTestStore, type TestStore } from '../../support/store.ts';

describe('smpp worker: a carrier under its lease', () => {
  let store: TestStore;
  let smsc: Smsc;
  let run: CarrierRun | undefined;
  let lines: readonly LogLine[];
  before(async () => {
    [store, smsc] = await Promise.all([openTestStore(), startSmsc()]);
  });
  after(async () => {
    await Promise.all([store.close(), smsc.close()]);
  });
  beforeEach(() => store.db.dropDatabase());
  afterEach(async () => {
    await run?.stop();
    run = undefined;
  });

  const make = (db: Db): CarrierRun => {
    const kept = keepLines();
    const { log } = kept;
    lines = kept.lines;
    const carrier: CarrierDocument = {
      ...CARRIER_DEFAULTS,
      ...{ _id: 'c', name: 'C', host: '127.0.0.1', port: smsc.port, systemId: 'x', password: '' },
      unknownWaitMs: 0,
      createdAt: clock.now(),
    };
    const metrics = createSmppMetrics(new Metrics());
    const answerSender = new AnswerSender({ db, clock, log, metrics });
    const { withDueAnswers } = answerSender;
    run = new CarrierRun({
      ...{ db, clock, log, carrier, publicUrl: '', password: '', metrics, answerSender },
      announcer: createAnnouncer({ db, clock }),
      gates: new ClaimGates({ db, clock, hours: DEFAULT_PROMOTIONAL_HOURS }),
      serving: new Serving({ db, clock }),
      departures: new Departures({ db, clock }),
      messageLog: new MessageLog({ db, clock, log, days: 1 }),
      inboundAnnouncer: new InboundAnnouncer({
        db,
        clock,
        announcer: createAnnouncer({ db, clock }),
        unassignedDays: 1,
        withDueAnswers,
      }),
      rules: { partsMs: 60_000, refuseUnassigned: false },
      lease: new Lease({ name: 'carrier:c', db: store.db, clock }),
    });
    return run;
  };
  const failures = (): readonly LogLine[] => lines.filter(({ event }) => event === 'round_failed');
  const looksHeld = (held: HeldDb): Promise<boolean> => eventually(() => held.waiting > 0, 'a look at unknowns waits');

  it('stops while a look at unknown submits is with the store: the look ends by itself', async () => {
    const held = holdUpdates(store.db, 'messages');
    const here = make(held.db);
    await here.start();
    held.hold();
    await looksHeld(held);

    await here.stop();
    await held.release();

    expect(failures()).to.deep.equal([]);
  });

  it('the lease goes while it starts: it starts nothing', async () => {
    const held = holdUpdates(store.db, 'messages');
    held.hold();
    const here = make(held.db);
    const started = here.start();
    await looksHeld(held);
    const { binds } = smsc.stats();

    await store.db.collection('leases').updateOne({}, { $set: { owner: 'another', epoch: 7 } });
    await eventually(() => here.ended, 'it knows that the lease is gone');
    await held.release();

    expect(await started).to.equal(false);
    expect(lines.some(({ event }) => event === 'carrier_taken')).to.equal(false);
    expect(smsc.stats().binds).to.equal(binds);
  });
});
