import request from 'supertest';
import type { BatchDocument } from '../../../../shared/messages/batch.ts';
import type { MessageDocument } from '../../../../shared/messages/document/message.ts';
import { writeOut } from '../../../../shared/messages/queue/queue-store.ts';
import { smsPrice } from '../../../../shared/money/accounts/prices.ts';
import { refundMessages } from '../../../../shared/money/ledger/change.ts';
import { verifyLedger } from '../../../../shared/money/ledger/verify.ts';
import { accountAtGateway } from '../../../support/account-gateway.ts';
import { eventually } from '../../../support/eventually.ts';
import { makeKey } from '../../../support/gateway.ts';

const LONG = 'x'.repeat(200); // two segments
const LIST = [
  { channel: 'sms', country: 'IN', credits: 2, per: 'segment' },
  { channel: 'sms', route: 'promotional', credits: 4 },
  { channel: 'sms', credits: 7 },
] as const;

describe('prices of an account', () => {
  const site = accountAtGateway(100, { keyCacheMs: 0 });
  const as = (asked: request.Test, key = site.key) => asked.set('Authorization', `Bearer ${key}`);
  const post = (path: string, body: object) => as(request(site.url).post(path)).send({ sender: 'HARKRA', ...body });
  const balance = async () => (await as(request(site.url).get('/v2/balance'))).body.balance;
  const set = async (prices: readonly object[]) => {
    const key = await makeKey(site.db, undefined, ['admin:money', 'admin:read']);
    return as(request(site.url).put(`/v2/admin/accounts/${site.account}/prices`), key).send({ prices });
  };

  it('are 1 for each recipient without a list, whatever the number of segments', async () => {
    expect((await post('/v2/send', { to: '919876543210', message: LONG })).body.credits_used).to.equal(1);
    expect((await as(request(site.url).get('/v2/account/prices'))).body).to.deep.equal({
      prices: [],
      credit_price: null,
    });
  });

  it('by country, route and segment: in dry runs, credits_used, the debit and the refund', async () => {
    expect((await set(LIST)).status).to.equal(200);

    const dry = (await post('/v2/send', { to: '919876543210', message: LONG, dry_run: true })).body;
    expect(dry).to.include({ credits_required: 4, segments: 2, credits_used: 0 });
    const sent = await post('/v2/send', { to: '919876543210', message: LONG });
    expect(sent.body.credits_used).to.equal(4);
    expect((await post('/v2/send', { to: '447400123456', message: LONG })).body.credits_used).to.equal(7);
    const booked = {
      to: '447400123456',
      message: 'x',
      route: 'promotional',
      schedule_time: new Date(Date.now() + 3_600_000).toISOString(),
    };
    const { schedule_id: id } = (await post('/v2/schedule', booked).expect(200)).body;
    expect(await balance()).to.equal(100 - 4 - 7 - 4);

    await as(request(site.url).delete(`/v2/schedule/${id}`)).expect(200);
    const messages = site.db.collection<MessageDocument>('messages');
    await eventually(async () => {
      while ((await writeOut(site.db, new Date(), { account: site.account })) > 0);
      return (await messages.countDocuments({ account: site.account })) === 2;
    }, 'the messages are written out');
    await messages.updateOne({ _id: sent.body.message_id }, { $set: { state: 'rejected' } });
    await set([{ channel: 'sms', credits: 50 }]); // the paid price comes back, not the current one
    await refundMessages(site.db, await messages.find({ _id: sent.body.message_id }).toArray());
    expect(await balance()).to.equal(100 - 7);
    expect((await verifyLedger(site.db, site.account)).problems).to.deep.equal([]);
    const { timeline } = (await as(request(site.url).get(`/v2/messages/${sent.body.message_id}`))).body;
    expect(
      timeline
        .filter(({ credits }: { credits?: number }) => credits !== undefined)
        .map(({ credits }: { credits: number }) => credits),
    ).to.deep.equal([4, 4]);
  });

  it('of a batch: the sum of its recipients, and not more than the account has', async () => {
    await set(LIST);
    const body = { to: ['919876543210', '919876543211', '447400123456'], message: LONG };

    expect((await post('/v2/send-bulk', { ...body, dry_run: true })).body.credits_required).to.equal(15);
    const sent = (await post('/v2/send-bulk', body).expect(200)).body;
    expect(sent).to.include({ total: 3, credits_used: 15 });
    expect(await balance()).to.equal(85);
    const batch = await site.db.collection<BatchDocument>('batches').findOne({ _id: sent.batch_id });
    expect(batch).to.deep.include({ credits: 15 });
    expect((await as(request(site.url).get(`/v2/batches/${sent.batch_id}`))).body.credits_used).to.equal(15);
    const many = { to: Array.from({ length: 13 }, (_, i) => `4474001234${i + 10}`), message: 'x' };
    expect((await post('/v2/send-bulk', many).expect(403)).body).to.include({ code: 'insufficient_credits' });
  });

  it('the first entry that fits decides', () => {
    const price = (route: 'transactional' | 'promotional', country: string | undefined) =>
      smsPrice(
        LIST.map(({ ...one }) => one),
        { route, segments: 3, country },
      );
    expect([price('promotional', 'IN'), price('promotional', 'GB'), price('transactional', undefined)]).to.deep.equal([
      6, 4, 7,
    ]);
    expect(smsPrice([], { route: 'transactional', segments: 3, country: 'IN' })).to.equal(1);
  });

  it('refuse what means nothing, by its place', async () => {
    const { status, body } = await set([
      { channel: 'chatapp', route: 'promotional', credits: 1 },
      { channel: 'sms', credits: 0 },
      { channel: 'sms', credits: 1, per: 'conversation' },
    ]);
    expect(status).to.equal(400);
    expect(body.errors.map(({ field }: { field: string }) => field)).to.have.members([
      'prices[0].route',
      'prices[1].credits',
      'prices[2].per',
    ]);
  });
});
