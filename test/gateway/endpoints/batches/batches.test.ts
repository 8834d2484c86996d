import request from 'supertest';
import { type BatchDocument, batchCollection } from '../../../../shared/messages/batch.ts';
import type { MessageDocument } from '../../../../shared/messages/document/message.ts';
import { verifyLedger } from '../../../../shared/money/ledger/verify.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { batchMessageIds, newId } from '../../../../shared/platform/runtime/ids.ts';
import { splitNext } from '../../../../workers/batches/split.ts';
import { accountAtGateway } from '../../../support/account-gateway.ts';
import { makeBatch, payBatch, payUnmarked, startBatchWorker, storeBatch } from '../../../support/batches.ts';
import { makeKey } from '../../../support/gateway.ts';
import { makeAccount, makeMessage } from '../../../support/make.ts';
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
  /** A paid batch whose first 1,000 recipients are messages. */
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

describe('GET /v2/batches', () => {
  const site = accountAtGateway(30_000);

  const ask = (query: Readonly<Record<string, string>> = {}, as = site.key): request.Test =>
    request(site.url)
      .get(`/v2/batches?${new URLSearchParams(query)}`)
      .set('Authorization', `Bearer ${as}`);
  const idsOf = ({ body }: request.Response): unknown[] =>
    body.data.map((entry: { batch_id: string }) => entry.batch_id);
  const left = ({ headers }: request.Response) => Number(/r=(\d+)/.exec(String(headers.ratelimit))?.[1]);

  it('newest first with progress, in pages; none that is not paid, and none that waits for its schedule', async () => {
    const batches = [makeBatch(site.account, 3), makeBatch(site.account, 2), makeBatch(site.account, 4)];
    for (const batch of batches) await payBatch(site.db, batch);
    await batchCollection(site.db).insertMany([
      makeBatch(site.account, 1),
      { ...makeBatch(site.account, 1), state: 'booked' },
    ]);
    const [oldest, middle, newest] = batches.map(({ _id }) => _id);

    const whole = await ask();
    const first = await ask({ limit: '2' });
    const second = await ask({ limit: '2', cursor: first.body.next_cursor });

    expect(idsOf(whole)).to.deep.equal([newest, middle, oldest]);
    expect(whole.body.data[0]).to.deep.include({
      state: 'processing',
      sender: 'HARKRA',
      route: 'transactional',
      total: 4,
      progress: 0,
      counts: { queued: 4, sent: 0, delivered: 0, failed: 0, expired: 0, rejected: 0 },
      credits_used: 4,
    });
    expect([first, second].flatMap(idsOf)).to.deep.equal([newest, middle, oldest]);
    expect(second.body).to.include({ has_more: false, next_cursor: null });
  });

  it('counts 10,000 recipients a page at most, and says what it costs', async () => {
    const small = makeBatch(site.account, 600);
    const large = makeBatch(site.account, 9_500);
    for (const batch of [small, large]) await payBatch(site.db, batch);
    await batchCollection(site.db).updateMany({ account: site.account }, { $set: { state: 'split' } });

    const before = left(await ask({ limit: '1', created_before: '2020-01-01T00:00:00Z' }));
    const answer = await ask();

    expect(answer.body.data.map(({ counts }: { counts?: object }) => counts !== undefined)).to.deep.equal([
      true,
      false,
    ]);
    expect(answer.body.data[1]).to.include({ total: 600 }).and.not.to.have.property('state');
    expect(before - left(answer)).to.equal(11);
  });

  it('what is paid for and not marked yet in its place, also by time, and marks nothing', async () => {
    const times = [1, 2, 3, 4, 5].map((hour) => new Date(Date.UTC(2026, 0, 1, hour)));
    const batches = times.map((at) => makeBatch(site.account, 1, { _id: newId('bat', at.getTime()) }));
    for (const [n, batch] of batches.entries()) await (n % 2 === 0 ? payUnmarked : payBatch)(site.db, batch);
    const newestFirst = batches.map(({ _id }) => _id).toReversed();

    for (const limit of ['1', '2', '3', '50']) {
      const seen: unknown[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const page: request.Response = await ask({ limit, ...(cursor && { cursor }) });
        seen.push(...idsOf(page));
        cursor = page.body.next_cursor;
      }
      expect(seen).to.deep.equal(newestFirst);
    }
    expect((await ask({ limit: '1' })).body.data[0]).to.include({ state: 'processing', total: 1 });
    const [, second, , , last] = times.map((at) => at.toISOString());
    const between = await ask({ created_from: String(second), created_before: String(last) });
    expect(idsOf(between)).to.deep.equal(newestFirst.slice(1, 4));
    expect(await batchCollection(site.db).countDocuments({ account: site.account, state: 'unpaid' })).to.equal(3);
  });

  it("never another account's", async () => {
    const batch = makeBatch(site.account, 1);
    await payBatch(site.db, batch);
    const stranger = await makeKey(site.db, await makeAccount(site.db, 0));
    const { body } = await ask({ limit: '1' });

    expect(body.data).to.have.length(1);
    expect(idsOf(await ask({}, stranger))).to.deep.equal([]);
  });

  it('400 for unknown filters and cursors of another list', async () => {
    expectProblem(await ask({ state: 'stopped' }), 'invalid_request');
    const cursor = Buffer.from(`messages:${newId('bat')}`).toString('base64url');
    expectProblem(await ask({ cursor }), 'invalid_request');
  });
});

describe('GET /v2/batches/{batch_id}/failures', () => {
  const site = accountAtGateway(2_000);

  const ask = (id: string, query = '', as = site.key): request.Test =>
    request(site.url).get(`/v2/batches/${id}/failures${query}`).set('Authorization', `Bearer ${as}`);
  const withMessages = async (...changes: Partial<MessageDocument>[]): Promise<BatchDocument> => {
    const batch = makeBatch(site.account, changes.length);
    await payBatch(site.db, batch);
    const idOf = batchMessageIds(batch._id);
    const at = new Date('2026-11-21T10:00:04Z');
    await site.db.collection<MessageDocument>('messages').insertMany(
      changes.map((change, i) =>
        makeMessage({
          ...{ _id: idOf(i), account: site.account, batch: batch._id, to: `91987654320${i}` },
          ...(change.state === undefined || change.state === 'queued'
            ? {}
            : { history: [{ state: change.state as 'failed', at }] }),
          ...change,
        }),
      ),
    );
    return batch;
  };

  it('who got nothing and why, in the order of the request, in pages', async () => {
    const batch = await withMessages(
      { state: 'failed', errorCode: '1', errorReason: 'The number does not exist' },
      { state: 'delivered' },
      { state: 'rejected', errorCode: 'cancelled', errorReason: 'It was stopped' },
      {},
      { state: 'expired', errorCode: 'validity_expired' },
    );

    const { body } = await ask(batch._id);
    const first = await ask(batch._id, '?limit=2');
    const second = await ask(batch._id, `?limit=2&cursor=${first.body.next_cursor}`);

    expect(body.data.map(({ to, status }: { to: string; status: string }) => [to, status])).to.deep.equal([
      ['919876543200', 'failed'],
      ['919876543202', 'rejected'],
      ['919876543204', 'expired'],
    ]);
    expect(body.data[0]).to.deep.include({
      error_code: '1',
      error_reason: 'The number does not exist',
      explanation: {
        cause: 'The number does not exist.',
        advice: 'Remove the number from your list, or ask the recipient for the right one.',
      },
      ended_at: '2026-11-21T10:00:04+00:00',
    });
    expect([...first.body.data, ...second.body.data]).to.deep.equal(body.data);
    expect(second.body.has_more).to.equal(false);
  });

  it('all of them as a file, with nothing that a spreadsheet runs', async () => {
    const batch = await withMessages(
      { state: 'failed', errorCode: '=1+1', errorReason: '@SUM(A1), "now"' },
      { state: 'failed', errorCode: '-2', errorReason: '+cmd|x' },
    );

    const answer = await ask(batch._id, '?format=csv');

    expect(answer.headers['content-type']).to.equal('text/csv; charset=utf-8');
    expect(answer.headers['content-disposition']).to.equal(`attachment; filename="${batch._id}-failures.csv"`);
    const [head, one = '', two = '', end] = answer.text.split('\r\n');
    expect(head).to.equal('message_id,to,status,error_code,error_reason,cause,advice,ended_at');
    expect(one).to.include(`,919876543200,failed,'=1+1,"'@SUM(A1), ""now""",`);
    expect(two).to.include(",'-2,'+cmd|x,'+cmd|x.,");
    expect(end).to.equal('');
  });

  it('a batch without failures has a file with its head alone', async () => {
    const batch = await withMessages({ state: 'delivered' });

    expect((await ask(batch._id, '?format=csv')).text.split('\r\n')).to.have.length(2);
    expect((await ask(batch._id)).body.data).to.deep.equal([]);
  });

  it("404 for another account's batch, as for an unknown one", async () => {
    const batch = await withMessages({ state: 'failed' });
    const stranger = await makeKey(site.db, await makeAccount(site.db, 0));

    for (const query of ['', '?format=csv']) {
      expectProblem(await ask(batch._id, query, stranger), 'batch_not_found');
      expectProblem(await ask(newId('bat'), query), 'batch_not_found');
    }
    expectProblem(await ask('bat_1'), 'batch_not_found');
  });

  for (const query of ['?format=xml', '?format=csv&limit=5', '?limit=0', '?cursor=abc', '?nope=1']) {
    it(`400: ${query}`, async () => {
      const batch = await withMessages({ state: 'failed' });

      expectProblem(await ask(batch._id, query), 'invalid_request');
    });
  }
});
