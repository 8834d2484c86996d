import request from 'supertest';
import { batchCollection } from '../../../../shared/messages/batch-store.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { accountAtGateway } from '../../../support/account-gateway.ts';
import { makeBatch, payBatch, payUnmarked } from '../../../support/batches.ts';
import { makeKey } from '../../../support/gateway.ts';
import { makeAccount } from '../../../support/make.ts';
import { expectProblem } from '../../../support/problem.ts';

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
