import request from 'supertest';
import type { BatchDocument } from '../../../../shared/messages/batch.ts';
import { batchCollection } from '../../../../shared/messages/batch-store.ts';
import type { MessageDocument } from '../../../../shared/messages/document/message.ts';
import { verifyLedger } from '../../../../shared/money/ledger/verify.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { batchMessageIds, newId } from '../../../../shared/platform/runtime/ids.ts';
import { splitNext } from '../../../../workers/batches/split.ts';
import { accountAtGateway } from '../../../support/account-gateway.ts';
import { makeBatch, payBatch, startBatchWorker, storeBatch } from '../../../support/batches.ts';
import { makeAccount } from '../../../support/make.ts';
import { expectProblem } from '../../../support/problem.ts';
import { writeOutAll } from '../../../support/queue.ts';

const PLAIN = { clock: systemClock, render: () => Promise.reject(new Error('a plain text needs no thread')) };

describe('/v2/batches/{id}', () => {
  const site = accountAtGateway(2_000);

  const ask = (method: 'get' | 'delete' | 'post', id: string, as = site.key): request.Test =>
    request(site.url)[method](`/v2/batches/${id}`).set('Authorization', `Bearer ${as}`);
  const messages = () => site.db.collection<MessageDocument>('messages');
  const balance = async () => {
    const verdict = await verifyLedger(site.db, site.account);
    expect(verdict.problems).to.deep.equal([]);
    return verdict.balance;
  };
  const now = async ({ _id }: BatchDocument): Promise<BatchDocument> => {
    const found = await batchCollection(site.db).findOne({ _id });
    if (found === null) throw new Error('no such batch');
    return found;
  };
  /** A batch that is paid for, with its first 1,000 recipients turned into messages. */
  const half = async (total: number, overrides: Partial<BatchDocument> = {}): Promise<BatchDocument> => {
    const batch = makeBatch(site.account, total, overrides);
    await payBatch(site.db, batch);
    await splitNext({ db: site.db, ...PLAIN }, await now(batch));
    await writeOutAll(site.db);
    return now(batch);
  };
  const move = async (
    batch: BatchDocument,
    from: number,
    to: number,
    state: MessageDocument['state'],
  ): Promise<void> => {
    const idOf = batchMessageIds(batch._id);
    const ids = Array.from({ length: to - from }, (_, i) => idOf(from + i));
    await messages().updateMany({ _id: { $in: ids } }, { $set: { state }, $inc: { v: 1 } });
  };

  describe('GET', () => {
    it('counts as one request for each 1,000 recipients', async () => {
      const batch = makeBatch(site.account, 1_001);
      await payBatch(site.db, batch);
      const left = ({ headers }: request.Response) => Number(/r=(\d+)/.exec(String(headers.ratelimit))?.[1]);

      const before = left(await ask('get', newId('bat')));
      const after = left(await ask('get', batch._id));

      expect(before - after).to.equal(2);
    });

    it('200: a batch that nobody has begun', async () => {
      const batch = makeBatch(site.account, 3, { reference: 'spring', duplicates: 1 });
      await payBatch(site.db, batch);

      const answer = await ask('get', batch._id);

      expect(answer.status).to.equal(200);
      expect(answer.body.created_at).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/);
      expect(answer.body).to.deep.equal({
        status: 'success',
        batch_id: batch._id,
        state: 'processing',
        created_at: answer.body.created_at,
        sender: 'HARKRA',
        route: 'transactional',
        reference: 'spring',
        total: 3,
        duplicates: 1,
        progress: 0,
        counts: { queued: 3, sent: 0, delivered: 0, failed: 0, expired: 0, rejected: 0 },
        credits_used: 3,
        credits_refunded: 0,
      });
    });

    it('200: counts every entry in the state that its status shows, made or not', async () => {
      const batch = await half(1_500);
      await move(batch, 0, 10, 'submitting');
      await move(batch, 10, 30, 'waiting');
      await move(batch, 30, 130, 'sent');
      await move(batch, 130, 180, 'delivered');
      await move(batch, 180, 181, 'failed');

      const { body } = await ask('get', batch._id);

      expect(body.counts).to.deep.equal({
        queued: 1_349,
        sent: 100,
        delivered: 50,
        failed: 1,
        expired: 0,
        rejected: 0,
      });
      expect(body).to.include({ state: 'processing', progress: 0.1 });
    });

    it('200: finished when nothing waits any more', async () => {
      const batch = await half(20);
      await move(batch, 0, 20, 'sent');

      expect((await ask('get', batch._id)).body).to.include({ state: 'finished', progress: 1 });
    });

    it('404: unpaid, of another account, never made, or no id at all', async () => {
      const unpaid = makeBatch(site.account, 1);
      await storeBatch(site.db, unpaid);
      const theirs = makeBatch(await makeAccount(site.db, 1), 1);
      await payBatch(site.db, theirs);

      for (const id of [unpaid._id, theirs._id, newId('bat'), 'bat_x', newId('msg'), '%00']) {
        expectProblem(await ask('get', id), 'batch_not_found');
      }
    });

    it('405: names the methods', async () => {
      const answer = await ask('post', newId('bat'));

      expectProblem(answer, 'method_not_allowed');
      expect(answer.headers.allow).to.equal('GET, HEAD, DELETE');
    });
  });

  describe('DELETE', () => {
    it('200: stops and refunds what has not left, once, and says how many; again the same', async () => {
      const batch = await half(1_500);
      await move(batch, 0, 100, 'sent');
      const worker = await startBatchWorker(site.db);

      const [first, second] = await Promise.all([ask('delete', batch._id), ask('delete', batch._id)]);
      const third = await ask('delete', batch._id);
      const shown = await ask('get', batch._id);

      await worker.stop();
      expect(first.status).to.equal(200);
      expect(first.body).to.deep.equal({
        status: 'success',
        message: 'The batch is stopped: 1400 of 1500 messages had not left and are refunded.',
        batch_id: batch._id,
        state: 'stopped',
        stopped: 1_400,
        credits_refunded: 1_400,
      });
      expect(second.body).to.deep.equal(first.body);
      expect(third.body).to.deep.equal(first.body);
      expect(await balance()).to.equal(1_900);
      expect(shown.body).to.deep.include({
        state: 'stopped',
        stopped: 1_400,
        credits_refunded: 1_400,
        progress: 1,
        counts: { queued: 0, sent: 100, delivered: 0, failed: 0, expired: 0, rejected: 1_400 },
      });
    });

    it('200: a batch whose gateway died right after the debit', async () => {
      const batch = makeBatch(site.account, 5);
      await payBatch(site.db, batch);
      const { group } = await now(batch);
      await batchCollection(site.db).updateOne(
        { _id: batch._id },
        { $set: { state: 'unpaid' }, $unset: { group: '' } },
      );
      expect((await ask('get', batch._id)).body).to.include({ state: 'processing' });
      expect(await now(batch), 'showing writes nothing').to.include({ state: 'unpaid' });
      const worker = await startBatchWorker(site.db);

      const answer = await ask('delete', batch._id);

      await worker.stop();
      expect(answer.body).to.include({ state: 'stopped' });
      expect(await now(batch)).to.include({ state: 'stopped', group });
      expect(await balance()).to.equal(2_000 - 5 + answer.body.stopped);
    });

    it('409: when everything has left', async () => {
      const batch = await half(20);
      await move(batch, 0, 20, 'delivered');

      expectProblem(await ask('delete', batch._id), 'batch_finished');
      expect((await now(batch)).state).to.equal('split');
    });

    it('404: of another account', async () => {
      const theirs = makeBatch(await makeAccount(site.db, 1), 1);
      await payBatch(site.db, theirs);

      expectProblem(await ask('delete', theirs._id), 'batch_not_found');
      expect((await now(theirs)).state).to.equal('paid');
    });
  });
});
