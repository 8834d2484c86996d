import { PAY_WITHIN_MS } from '../../../../gateway/http/idempotency/key-store.ts';
import { verifyLedger } from '../../../../shared/money/ledger/verify.ts';
import { type AcceptOutcome, GroupAccepter } from '../../../../shared/money/payment/accept.ts';
import { type Clock, systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { eventually } from '../../../support/eventually.ts';
import { makeKey, openGateway, type TestGateway } from '../../../support/gateway.ts';
import { GOOD, idempotencyWorld } from '../../../support/idempotency-world.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { type ManyAnswer, ManyRequests } from '../../../support/many-requests.ts';
import { expectProblem } from '../../../support/problem.ts';
import { silentLog } from '../../../support/silent-log.ts';

describe('Idempotency-Key: whose request is not finished', () => {
  const world = idempotencyWorld();
  const { agePayBy, balanceOf, claimOf, makeCustomer, messagesOf, send } = world;

  describe('while the first is in flight', () => {
    /** A gateway whose debits wait for `letGo`. */
    async function openHeld(
      clock: Clock = systemClock,
    ): Promise<{ gateway: TestGateway; asked: () => boolean; letGo: () => void }> {
      let letGo = (): void => {};
      let asked = false;
      const held = new Promise<void>((resolve) => {
        letGo = resolve;
      });
      class Holding extends GroupAccepter {
        override async accept(...order: Parameters<GroupAccepter['accept']>): Promise<AcceptOutcome> {
          asked = true;
          await held;
          return super.accept(...order);
        }
      }
      const accepter = new Holding({ db: world.store.db, clock: systemClock, log: silentLog });
      return { gateway: await openGateway(world.store.db, { accepter, clock }), asked: () => asked, letGo };
    }

    it('409 with Retry-After, then the same answer; 422 for another payload', async () => {
      const customer = await makeCustomer(5);
      const held = await openHeld();
      const first = send(customer, 'k', GOOD, held.gateway).then((answer) => answer);
      await eventually(held.asked, 'the first request has come to its debit');

      const same = await send(customer, 'k');
      const different = await send(customer, 'k', { ...GOOD, message: 'another' });
      held.letGo();
      const answered = await first;
      const after = await send(customer, 'k');

      expectProblem(same, 'idempotency_in_flight');
      expect(same.headers['retry-after']).to.match(/^[1-9]\d*$/);
      expectProblem(different, 'idempotency_key_reused');
      expect(answered.status).to.equal(200);
      expect(after.text).to.equal(answered.text);
      expect(await balanceOf(customer)).to.equal(4);
      await held.gateway.close();
    });

    it('a gateway that slept through its time pays nothing any more, and the key is free', async () => {
      const customer = await makeCustomer(5);
      // The gateway's clock is behind, so that its time to pay ends in half a second.
      const held = await openHeld(new ManualClock(new Date(Date.now() - PAY_WITHIN_MS + 500)));
      const first = send(customer, 'k', GOOD, held.gateway).then((answer) => answer);
      await eventually(held.asked, 'the first request has come to its debit');
      const payBy = (await claimOf(customer))?.payBy.getTime() ?? 0;
      await eventually(() => Date.now() > payBy, 'the time to pay has passed', PAY_WITHIN_MS);

      const second = await send(customer, 'k');
      held.letGo();
      const late = await first;
      const replay = await send(customer, 'k');

      expect(second.status).to.equal(200);
      expect(late.status, JSON.stringify(late.body)).to.equal(503);
      expectProblem(late, 'store_unavailable');
      expect(replay.text).to.equal(second.text);
      expect(await messagesOf(customer)).to.have.length(1);
      expect(await balanceOf(customer)).to.equal(4);
      await held.gateway.close();
    });
  });

  describe('an end that nobody could tell', () => {
    const unknown = async () => ({ kind: 'outcome_unknown' }) as const;
    const lost = { accept: unknown, book: unknown, acceptBatch: unknown };

    it('leaves the claim: the same key finds out that the message was accepted', async () => {
      const customer = await makeCustomer(5);
      const accepter = new GroupAccepter({ db: world.store.db, clock: systemClock, log: silentLog });
      const answerLost = await openGateway(world.store.db, {
        accepter: { ...lost, accept: (...order) => accepter.accept(...order).then(unknown) },
      });

      const first = await send(customer, 'k', GOOD, answerLost);
      const again = await send(customer, 'k');

      expectProblem(first, 'outcome_unknown');
      expect(again.status).to.equal(200);
      expect(again.headers).to.include({ 'idempotency-replayed': 'true' });
      expect(again.body).to.include({ message_id: first.body.message_id, credits_used: 1, to: GOOD.to });
      expect(await balanceOf(customer)).to.equal(4);
      await answerLost.close();
    });

    it('and when it was not: 409 until nothing can be paid any more, then anew', async () => {
      const customer = await makeCustomer(5);
      const nothingDone = await openGateway(world.store.db, { accepter: lost });

      const first = await send(customer, 'k', GOOD, nothingDone);
      const soon = await send(customer, 'k');
      await agePayBy(customer);
      const later = await send(customer, 'k');

      expectProblem(first, 'outcome_unknown');
      expectProblem(soon, 'idempotency_in_flight');
      expect(later.status).to.equal(200);
      expect(later.headers).not.to.have.property('idempotency-replayed');
      expect(await balanceOf(customer)).to.equal(4);
      await nothingDone.close();
    });

    it('another payload may have the key when nothing can be paid any more', async () => {
      const customer = await makeCustomer(5);
      const nothingDone = await openGateway(world.store.db, { accepter: lost });
      await send(customer, 'k', GOOD, nothingDone);
      await agePayBy(customer);

      const another = await send(customer, 'k', { ...GOOD, message: 'another' });

      expect(another.status).to.equal(200);
      await nothingDone.close();
    });
  });

  it('1,000 requests with 100 keys over two gateways charge 100, and every answer is one of the first 100', async () => {
    const customer = await makeCustomer(1_000);
    const many = new ManyRequests(50);
    const attempt = async (i: number): Promise<ManyAnswer> => {
      for (;;) {
        const answer = await many.send({
          url: `${i % 3 === 0 ? world.gateway.url : world.other.url}/v2/send`,
          method: 'POST',
          headers: {
            Authorization: `Bearer ${unlimited}`,
            'Content-Type': 'application/json',
            'Idempotency-Key': `key-${i % 100}`,
          },
          body: JSON.stringify({ ...GOOD, message: `Number ${i % 100}` }),
        });
        if (answer.status !== 409) return answer;
      }
    };
    const unlimited = await makeKey(world.store.db, customer.account, ['send'], undefined, 1_000_000);

    const answers = await Promise.all(Array.from({ length: 1_000 }, (_, i) => attempt(i)));
    many.close();

    expect(answers.filter(({ status }) => status === 200)).to.have.length(1_000);
    expect(answers.filter(({ headers }) => headers['idempotency-replayed'] === 'true')).to.have.length(900);
    for (let i = 0; i < 100; i++) {
      expect(new Set(answers.filter((_, at) => at % 100 === i).map(({ body }) => body)).size).to.equal(1);
    }
    expect(await messagesOf(customer)).to.have.length(100);
    expect(await balanceOf(customer)).to.equal(900);
    expect((await verifyLedger(world.store.db, customer.account)).problems).to.deep.equal([]);
  });
});
