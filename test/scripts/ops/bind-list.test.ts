import { startSmsc } from '../../../scripts/simulator/smsc.ts';
import { queuedMessage } from '../../../shared/messages/document/message.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { newId } from '../../../shared/platform/runtime/ids.ts';
import { Metrics } from '../../../shared/platform/runtime/metrics.ts';
import { createSecretBox, loadSecretKeys } from '../../../shared/platform/runtime/secret-box.ts';
import { SmppWorker } from '../../../workers/smpp/worker.ts';
import { eventually } from '../../support/eventually.ts';
import { makeAccount, makeDraft } from '../../support/make.ts';
import { OpsWorld } from '../../support/ops-world.ts';
import { enqueue } from '../../support/queue.ts';
import { silentLog } from '../../support/silent-log.ts';
import { use } from '../../support/use.ts';

describe('npm run ops: bind list', () => {
  const world = use(() => OpsWorld.open());
  const smsc = use(() => startSmsc({ receiptDelayMs: 20 }));
  let worker: SmppWorker | undefined;
  before(async () => {
    process.env.HARKARA_SMPP_PASSWORD = 'pa55word';
    await world.json(`carrier create acme --host 127.0.0.1 --port ${smsc.port} --system-id us --binds 2`);
    delete process.env.HARKARA_SMPP_PASSWORD;
  });
  after(async () => {
    await worker?.stop();
  });

  it('tells why there are no binds, then each bind with what was measured', async () => {
    expect((await world.run('bind list')).out).to.match(/acme +held by no process/);
    const metrics = new Metrics();
    worker = new SmppWorker({
      ...{ db: world.store.db, clock: systemClock, log: silentLog, metrics, pollMs: 50 },
      box: createSecretBox(loadSecretKeys('', world.dir)),
    });
    worker.start();
    const account = await makeAccount(world.store.db, 100);
    // By last digits the simulator (scripts/simulator) throttles three times, refuses, and fails them.
    const drafts = ['919876543107', '919876543108', '919876543101'].map((to) => makeDraft({ to }));
    await enqueue(
      world.store.db,
      drafts.map((draft) => queuedMessage(account, newId('grp'), draft)),
    );

    const told = await eventually(async () => {
      const [carrier] = await world.json('bind list');
      return carrier?.measured?.receipts?.delivered === 1 && carrier.measured.receipts.failed === 1 && carrier;
    }, 'the receipts are told');

    expect(told.binds.map(({ state }: { state: string }) => state)).to.deep.equal(['bound', 'bound']);
    expect(told.measured.answers).to.deep.equal({ accepted: 2, throttled: 3, rejected: 1 });
    expect(told.measured.answer_ms.p99).to.be.at.least(told.measured.answer_ms.p50);
    expect(told.binds.map((bind: { window_used: number }) => bind.window_used)).to.deep.equal([0, 0]);
    expect(['0x58', '0x0B']).to.include(told.measured.last_refusal.code);
    const { out } = await world.run('bind list');
    expect(out).to.match(/acme +0 +bound +\S+ +0\/50 +\S+ +\d+\/\d+ ms +3 +\S.*delivered 1.* submit: /);
    const page = await metrics.registry.metrics();
    expect(page).to.include('harkara_smpp_receipt_states_total{carrier="acme",state="delivered"} 1');
    expect(page).to.include('harkara_smpp_answer_seconds_count{carrier="acme"} 6');
  });
});
