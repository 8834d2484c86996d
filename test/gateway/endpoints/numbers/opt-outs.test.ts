import request from 'supertest';
import { changeOptOuts, type OptOutDocument } from '../../../../shared/carriers/opt-outs/store.ts';
import type { AccountDocument } from '../../../../shared/money/accounts/account.ts';
import type { AuditDocument } from '../../../../shared/people/audit.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { accountAtGateway } from '../../../support/account-gateway.ts';
import { eventually } from '../../../support/eventually.ts';
import { makeKey } from '../../../support/gateway.ts';
import { lookedAt } from '../../../support/looked-at.ts';
import { makeAccount } from '../../../support/make.ts';
import { expectProblem } from '../../../support/problem.ts';

const PATH = '/v2/account/opt-outs';
const CUSTOMER = '919876543210';

describe('opt-outs by the API', () => {
  const site = accountAtGateway(10);
  let manager = '';
  beforeEach(async () => {
    manager = await makeKey(site.db, site.account, ['send', 'read', 'manage']);
  });
  const as = (call: request.Test, key = manager): request.Test => call.set('Authorization', `Bearer ${key}`);
  const list = (query = '') => as(request(site.url).get(`${PATH}${query}`));
  const add = (body: object, key?: string) => as(request(site.url).post(PATH).send(body), key);
  const remove = (id: string, key?: string) => as(request(site.url).delete(`${PATH}/${id}`), key);

  it('adds one, shows it, removes it', async () => {
    const { body } = await add({ customer: CUSTOMER }).expect(200);

    expect(body).to.include({ status: 'success', customer: CUSTOMER, number: null, source: 'api' });
    const { status, ...entry } = body;
    expect((await list().expect(200)).body).to.deep.equal({ data: [entry], next_cursor: null, has_more: false });
    const removed = await remove(entry.opt_out_id).expect(200);
    expect(removed.body.opt_out_id).to.equal(entry.opt_out_id);
    expect((await list().expect(200)).body.data).to.deep.equal([]);
    expectProblem(await remove(entry.opt_out_id), 'opt_out_not_found');
  });

  it('is in the audit as added and as removed, without the phone number; what changes nothing is not', async () => {
    const { body } = await add({ customer: CUSTOMER }).expect(200);
    await add({ customer: CUSTOMER }).expect(200);
    const added = await site.db.collection<AuditDocument>('audit').find({ account: site.account }).toArray();
    await remove(body.opt_out_id).expect(200);

    const entries = await site.db.collection<AuditDocument>('audit').find({ account: site.account }).toArray();

    expect(added.map(({ action }) => action)).to.deep.equal(['opt-out.add']);
    const of = (action: string) => entries.find((entry) => entry.action === action);
    expect(of('opt-out.add')).to.deep.include({ outcome: 'done', subject: { kind: 'opt-out', id: body.opt_out_id } });
    expect(of('opt-out.add')?.after).to.include({ out: true, customer: '9198******10', scope: '*' });
    expect(of('opt-out.remove')).to.deep.include({ outcome: 'done', after: { out: false } });
    expect(of('opt-out.remove')?.before).to.include({ out: true });
    expect(JSON.stringify(entries)).not.to.include(CUSTOMER);
  });

  it('a customer in national form is completed, and sends to either form are refused', async () => {
    await site.db.collection<AccountDocument>('accounts').updateOne({ _id: site.account }, { $set: { country: 'IN' } });
    const send = (to: string) =>
      as(
        request(site.url)
          .post('/v2/send')
          .send({ to, message: 'hi', sender: 'HARKRA', route: 'transactional', dry_run: true }),
      );

    const { body } = await add({ customer: '9876543210' }).expect(200);

    expect(body.customer).to.equal(CUSTOMER);
    expect((await add({ customer: '09876543210' }).expect(200)).body).to.deep.equal(body);
    expect((await list('?customer=9876543210').expect(200)).body.data).to.have.length(1);
    await eventually(
      async () => (await send(CUSTOMER)).status === 403,
      'the gateway knows that the account has opt-outs',
    );
    for (const to of [CUSTOMER, '9876543210']) expectProblem(await send(to), 'recipient_opted_out');
    expect((await send('6591234567')).status).to.equal(200);
  });

  it('a number that nobody can complete is refused in words', async () => {
    const { body } = await add({ customer: '09876543210' }).expect(400);

    expect(body.errors).to.have.length(1);
    expect(body.errors[0]).to.include({ field: 'customer', code: 'invalid_phone' });
  });

  it('keeps one that is there as it is', async () => {
    const first = await add({ customer: CUSTOMER, number: '56767' }).expect(200);
    const again = await add({ customer: CUSTOMER, number: '56767' }).expect(200);

    expect(again.body).to.deep.equal(first.body);
  });

  it('is added and removed also when the clock here is behind the time of the last change', async () => {
    const ahead = new Date(Date.now() + 60_000);
    const said = { account: site.account, customer: CUSTOMER, scope: '*', at: ahead, source: 'inbound' } as const;
    const messages = [newId('msg'), newId('msg')] as const;
    await changeOptOuts(site.db, [{ ...said, kind: 'out', message: messages[0] }]);
    await changeOptOuts(site.db, [{ ...said, kind: 'in', message: messages[1] }]);

    const { body } = await add({ customer: CUSTOMER }).expect(200);
    expect(body).to.include({ customer: CUSTOMER, source: 'api' });
    expect((await list()).body.data).to.have.length(1);
    await remove(body.opt_out_id).expect(200);
    expect((await list()).body.data).to.deep.equal([]);
    // An earlier message of the customer has no effect any more.
    const late = { ...said, at: new Date(ahead.getTime() - 1), kind: 'out', message: newId('msg') } as const;
    await changeOptOuts(site.db, [late]);
    expect((await list()).body.data).to.deep.equal([]);
  });

  it('lists in pages by customer, and filters by number and customer', async () => {
    const entries = [1, 2, 3].flatMap((i) => ['*', '56767'].map((scope) => ({ customer: `91987654321${i}`, scope })));
    const what = { account: site.account, kind: 'out', at: new Date(), source: 'import' } as const;
    await changeOptOuts(
      site.db,
      entries.map((entry) => ({ ...what, ...entry })),
    );
    const seen: string[] = [];
    for (let cursor = ''; ; ) {
      const { body } = await list(`?limit=2${cursor}`).expect(200);
      for (const { customer, number } of body.data) seen.push(`${customer} ${number}`);
      if (!body.has_more) break;
      cursor = `&cursor=${body.next_cursor}`;
    }

    expect(seen).to.deep.equal(entries.map(({ customer, scope }) => `${customer} ${scope === '*' ? null : scope}`));
    expect((await list('?number=56767')).body.data).to.have.length(3);
    expect((await list('?customer=919876543212')).body.data).to.have.length(2);
    expectProblem(await list('?customer=x'), 'invalid_request');
    expectProblem(await list('?cursor=x'), 'invalid_request');
  });

  it('of one number among thousands of others: reads what it shows', async () => {
    const account = site.account;
    const customers = Array.from({ length: 2_000 }, (_, n) => String(919_000_000_000 + n));
    const out = { kind: 'out', at: new Date(), source: 'ops' } as const;
    await changeOptOuts(site.db, [
      ...customers.map((customer) => ({ ...out, account, customer, scope: '*' })),
      ...customers.slice(-3).map((customer) => ({ ...out, account, customer, scope: '56767' })),
    ]);
    expect((await list('?number=56767&limit=2')).body.data).to.have.length(2);
    const ofNumber = site.db
      .collection<OptOutDocument>('opt_outs')
      .find({ account, out: true, scope: '56767' })
      .sort({ customer: 1 })
      .limit(3);
    expect((await lookedAt(site.db, ofNumber)).documents).to.equal(3);
  });

  it('is of one account, and needs the scope', async () => {
    const { body } = await add({ customer: CUSTOMER }).expect(200);
    const stranger = await makeAccount(site.db, 0);

    expectProblem(await remove(body.opt_out_id, await makeKey(site.db, stranger, ['manage'])), 'opt_out_not_found');
    expectProblem(await remove(body.opt_out_id, await makeKey(site.db, site.account, ['send'])), 'scope_missing');
    expectProblem(await add({ customer: CUSTOMER }, await makeKey(site.db, site.account, ['read'])), 'scope_missing');
    expectProblem(await add({ customer: 'x' }), 'invalid_request');
    expectProblem(await add({ customer: CUSTOMER, number: '+567' }), 'invalid_request');
  });
});
