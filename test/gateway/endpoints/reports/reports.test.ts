import request from 'supertest';
import type { MessageDocument } from '../../../../shared/messages/document/message.ts';
import { writeOut } from '../../../../shared/messages/queue/queue-store.ts';
import { refundMessages } from '../../../../shared/money/ledger/change.ts';
import { readStatement } from '../../../../shared/money/ledger/store.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { type MessageId, newId, testAccountOf } from '../../../../shared/platform/runtime/ids.ts';
import { HourCounter } from '../../../../workers/maintenance/count-hours.ts';
import { accountAtGateway } from '../../../support/account-gateway.ts';
import { eventually } from '../../../support/eventually.ts';
import { makeMessage } from '../../../support/make.ts';
import { signedIn } from '../../../support/signed-in.ts';

describe('reports', () => {
  const site = accountAtGateway(1_000);
  const messages = () => site.db.collection<MessageDocument>('messages');
  const ask = (query: string) =>
    request(site.url).get(`/v2/account/reports${query}`).set('Authorization', `Bearer ${site.key}`);
  const post = (path: string, body: object) =>
    request(site.url).post(path).set('Authorization', `Bearer ${site.key}`).send(body).expect(200);
  const count = async () => {
    await site.db.collection('counted_hours').deleteMany({});
    await new HourCounter({ db: site.db, clock: systemClock, messageDays: 90, held: () => true }).run();
  };
  const made = (at: string, more: Partial<MessageDocument> = {}): MessageDocument =>
    makeMessage({ _id: newId('msg', Date.parse(at)), account: site.account, ...more });
  /** Noon of the day before, UTC. */
  const noon = (): string => `${new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)}T12:00:00Z`;

  it('agree with the ledger after sends and refunds', async () => {
    const send = async (to: string): Promise<MessageId> =>
      (await post('/v2/send', { to, message: 'Hello', sender: 'HARKRA' })).body.message_id;
    const [first, second, third] = [await send('919876543210'), await send('919876543211'), await send('447400123456')];
    await eventually(async () => {
      while ((await writeOut(site.db, new Date(), { account: site.account })) > 0);
      return (await messages().countDocuments({ account: site.account })) === 3;
    }, 'the messages are written out');
    await messages().updateOne({ _id: first }, { $set: { state: 'delivered', operator: 'Airtel' } });
    await messages().updateMany({ _id: { $in: [second, third] } }, { $set: { state: 'rejected', errorCode: '0x45' } });
    await refundMessages(site.db, await messages().find({ account: site.account }).toArray());
    await count();

    const { body } = await ask('?group_by=country,operator').expect(200);

    // Includes paid changes that are not entered yet.
    const entries = await readStatement(site.db, site.account, 1_000, 100);
    const sum = (reason: string) =>
      entries.filter((entry) => entry.reason === reason).reduce((all, { amount }) => all + amount, 0);
    expect(body.total).to.include({ messages: 3, credits: -sum('send') - sum('refund'), refunded: sum('refund') });
    expect(body.total).to.include({ credits: 1, refunded: 2, delivered: 1, rejected: 2, delivery_rate: 0.3333 });
    expect(body.total.errors[0]).to.include({ error_code: '0x45', messages: 2 });
    expect(
      body.data.map(({ country, operator, credits }: Record<string, unknown>) => [country, operator, credits]),
    ).to.deep.equal([
      ['GB', null, 0],
      ['IN', null, 0],
      ['IN', 'Airtel', 1],
    ]);
  });

  it('have the days of the zone, newest first, in pages, and as CSV with a total', async () => {
    const at = noon();
    const day = at.slice(0, 10);
    await messages().insertMany([
      made(at, { sender: 'ALPHA', segments: 2 }),
      made(at.replace('T12:00', 'T18:29')),
      made(at.replace('T12:00', 'T18:30'), { sender: '=EVIL()' }),
    ]);
    await count();
    const after = new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10);

    const { body } = await ask(`?zone=Asia/Kolkata&from=${day}&to=${after}&limit=1`).expect(200);
    expect(body).to.include({ from: day, to: after, zone: 'Asia/Kolkata', has_more: true, unsorted: 0 });
    expect(body.data[0]).to.include({ day: after, messages: 1 });
    const next = await ask(`?zone=Asia/Kolkata&from=${day}&to=${after}&limit=1&cursor=${body.next_cursor}`).expect(200);
    expect(next.body).to.include({ has_more: false });
    expect(next.body.data[0]).to.include({ day, messages: 2, segments: 3 });

    const file = await ask(`?from=${day}&to=${day}&group_by=sender&format=csv`).expect(200);
    expect(file.headers['content-disposition']).to.include(`report-${day}-${day}.csv`);
    const lines = file.text.trim().split('\r\n');
    expect(lines[0]).to.match(/^sender,messages,segments,queued/);
    expect(lines.slice(1).map((line) => line.split(',').slice(0, 3))).to.deep.equal([
      ["'=EVIL()", '1', '1'],
      ['ALPHA', '1', '2'],
      ['HARKRA', '1', '1'],
      ['total', '3', '4'],
    ]);
  });

  it('of tests are a file too, which a page opens without headers', async () => {
    const owner = await signedIn(site.db, 'owner', site.account);
    const at = noon();
    await messages().insertMany([
      made(at),
      made(at, { account: testAccountOf(site.account) }),
      made(at, { account: testAccountOf(site.account) }),
    ]);
    await count();
    const ofTests = await request(site.url)
      .get('/v2/account/reports?format=csv&mode=test')
      .set(owner.headers)
      .expect(200);
    expect(ofTests.text.trim().split('\r\n').at(-1)).to.match(/^total,2,/);
  });

  it('filter, and say how many messages they cannot sort', async () => {
    const at = noon();
    const day = at.slice(0, 10);
    await messages().insertMany(Array.from({ length: 202 }, (_, i) => made(at, { sender: `S${i}` })));
    await count();

    const { body } = await ask(`?from=${day}&to=${day}&group_by=sender&sender=S0&channel=sms`).expect(200);
    expect(body.total.messages + body.unsorted).to.be.within(2, 3);
    const all = await ask(`?from=${day}&to=${day}&group_by=sender&limit=500`).expect(200);
    expect(all.body.data).to.have.lengthOf(201);
    expect(all.body.data.filter(({ other }: { other?: true }) => other)).to.have.lengthOf(1);
    expect(all.body.total.messages).to.equal(202);
  });

  it('refuse what they cannot do, with the reason', async () => {
    const { body } = await ask('?group_by=day,account_id&zone=Mars/Base').expect(400);
    expect(body.errors.map(({ field }: { field: string }) => field)).to.deep.equal(['group_by', 'zone']);
    expect((await ask('?from=2026-01-01&to=2026-06-01').expect(400)).body.errors[0].field).to.equal('from');
  });

  it('show operators all accounts with price, costs and margin, and customers nothing of that', async () => {
    const claim = { id: newId('clm'), carrier: 'beta', epoch: 1, at: new Date() };
    const routed = { route: 'india', price: '0.12 INR', costs: { beta: '0.05 INR' } };
    const at = noon();
    const day = at.slice(0, 10);
    await messages().insertOne(made(at, { claim, routed, state: 'delivered', parts: [{ state: 'delivered' }] }));
    await count();
    const operator = await signedIn(site.db, 'operator');
    const read = (query: string) => request(site.url).get(`/v2/admin/reports${query}`).set(operator.headers);

    const one = await read(`?from=${day}&to=${day}&group_by=routed_by,carrier&account_id=${site.account}`);
    expect(one.status).to.equal(200);
    expect(one.body.data[0]).to.deep.include({
      ...{ routed_by: 'india', carrier: 'beta', messages: 1 },
      sales: [{ currency: 'INR', amount: '0.12' }],
      costs: [{ currency: 'INR', amount: '0.05' }],
      margin: [{ currency: 'INR', amount: '0.07' }],
    });
    const all = await read(`?from=${day}&to=${day}&group_by=account_id&limit=500`);
    expect(all.body.data.find((row: { account_id: string }) => row.account_id === site.account)).to.include({
      messages: 1,
    });
    expect((await read('?group_by=sender')).status).to.equal(400);
    const own = await ask(`?from=${day}&to=${day}`).expect(200);
    expect(JSON.stringify(own.body)).not.to.match(/INR|margin|costs/);
  });
});
