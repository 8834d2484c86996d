import request from 'supertest';
import { addNumber } from '../../../../shared/carriers/numbers/store.ts';
import type { AuditDocument } from '../../../../shared/people/audit.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { accountAtGateway } from '../../../support/account-gateway.ts';
import { makeKey } from '../../../support/gateway.ts';
import { makeAccount } from '../../../support/make.ts';
import { expectProblem } from '../../../support/problem.ts';
import { type Browser, signedIn } from '../../../support/signed-in.ts';

const PATH = '/v2/account/senders';
const ASHA = { sender: 'ASHA', routes: ['transactional'] };

describe('an account asks for senders', () => {
  const site = accountAtGateway(10, { keyCacheMs: 0 });
  let operator: Browser;
  before(async () => {
    operator = await signedIn(site.db, 'operator');
  });
  const as = (call: request.Test, key = site.key): request.Test => call.set('Authorization', `Bearer ${key}`);
  const list = (query = '') => as(request(site.url).get(`${PATH}${query}`));
  const ask = (body: object, key?: string) => as(request(site.url).post(PATH).send(body), key);
  const remove = (id: string, key?: string) => as(request(site.url).delete(`${PATH}/${id}`), key);
  const decide = (body: object, sender = 'ASHA') =>
    request(site.url)
      .post(`/v2/admin/accounts/${site.account}/senders/${sender}/decision`)
      .set(operator.headers)
      .send(body);
  const send = () => as(request(site.url).post('/v2/send').send({ to: '919876543210', message: 'Hi', sender: 'ASHA' }));

  it('asks, waits, and sends when an operator has approved what was read; the audit names each step', async () => {
    await site.db
      .collection<{ _id: string }>('accounts')
      .updateOne({ _id: site.account }, { $set: { senders: 'own' } });
    expectProblem(await send(), 'sender_not_allowed');
    const { body } = await ask(ASHA).expect(200);
    const { status, ...entry } = body;
    expect(entry).to.deep.include({ ...ASHA, state: 'submitted', reason: null, decided_at: null });
    expect((await list().expect(200)).body).to.deep.equal({ data: [entry], next_cursor: null, has_more: false });
    expectProblem(await send(), 'sender_not_allowed');

    const queue = await request(site.url).get('/v2/admin/approvals').set(operator.headers).expect(200);
    const waiting = queue.body.data.find((one: { account_id: string }) => one.account_id === site.account);
    expect(waiting.sender).to.deep.equal({ sender_id: entry.sender_id, ...ASHA });
    const unnamed = await decide({ decision: 'approved' });
    expectProblem(unnamed, 'invalid_request');
    expect(unnamed.body.errors[0].field).to.equal('sender_id');
    await decide({ decision: 'approved', sender_id: entry.sender_id }).expect(200);

    expect((await list()).body.data[0]).to.include({ state: 'approved' });
    await send().expect(200);
    await remove(entry.sender_id).expect(200);
    expectProblem(await send(), 'sender_not_allowed');
    const entries = await site.db.collection<AuditDocument>('audit').find({ account: site.account }).toArray();
    expect(entries.map(({ action }) => action)).to.have.members(['sender.request', 'sender.approve', 'sender.remove']);
  });

  it('is not approved when it was asked for anew since the operator read it', async () => {
    const first = await ask(ASHA).expect(200);
    await remove(first.body.sender_id).expect(200);
    const second = await ask({ ...ASHA, routes: ['promotional', 'transactional'] }).expect(200);

    expectProblem(await decide({ decision: 'approved', sender_id: first.body.sender_id }), 'sender_changed');
    expect((await list()).body.data).to.deep.equal(
      [{ ...second.body, status: undefined, routes: ['transactional', 'promotional'], state: 'submitted' }].map(
        ({ status, ...entry }) => entry,
      ),
    );
  });

  it('a rejected one shows why; it is asked for once, and a repeated request finds it', async () => {
    const key = { 'Idempotency-Key': 'one' };
    const first = await ask(ASHA).set(key).expect(200);
    const again = await ask(ASHA).set(key).expect(200);
    expect(again.body).to.deep.equal(first.body);
    expectProblem(await ask(ASHA), 'sender_exists');

    await decide({ decision: 'rejected', reason: 'It is the name of a bank.' }).expect(200);

    expect((await list()).body.data[0]).to.include({ state: 'rejected', reason: 'It is the name of a bank.' });
    expect((await ask(ASHA)).body.detail).to.equal(
      'The account has the sender ASHA already; it is rejected. To ask again, or for other routes, remove it first.',
    );
  });

  it('refuses what cannot be a sender, a state, and keys without `manage`', async () => {
    for (const [body, field] of [
      [{ ...ASHA, sender: 'A sender too long' }, 'sender'],
      [{ ...ASHA, routes: [] }, 'routes'],
      [{ ...ASHA, routes: ['otp'] }, 'routes[0]'],
      [{ ...ASHA, state: 'approved' }, 'state'],
    ] as const) {
      const answer = await ask(body);
      expectProblem(answer, 'invalid_request');
      expect(answer.body.errors[0].field).to.equal(field);
    }
    const sender = await makeKey(site.db, site.account, ['send', 'read']);
    expectProblem(await ask(ASHA, sender), 'scope_missing');
    expectProblem(await remove('snd_01m7znjn7hdb5pft3awkb6pgvz', sender), 'scope_missing');
  });

  it('lists by name in pages', async () => {
    for (const name of ['Zeta', 'ALPHA', 'Beta 1']) await ask({ ...ASHA, sender: name }).expect(200);
    const names: string[] = [];
    for (let cursor = ''; ; ) {
      const { body } = await list(`?limit=2${cursor}`).expect(200);
      names.push(...body.data.map((one: { sender: string }) => one.sender));
      if (!body.has_more) break;
      cursor = `&cursor=${body.next_cursor}`;
    }

    expect(names).to.deep.equal(['ALPHA', 'Beta 1', 'Zeta']);
    expectProblem(await list('?cursor=eA'), 'invalid_request');
  });

  it('sees its own numbers alone', async () => {
    const other = await makeAccount(site.db, 0);
    await addNumber(site.db, systemClock, { number: '919000000001', keyword: '', account: site.account });
    await addNumber(site.db, systemClock, { number: '56767', keyword: 'join', account: site.account, country: 'IN' });
    await addNumber(site.db, systemClock, { number: '56767', keyword: 'stay', account: other });

    const { body } = await as(request(site.url).get('/v2/account/numbers')).expect(200);

    const shown = body.data.map(({ created_at, ...one }: { created_at: string }) => one);
    expect(shown).to.deep.equal([
      { number: '56767', keyword: 'join', country: 'IN' },
      { number: '919000000001', keyword: null, country: 'IN' },
    ]);
  });
});
