import { expect } from 'chai';
import type { BatchDocument } from '../../../../shared/messages/batch.ts';
import { verifyLedger } from '../../../../shared/money/ledger/verify.ts';
import { expectProblem } from '../../../support/problem.ts';
import { good, scheduleGateway } from '../../../support/schedule-gateway.ts';

describe('POST /v2/schedule: 200, for many recipients', () => {
  const world = scheduleGateway();
  const { schedules, schedule, balanceOf, makeCustomer, tracesOf } = world;

  const entries = (count: number) => Array.from({ length: count }, (_, i) => `9190${String(i).padStart(8, '0')}`);

  it('debits all of them at once and stores the batch, which waits', async () => {
    const { account, key } = await makeCustomer(2_000);

    const answer = await schedule(key, { ...good(), to: entries(1_500), reference: 'news' });

    expect(answer.status, answer.text).to.equal(200);
    expect(answer.body).to.have.all.keys('status', 'schedule_id', 'scheduled_for');
    const stored = await schedules().findOne({ account });
    expect(stored).to.include({ _id: answer.body.schedule_id, credits: 1_500 });
    const batch = await world.store.db.collection<BatchDocument>('batches').findOne({ account });
    expect(batch).to.include({ _id: stored?.batch, state: 'booked', total: 1_500, reference: 'news' });
    expect(stored?.content).to.include({ sender: 'HARKRA', route: 'transactional', reference: 'news' });
    expect(await verifyLedger(world.store.db, account)).to.deep.include({ balance: 500, problems: [] });
  });

  it('drops equal entries with dedupe, as a bulk request does', async () => {
    const { account, key } = await makeCustomer(10);
    const [one = '', two = ''] = entries(2);

    const answer = await schedule(key, { ...good(), to: [one, two, one], dedupe: true });

    expect(answer.status, answer.text).to.equal(200);
    expect(await balanceOf(account)).to.equal(8);
  });

  it('names every bad entry by its index, beside what is wrong with the time', async () => {
    const { account, key } = await makeCustomer(10);

    const answer = await schedule(key, { ...good(), to: ['919876543210', '+1', 5], schedule_time: 'soon' });

    expectProblem(answer, 'invalid_request');
    const found = answer.body.errors.map((one: { field: string; code: string }) => `${one.field} ${one.code}`);
    expect(found).to.have.members(['to[1] invalid_phone', 'to[2] wrong_type', 'schedule_time invalid_time']);
    expect(await tracesOf(account)).to.equal(0);
  });

  it('stores nothing when the credits are not enough', async () => {
    const { account, key } = await makeCustomer(10);
    const chunks = () => world.store.db.collection('batch_chunks').countDocuments({});
    const before = await chunks();

    const answer = await schedule(key, { ...good(), to: entries(11) });

    expectProblem(answer, 'insufficient_credits');
    expect(await tracesOf(account)).to.equal(0);
    expect(await chunks()).to.equal(before);
    expect(await balanceOf(account)).to.equal(10);
  });

  it('a dry run leaves no trace', async () => {
    const { account, key } = await makeCustomer(10);
    const body = good();

    const answer = await schedule(key, { ...body, to: entries(3), dry_run: true });

    expect(answer.body).to.deep.include({ dry_run: true, total: 3, credits_used: 0, credits_required: 3 });
    expect(answer.body).to.include({ scheduled_for: body.schedule_time });
    expect(await tracesOf(account)).to.equal(0);
  });
});
