import { expect } from 'chai';
import type request from 'supertest';
import type { BatchDocument } from '../../../../shared/messages/batch.ts';
import type { ScheduleDocument } from '../../../../shared/messages/schedule.ts';
import type { AccountDocument } from '../../../../shared/money/accounts/account.ts';
import type { AccountId, BatchId } from '../../../../shared/platform/runtime/ids.ts';
import { TEST_CONFIG } from '../../../support/gateway.ts';
import { expectProblem } from '../../../support/problem.ts';
import { dltCaller, ENTITY, ORDER_ID, OTP_ID } from './dlt-caller.ts';
import { smsWorld } from './world.ts';

const GOOD = { to: '919876543210', message: 'Your code is 1234.', sender: 'HARKRA' };

describe('POST /v2/send of accounts with DLT', () => {
  // No caching: a decision about a template takes effect at once.
  const { store, post } = smsWorld('/v2/send', { config: { ...TEST_CONFIG, keyCacheMs: 0 } });

  const caller = (overrides?: Partial<AccountDocument>) => dltCaller(store.db, overrides);

  async function expectNothingDone(account: AccountId): Promise<void> {
    const found = await store.db.collection<AccountDocument>('accounts').findOne({ _id: account });
    expect(found?.balance).to.equal(5);
    expect(await store.db.collection('messages').countDocuments({ account })).to.equal(0);
    expect(await store.db.collection('batches').countDocuments({ account })).to.equal(0);
  }

  describe('POST /v2/schedule', () => {
    const tomorrow = (): string => `${new Date(Date.now() + 24 * 3_600_000).toISOString().slice(0, 19)}+00:00`;
    const schedule = (key: string, body: object): request.Test =>
      post('/v2/schedule', key, { ...body, schedule_time: tomorrow() });

    it('keeps the template until the message leaves', async () => {
      const { account, key } = await caller();

      const answer = await schedule(key, GOOD);

      expect(answer.status, answer.text).to.equal(200);
      const stored = await store.db.collection<ScheduleDocument>('schedules').findOne({ account });
      expect(stored?.content).to.deep.nested.include({ 'message.template': OTP_ID, 'message.entityId': ENTITY });
    });

    for (const to of [GOOD.to, [GOOD.to]]) {
      it(`400 template_mismatch: books nothing and charges nothing (${typeof to})`, async () => {
        const { account, key } = await caller();

        const answer = await schedule(key, { ...GOOD, to, message: 'Your kode is 1234.' });

        expectProblem(answer, 'template_mismatch');
        expect(await store.db.collection('schedules').countDocuments({ account })).to.equal(0);
        await expectNothingDone(account);
      });
    }
  });

  describe('POST /v2/send-bulk', () => {
    const bulk = (key: string, body: object): request.Test =>
      post('/v2/send-bulk', key, { ...body, to: ['919876543210', '919876543211'] });
    const batchOf = (id: BatchId) => store.db.collection<BatchDocument>('batches').findOne({ _id: id });

    it('keeps the template that the text matches', async () => {
      const { key } = await caller();

      const answer = await bulk(key, GOOD);

      expect(answer.status, answer.text).to.equal(200);
      const batch = await batchOf(answer.body.batch_id);
      expect(batch).to.include({ entityId: ENTITY });
      expect(batch?.content).to.include({ kind: 'text', dltId: OTP_ID });
    });

    it('keeps the business of the template that is rendered', async () => {
      const { key } = await caller();

      const answer = await bulk(key, { sender: 'HARKRA', template_id: ORDER_ID, params: ['5', 'all'] });

      expect(await batchOf(answer.body.batch_id)).to.include({ entityId: '1101160000000000222' });
    });

    it('400 template_mismatch: stores nothing and charges nothing', async () => {
      const { account, key } = await caller();

      const answer = await bulk(key, { ...GOOD, message: 'Your kode is 1234.' });

      expectProblem(answer, 'template_mismatch');
      expect(answer.body.mismatch).to.include({ template_id: OTP_ID, at: 5 });
      await expectNothingDone(account);
    });

    it('a dry run names the template that matches', async () => {
      const { account, key } = await caller();

      expect((await bulk(key, { ...GOOD, dry_run: true })).body).to.include({ template_id: OTP_ID });
      await expectNothingDone(account);
    });
  });
});
