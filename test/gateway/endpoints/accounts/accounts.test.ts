import type { Call, Gateway } from '../../../../gateway/api/endpoint.ts';
import { newAccount } from '../../../../gateway/endpoints/accounts/accounts.ts';
import { findAccount } from '../../../../shared/money/accounts/store.ts';
import { verifyLedger } from '../../../../shared/money/ledger/verify.ts';
import { createKey } from '../../../../shared/people/keys/store.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { makeAccount } from '../../../support/make.ts';
import { operatorAtGateway } from '../operators-world.ts';

describe('accounts, by operators', () => {
  const world = operatorAtGateway(100);

  it('are listed page by page, and found by a part of the name or by the id', async () => {
    const made = [];
    for (const name of ['Asha Stores', 'asha.net (old)', 'Ravi Foods']) {
      made.push((await world.post('/accounts', { name })).body.account.account_id);
    }

    const found = await world.get('/accounts?search=ASHA&limit=1');
    expect(found.body).to.deep.include({ has_more: true });
    expect(found.body.data.map(({ name }: { name: string }) => name)).to.deep.equal(['asha.net (old)']);
    const next = await world.get(`/accounts?search=ASHA&limit=1&cursor=${found.body.next_cursor}`);
    expect(next.body).to.deep.include({ has_more: false, next_cursor: null });
    expect(next.body.data[0]).to.include({ account_id: made[0], status: 'active', balance: 0 });
    expect((await world.get('/accounts?search=.net (')).body.data).to.have.length(1);
    expect((await world.get(`/accounts?search=${made[2]}`)).body.data).to.have.length(1);
    const named = await world.get(`/accounts?ids=${made[0]},${made[2]}`);
    expect(named.body.data.map(({ name }: { name: string }) => name)).to.deep.equal(['Ravi Foods', 'Asha Stores']);
    expect((await world.get('/accounts?ids=asha')).status).to.equal(400);
    expect((await world.get('/accounts?status=suspended')).body.data).to.deep.equal([]);
    expect((await world.get('/accounts?status=gone')).status).to.equal(400);
    // A member of every JavaScript object.
    expect((await world.get('/accounts?status=constructor')).status).to.equal(400);
    expect((await world.get('/accounts?search=a%00b')).status).to.equal(400);
  });

  it('show how many keys work: those that have expired do not', async () => {
    const account = await makeAccount(world.db, 1);
    for (const hours of [-1, 1]) {
      const expiresAt = new Date(Date.now() + hours * 3_600_000);
      await createKey(world.db, systemClock, { account, name: 'shop', scopes: ['read'], expiresAt });
    }

    expect((await world.get(`/accounts/${account}`)).body.keys).to.deep.equal({ active: 1 });
  });

  it('are made once for an Idempotency-Key, and the audit names the operator', async () => {
    const body = { name: 'Once', dlt: 'on', entity_id: '1101456789012345678', number_check: 'mobile' };
    const first = await world.post('/accounts', body).set('Idempotency-Key', 'account-1');
    const again = await world.post('/accounts', body).set('Idempotency-Key', 'account-1');

    expect(first.body.account.settings).to.include({ dlt: 'on', entity_id: body.entity_id, number_check: 'mobile' });
    expect(again.body).to.deep.equal(first.body);
    const id = first.body.account.account_id;
    const audit = await world.get(`/audit?account_id=${id}`);
    expect(audit.body.data).to.have.length(1);
    expect(audit.body.data[0]).to.deep.include({ action: 'account.create', outcome: 'done', account_id: id });
    expect(audit.body.data[0].actor).to.include({ kind: 'user', id: world.operator.user._id });
  });

  it('with DLT get what sending under it needs, and are warned of ids that look wrong', async () => {
    const needed = { dlt: 'on', senders: 'registered', number_check: 'on', country: 'IN' };
    const made = (await world.post('/accounts', { name: 'Indian', dlt: 'on', entity_id: '110145678901' })).body;
    const changed = await world.patch(`/accounts/${world.account}`, { dlt: 'on', entity_id: '1101456789012345678' });
    const chosen = await world.post('/accounts', { name: 'Own', dlt: 'on', number_check: 'off', senders: 'any' });

    expect(made.account.settings).to.include(needed);
    expect(made.warnings).to.deep.equal([
      'The PE id 110145678901 has 12 digits; those of the DLT platform have 19. Compare it with the platform.',
    ]);
    expect(changed.body.account.settings).to.include(needed);
    expect(changed.body).not.to.have.property('warnings');
    expect(chosen.body.account.settings).to.include({ number_check: 'off', senders: 'any' });
  });

  it('are not made when the time of the Idempotency-Key is over: another request may have made one', async () => {
    const action = newAccount.action?.({ db: world.db, clock: systemClock } as Gateway);
    const id = newId('acc');

    // The time is checked before the caller.
    const verdict = await action?.act({ body: { name: 'Late' } } as unknown as Call, {
      id,
      payBy: new Date(Date.now() - 1),
    });

    expect(verdict).to.deep.include({ kind: 'refused' });
    expect(verdict).to.have.nested.property('problem[0]', 'store_unavailable');
    expect(await findAccount(world.db, id)).to.equal(undefined);
  });

  it('refuses every wrong field, by its name', async () => {
    const { status, body } = await world.post('/accounts', {
      name: 'line\nbreak',
      currency: 'XYZ',
      expiry_date: '2020-01-01',
      entity_id: '12',
      country: 'ZZ',
      balance: 5,
    });

    expect(status).to.equal(400);
    const fields = body.errors.map(({ field }: { field: string }) => field);
    expect(fields).to.have.members(['name', 'currency', 'expiry_date', 'entity_id', 'country', 'balance']);
  });

  it('have settings, of which those that are left out stay', async () => {
    const changed = await world.patch(`/accounts/${world.account}`, { senders: 'registered', log: 'all' });

    expect(changed.body.account.settings).to.include({ senders: 'registered', log: 'all', dlt: 'off' });
    expect(changed.body.account.missing_to_send).to.deep.equal(['sender']);
    expect(await world.lastAudit()).to.deep.include({ action: 'account.update', account: world.account });
    const unknown = `/accounts/acc_${'0'.repeat(26)}`;
    expect((await world.patch(unknown, {})).body.code).to.equal('account_not_found');
    expect((await world.get(unknown)).status).to.equal(404);
    expect((await world.get('/accounts/nonsense')).status).to.equal(404);
  });

  it('are suspended, paused and resumed', async () => {
    const path = `/accounts/${world.account}/status`;
    const suspended = await world.post(path, { status: 'suspended', reason: 'Unpaid' });

    expect(suspended.body.account.status).to.equal('suspended');
    const { action, after } = await world.lastAudit();
    expect(action).to.equal('account.suspend');
    expect(after).to.include({ status: 'suspended', reason: 'Unpaid' });
    expect((await world.post(path, { status: 'paused' })).body.errors[0].field).to.equal('status');
    expect((await world.post(path, { status: 'active' })).body.account.status).to.equal('active');
    expect((await world.post(path, { status: 'paused' })).body.account.status).to.equal('paused');
  });

  describe('credits', () => {
    const credits = () => `/accounts/${world.account}/credits`;

    it('are added once for an Idempotency-Key, with reason and operator in the ledger and in the audit', async () => {
      const body = { kind: 'top_up', amount: 500, reason: 'Invoice 7' };
      const first = await world.post(credits(), body).set('Idempotency-Key', '"invoice-7"');
      const again = await world.post(credits(), body).set('Idempotency-Key', 'invoice-7');
      const other = await world.post(credits(), { ...body, amount: 700 }).set('Idempotency-Key', 'invoice-7');

      expect(first.body).to.deep.include({ credit_id: 'invoice-7', amount: 500, balance: 600, reason: 'Invoice 7' });
      expect(again.body).to.deep.equal(first.body);
      expect(again.headers['idempotency-replayed']).to.equal('true');
      expect(other.body.code).to.equal('idempotency_key_reused');
      const statement = await world.get(`/accounts/${world.account}/ledger?limit=1`);
      expect(statement.body.data[0]).to.include({
        reason: 'top_up',
        amount: 500,
        reference: 'invoice-7',
        note: 'Invoice 7',
        by: `user ${world.operator.user._id}`,
        by_name: world.operator.user.username,
      });
      const audit = await world.get(`/audit?subject=credits:${world.account}`);
      expect(audit.body.data).to.have.length(1);
      expect(audit.body.data[0].after).to.include({ balance: 600, amount: 500, reason: 'Invoice 7' });
    });

    it('are added once for an Idempotency-Key, whatever kind a second request names', async () => {
      const body = { kind: 'top_up', amount: 500, reason: 'Invoice 8' };
      const first = await world.post(credits(), body).set('Idempotency-Key', 'invoice-8');
      const other = await world.post(credits(), { ...body, kind: 'correction' }).set('Idempotency-Key', 'invoice-8');

      expect(other.body.code).to.equal('idempotency_key_reused');
      expect((await world.get(`/accounts/${world.account}`)).body.balance).to.equal(first.body.balance);
    });

    it('of a top-up and a correction at once with one Idempotency-Key, one is made', async () => {
      const ask = (kind: string) =>
        world.post(credits(), { kind, amount: 500, reason: 'Invoice 9' }).set('Idempotency-Key', 'invoice-9');
      const answers = await Promise.all(['top_up', 'correction', 'top_up', 'correction'].map(ask));

      const { balance } = (await world.get(`/accounts/${world.account}`)).body;
      expect(balance).to.equal(600);
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 200, 422, 422]);
      expect((await verifyLedger(world.db, world.account)).problems).to.deep.equal([]);
    });

    it('are corrected, never below 0; each correction has its own entry in the audit', async () => {
      const correct = (amount: number) => world.post(credits(), { kind: 'correction', amount, reason: `by ${amount}` });

      expect((await correct(-30)).body.balance).to.equal(70);
      expect((await correct(-20)).body.balance).to.equal(50);
      const refused = await correct(-51);
      expect(refused.status).to.equal(400);
      expect(refused.body.errors[0]).to.include({ field: 'amount', code: 'out_of_range' });
      const audit = await world.get(`/audit?subject=credits:${world.account}`);
      expect(audit.body.data.map(({ after }: { after: { reason: string } }) => after.reason)).to.have.members([
        'by -30',
        'by -20',
      ]);
      expect((await verifyLedger(world.db, world.account)).problems).to.deep.equal([]);
    });

    it('of two corrections at once, together more than there is, one is refused', async () => {
      const answers = await Promise.all(
        [1, 2].map((id) => world.post(credits(), { kind: 'correction', amount: -60, reason: `take ${id}` })),
      );

      expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 400]);
      expect((await verifyLedger(world.db, world.account)).problems).to.deep.equal([]);
    });

    it('need a kind, an amount that fits it, and a reason', async () => {
      for (const [body, field] of [
        [{ kind: 'top_up', amount: -5, reason: 'x' }, 'amount'],
        [{ kind: 'correction', amount: 0, reason: 'x' }, 'amount'],
        [{ kind: 'correction', amount: 1.5, reason: 'x' }, 'amount'],
        [{ kind: 'top_up', amount: 5 }, 'reason'],
        [{ kind: 'refund', amount: 5, reason: 'x' }, 'kind'],
      ] as const) {
        const { status, body: answer } = await world.post(credits(), body);
        expect({ status, field: answer.errors[0].field }).to.deep.equal({ status: 400, field });
      }
    });
  });
});
