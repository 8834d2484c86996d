import request from 'supertest';
import type { BatchDocument } from '../../../../shared/messages/batch.ts';
import type { MessageDocument } from '../../../../shared/messages/document/message.ts';
import { batchMessageIds, newId } from '../../../../shared/platform/runtime/ids.ts';
import { accountAtGateway } from '../../../support/account-gateway.ts';
import { makeBatch, payBatch } from '../../../support/batches.ts';
import { makeKey } from '../../../support/gateway.ts';
import { makeAccount, makeMessage } from '../../../support/make.ts';
import { expectProblem } from '../../../support/problem.ts';

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
