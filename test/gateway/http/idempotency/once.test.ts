import request from 'supertest';
import { topUp } from '../../../../shared/money/ledger/change.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { eventually } from '../../../support/eventually.ts';
import { GOOD, idempotencyWorld } from '../../../support/idempotency-world.ts';
import { expectProblem } from '../../../support/problem.ts';

const DAY_MS = 24 * 3_600_000;

describe('Idempotency-Key', () => {
  const world = idempotencyWorld();
  const { balanceOf, changeClaim, claimOf, makeCustomer, messagesOf, send } = world;

  describe('a finished duplicate', () => {
    it('gets the same answer, marked as replayed, and is neither stored nor charged', async () => {
      const customer = await makeCustomer(5);

      const first = await send(customer, 'order-1');
      const again = await send(customer, 'order-1');
      const elsewhere = await send(customer, 'order-1', GOOD, world.other);

      expect(first.status).to.equal(200);
      expect(first.headers).not.to.have.property('idempotency-replayed');
      for (const replay of [again, elsewhere]) {
        expect(replay.status).to.equal(200);
        expect(replay.text).to.equal(first.text);
        expect(replay.headers).to.include({
          'idempotency-replayed': 'true',
          'content-type': 'application/json; charset=utf-8',
        });
        expect(replay.headers).to.have.property('ratelimit');
      }
      expect(await messagesOf(customer)).to.have.length(1);
      expect(await balanceOf(customer)).to.equal(4);
    });

    it('is known by the key with and without quotes, and by the body in another order', async () => {
      const customer = await makeCustomer(5);
      const { to, message, sender } = GOOD;

      const first = await send(customer, '"order-1"', { to, message, sender });
      const again = await send(customer, 'order-1', { sender, message, to });

      expect(again.text).to.equal(first.text);
      expect(await balanceOf(customer)).to.equal(4);
    });

    it('is replayed though the request would be refused by now', async () => {
      const customer = await makeCustomer(1);
      const soon = new Date(Date.now() + 5_000);
      const body = { ...GOOD, valid_until: soon.toISOString() };
      const first = await send(customer, 'k', body);
      await eventually(() => new Date() > soon, 'its validity is over');

      const again = await send(customer, 'k', body);

      expect(first.status).to.equal(200);
      expect(again.text).to.equal(first.text);
      expect(await balanceOf(customer)).to.equal(0);
    });
  });

  it('belongs to one account', async () => {
    const [one, two] = [await makeCustomer(1), await makeCustomer(1)];

    const answers = [await send(one, 'same'), await send(two, 'same')];

    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200]);
    expect(answers[0]?.body.message_id).not.to.equal(answers[1]?.body.message_id);
  });

  it('is forgotten after 24 hours, also when the store has not removed it yet', async () => {
    const customer = await makeCustomer(2);
    const first = await send(customer, 'k');
    const claim = await claimOf(customer);
    expect((claim?.expiresAt.getTime() ?? 0) - Date.now()).to.be.within(DAY_MS - 60_000, DAY_MS);
    await changeClaim(customer, { expiresAt: new Date(Date.now() - 1) });

    const second = await send(customer, 'k');

    expect(second.status).to.equal(200);
    expect(second.body.message_id).not.to.equal(first.body.message_id);
    expect(await balanceOf(customer)).to.equal(0);
  });

  it('stays out of the way of a request without one', async () => {
    const customer = await makeCustomer(1);

    await request(world.gateway.url).post('/v2/send').set('Authorization', `Bearer ${customer.key}`).send(GOOD);

    expect(await claimOf(customer)).to.equal(undefined);
  });

  describe('400', () => {
    for (const bad of ['""', '"open', 'two words', 'x'.repeat(256)]) {
      it(`a malformed key: ${bad.slice(0, 20)}`, async () => {
        const customer = await makeCustomer(1);

        const answer = await send(customer, bad);

        expectProblem(answer, 'invalid_request');
        expect(answer.body.errors[0]).to.include({ field: 'Idempotency-Key', code: 'invalid_value' });
        expect(await balanceOf(customer)).to.equal(1);
      });
    }
  });

  describe('422', () => {
    it('another payload under the same key: nothing is done, the first stands', async () => {
      const customer = await makeCustomer(5);
      const first = await send(customer, 'k');

      const otherText = await send(customer, 'k', { ...GOOD, message: 'another' });
      const invalid = await send(customer, 'k', { ...GOOD, to: 'nobody' });
      const again = await send(customer, 'k');

      expectProblem(otherText, 'idempotency_key_reused');
      expectProblem(invalid, 'idempotency_key_reused');
      expect(again.text).to.equal(first.text);
      expect(await balanceOf(customer)).to.equal(4);
    });
  });

  describe('a refused request frees the key', () => {
    const refused: readonly [string, string, object][] = [
      ['invalid', 'invalid_request', { ...GOOD, to: '+1' }],
      ['without the scope', 'scope_missing', { ...GOOD, priority: 'otp' }],
    ];
    for (const [what, slug, body] of refused) {
      it(`${what}: the next one is judged anew, whatever its payload`, async () => {
        const customer = await makeCustomer(1);

        const first = await send(customer, 'k', body);
        const second = await send(customer, 'k', GOOD);

        expect(first.body.code).to.equal(slug);
        expect(second.status).to.equal(200);
      });
    }

    it('without credits: it is accepted when there are some', async () => {
      const customer = await makeCustomer(0);
      expectProblem(await send(customer, 'k'), 'insufficient_credits');
      await topUp(world.store.db, customer.account, 1, 'x');

      expect((await send(customer, 'k')).status).to.equal(200);
      expect(await balanceOf(customer)).to.equal(0);
    });

    it('a dry run does, too: it does nothing that could be done twice', async () => {
      const customer = await makeCustomer(1);

      const dry = await send(customer, 'k', { ...GOOD, dry_run: true });
      const real = await send(customer, 'k', GOOD);

      expect(dry.body.dry_run).to.equal(true);
      expect(real.status).to.equal(200);
      expect(real.headers).not.to.have.property('idempotency-replayed');
    });
  });

  it('is stored as a hash and without the message', async () => {
    const customer = await makeCustomer(1);
    const secret = newId('req');

    await send(customer, secret);

    const stored = JSON.stringify(await claimOf(customer));
    expect(stored).not.to.include(secret);
    expect(stored).not.to.include(GOOD.message);
  });
});
