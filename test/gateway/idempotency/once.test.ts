import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import request from 'supertest';
import { type KeyClaimDocument, PAY_WITHIN_MS } from '../../../gateway/idempotency/key-claim.ts';
import type { AccountDocument } from '../../../shared/accounts/account.ts';
import { topUp } from '../../../shared/ledger/change.ts';
import { verifyLedger } from '../../../shared/ledger/verify.ts';
import type { MessageDocument } from '../../../shared/messages/message.ts';
import { type Accepter, GroupAccepter } from '../../../shared/payment/accept.ts';
import { type Clock, systemClock } from '../../../shared/runtime/clock.ts';
import { type AccountId, newId } from '../../../shared/runtime/ids.ts';
import { silentLog } from '../../../shared/runtime/log.ts';
import { finishPending } from '../../../workers/maintenance/finish-pending.ts';
import { eventually } from '../../support/eventually.ts';
import { makeKey, openGateway, type TestGateway } from '../../support/gateway.ts';
import { makeAccount } from '../../support/make.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { type ManyAnswer, ManyRequests } from '../../support/many-requests.ts';
import { expectProblem } from '../../support/problem.ts';
import { openTestStore, type TestStore } from '../../support/store.ts';

const GOOD = { to: '919876543210', message: 'Your code is 1234', sender: 'HARKRA' };
const DAY_MS = 24 * 3_600_000;

describe('Idempotency-Key', () => {
  let store: TestStore;
  let gateway: TestGateway;
  let other: TestGateway;
  before(async () => {
    store = await openTestStore();
    gateway = await openGateway(store.db);
    other = await openGateway(store.db);
  });
  after(async () => {
    await gateway.close();
    await other.close();
    await store.close();
  });

  interface Customer {
    readonly account: AccountId;
    readonly key: string;
  }

  async function makeCustomer(credits: number): Promise<Customer> {
    const account = await makeAccount(store.db, credits);
    return { account, key: await makeKey(store.db, account, ['send', 'read']) };
  }

  function send(customer: Customer, idempotencyKey: string, body: object = GOOD, to = gateway): request.Test {
    return request(to.url)
      .post('/v2/send')
      .set('Authorization', `Bearer ${customer.key}`)
      .set('Idempotency-Key', idempotencyKey)
      .send(body);
  }

  async function balanceOf({ account }: Customer): Promise<number | undefined> {
    return (await store.db.collection<AccountDocument>('accounts').findOne({ _id: account }))?.balance;
  }

  const messagesOf = ({ account }: Customer): Promise<MessageDocument[]> =>
    store.db.collection<MessageDocument>('messages').find({ account }).toArray();

  const claims = () => store.db.collection<KeyClaimDocument>('idempotency');
  /** The only claim of a customer. */
  async function claimOf({ account }: Customer): Promise<KeyClaimDocument | undefined> {
    const found = (await claims().find({}).toArray()).filter(({ _id }) => _id.startsWith(account));
    expect(found.length).to.be.at.most(1);
    return found[0];
  }

  describe('a finished duplicate', () => {
    it('gets the same answer, marked as replayed, and is neither stored nor charged', async () => {
      const customer = await makeCustomer(5);

      const first = await send(customer, 'order-1');
      const again = await send(customer, 'order-1');
      const elsewhere = await send(customer, 'order-1', GOOD, other);

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
      const soon = new Date(Date.now() + 2_000);
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

    await request(gateway.url).post('/v2/send').set('Authorization', `Bearer ${customer.key}`).send(GOOD);

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
      await topUp(store.db, customer.account, 1, 'x');

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

  describe('while the first is in flight', () => {
    /** A gateway whose debits wait until they are let go. */
    async function openHeld(
      clock: Clock = systemClock,
    ): Promise<{ gateway: TestGateway; asked: () => boolean; letGo: () => void }> {
      let letGo = (): void => {};
      let asked = false;
      const held = new Promise<void>((resolve) => {
        letGo = resolve;
      });
      const accepter = new GroupAccepter({ db: store.db, clock: systemClock, log: silentLog });
      const holding: Accepter = {
        accept: async (...order) => {
          asked = true;
          await held;
          return accepter.accept(...order);
        },
      };
      return { gateway: await openGateway(store.db, { accepter: holding, clock }), asked: () => asked, letGo };
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
      // Its clock is behind, so that its time to pay ends in a moment.
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
    const lost: Accepter = { accept: async () => ({ kind: 'outcome_unknown' }) };

    it('leaves the claim: the same key finds out that the message was accepted', async () => {
      const customer = await makeCustomer(5);
      const accepter = new GroupAccepter({ db: store.db, clock: systemClock, log: silentLog });
      const answerLost = await openGateway(store.db, {
        accepter: {
          accept: async (...order) => {
            await accepter.accept(...order);
            return { kind: 'outcome_unknown' };
          },
        },
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
      const nothingDone = await openGateway(store.db, { accepter: lost });

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
      const nothingDone = await openGateway(store.db, { accepter: lost });
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
          url: `${i % 3 === 0 ? gateway.url : other.url}/v2/send`,
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
    const unlimited = await makeKey(store.db, customer.account, ['send'], undefined, 1_000_000);

    const answers = await Promise.all(Array.from({ length: 1_000 }, (_, i) => attempt(i)));
    many.close();

    expect(answers.filter(({ status }) => status === 200)).to.have.length(1_000);
    expect(answers.filter(({ headers }) => headers['idempotency-replayed'] === 'true')).to.have.length(900);
    for (let i = 0; i < 100; i++) {
      expect(new Set(answers.filter((_, at) => at % 100 === i).map(({ body }) => body)).size).to.equal(1);
    }
    expect(await messagesOf(customer)).to.have.length(100);
    expect(await balanceOf(customer)).to.equal(900);
    expect((await verifyLedger(store.db, customer.account)).problems).to.deep.equal([]);
  }).timeout(120_000);

  describe('a gateway killed in the middle', function () {
    this.timeout(60_000);
    const children: ChildProcess[] = [];
    afterEach(() => {
      for (const child of children.splice(0)) child.kill('SIGKILL');
    });

    /** Starts a gateway that goes as far as `until`, sends it the request, and kills it there. */
    async function killAt(
      until: 'claimed' | 'paid',
      customer: Customer,
      idempotencyKey: string,
      path = '/v2/send',
      body: object = GOOD,
    ): Promise<void> {
      const child = spawn(process.execPath, ['--import', 'tsx', 'test/support/held-gateway.ts', until], {
        env: { ...process.env, MONGODB_URI: store.uri, MONGODB_DATABASE: store.db.databaseName },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      children.push(child);
      let out = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        out += text;
      });
      const port = await eventually(() => /port (\d+)/.exec(out)?.[1], 'the gateway listens', 30_000);
      const answered = fetch(`http://127.0.0.1:${port}${path}`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${customer.key}`,
          'Content-Type': 'application/json',
          'Idempotency-Key': idempotencyKey,
        },
        body: JSON.stringify(body),
      }).then(
        () => 'answered',
        () => 'cut off',
      );
      await eventually(() => out.includes('held'), `the gateway has ${until}`);
      child.kill('SIGKILL');
      await once(child, 'exit');
      expect(await answered).to.equal('cut off');
    }

    it('after it claimed the key: nothing was charged; the key is free when nothing can be paid any more', async () => {
      const customer = await makeCustomer(5);
      await killAt('claimed', customer, 'k');

      const soon = await send(customer, 'k');
      await agePayBy(customer);
      const later = await send(customer, 'k');

      expectProblem(soon, 'idempotency_in_flight');
      expect(later.status).to.equal(200);
      expect(await balanceOf(customer)).to.equal(4);
      expect(await messagesOf(customer)).to.have.length(1);
    });

    it('after it paid for a batch: the same key gets the answer at once, and the batch goes on, charged once', async () => {
      const customer = await makeCustomer(5);
      const { to, ...rest } = GOOD;
      const body = { ...rest, to: [to, to, to] };
      await killAt('paid', customer, 'k', '/v2/send-bulk', body);
      const result = (await claimOf(customer))?.result;

      const again = await request(gateway.url)
        .post('/v2/send-bulk')
        .set('Authorization', `Bearer ${customer.key}`)
        .set('Idempotency-Key', 'k')
        .send(body);
      await finishPending(store.db, new ManualClock(new Date(Date.now() + 60_000)));

      expect(again.headers).to.include({ 'idempotency-replayed': 'true' });
      expect(again.body).to.deep.equal({ status: 'success', batch_id: result, total: 3, credits_used: 3 });
      const batches = await store.db.collection('batches').find({ account: customer.account }).toArray();
      expect(batches.map(({ state }) => state)).to.deep.equal(['paid']);
      expect(await balanceOf(customer)).to.equal(2);
    });

    it('after it paid, before it stored: the same key gets the answer at once, and is charged once', async () => {
      const customer = await makeCustomer(5);
      await killAt('paid', customer, 'k');
      const result = (await claimOf(customer))?.result;

      const again = await send(customer, 'k');
      await finishPending(store.db, new ManualClock(new Date(Date.now() + 60_000)));
      const later = await send(customer, 'k');

      expect(again.status).to.equal(200);
      expect(again.headers).to.include({ 'idempotency-replayed': 'true' });
      expect(again.body).to.deep.equal({
        status: 'success',
        message_id: result,
        to: GOOD.to,
        status_code: '1000',
        credits_used: 1,
      });
      expect(later.text).to.equal(again.text);
      expect((await messagesOf(customer)).map(({ _id }) => _id)).to.deep.equal([result]);
      expect(await balanceOf(customer)).to.equal(4);
      expect((await verifyLedger(store.db, customer.account)).problems).to.deep.equal([]);
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

  /** As if the time to pay had passed. */
  function agePayBy(customer: Customer): Promise<void> {
    return changeClaim(customer, { payBy: new Date(Date.now() - 1) });
  }

  async function changeClaim(customer: Customer, set: Partial<KeyClaimDocument>): Promise<void> {
    const claim = await claimOf(customer);
    await claims().updateOne({ _id: claim?._id ?? `${customer.account}:` }, { $set: set });
  }
});
