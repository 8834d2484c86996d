import { expect } from 'chai';
import type { KeyClaimDocument } from '../../../../gateway/http/idempotency/key-claim.ts';
import { topUp } from '../../../../shared/money/ledger/change.ts';
import type { AccountId } from '../../../../shared/platform/runtime/ids.ts';
import { expectProblem } from '../../../support/problem.ts';
import { DAY_MS, good, inDays, scheduleGateway } from '../../../support/schedule-gateway.ts';

describe('POST /v2/schedule: with an Idempotency-Key', () => {
  const world = scheduleGateway();
  const { schedules, schedule, balanceOf, makeCustomer } = world;

  const claimOf = async (account: AccountId) => {
    const all = await world.store.db.collection<KeyClaimDocument>('idempotency').find({}).toArray();
    return all.find(({ _id }) => _id.startsWith(account));
  };

  it('books once and answers the same again', async () => {
    const { account, key } = await makeCustomer(5);
    const body = good();

    const first = await schedule(key, body, 'k-1');
    const again = await schedule(key, body, 'k-1');

    expect(again.text).to.equal(first.text);
    expect(again.headers).to.include({ 'idempotency-replayed': 'true' });
    expect(await schedules().countDocuments({ account })).to.equal(1);
    expect(await balanceOf(account)).to.equal(4);
  });

  it('remembers it until 24 hours after the time it is booked for', async () => {
    const { account, key } = await makeCustomer(5);
    const body = { ...good(), schedule_time: inDays(20) };

    await schedule(key, body, 'k-1');

    const claim = await claimOf(account);
    expect(claim?.expiresAt).to.deep.equal(new Date(Date.parse(body.schedule_time) + DAY_MS));
  });

  for (const to of ['919876543210', ['919876543210', '919876543211']]) {
    const what = typeof to === 'string' ? 'a message' : 'a bulk request';
    it(`finds ${what} again that was booked by a process that died before its answer`, async () => {
      const { account, key } = await makeCustomer(5);
      const body = { ...good(), to };
      const first = await schedule(key, body, 'k-1');
      const claim = await claimOf(account);
      await world.store.db
        .collection<KeyClaimDocument>('idempotency')
        .updateOne(
          { _id: claim?._id ?? `${account}:` },
          { $unset: { answer: '' }, $set: { expiresAt: new Date(Date.now() + DAY_MS) } },
        );

      const again = await schedule(key, body, 'k-1');

      expect(again.text).to.equal(first.text);
      expect((await claimOf(account))?.expiresAt).to.deep.equal(claim?.expiresAt);
      expect(await schedules().countDocuments({ account })).to.equal(1);
    });
  }

  it('is free again when the request was refused', async () => {
    const { account, key } = await makeCustomer(0);
    const body = good();
    expectProblem(await schedule(key, body, 'k-1'), 'insufficient_credits');
    await topUp(world.store.db, account, 1, 'more');

    const answer = await schedule(key, body, 'k-1');

    expect(answer.status).to.equal(200);
  });
});
