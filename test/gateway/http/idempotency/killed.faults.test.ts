import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { verifyLedger } from '../../../../shared/money/ledger/verify.ts';
import { finishPending } from '../../../../workers/maintenance/finish-pending.ts';
import { builtProgram } from '../../../support/built.ts';
import { eventually } from '../../../support/eventually.ts';
import { openGateway } from '../../../support/gateway.ts';
import { type Customer, GOOD, idempotencyWorld } from '../../../support/idempotency-world.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { expectProblem } from '../../../support/problem.ts';

const DAY_MS = 86_400_000;

describe('Idempotency-Key: a gateway killed in the middle', () => {
  const world = idempotencyWorld();
  const { agePayBy, balanceOf, claimOf, makeCustomer, messagesOf, post, send } = world;

  const children: ChildProcess[] = [];
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
  });

  /** Sends a request to a gateway that stops working on it at `until`, and kills it there. */
  async function killAt(
    until: 'claimed' | 'paid',
    customer: Customer,
    idempotencyKey: string,
    path = '/v2/send',
    body: object = GOOD,
  ): Promise<void> {
    const child = spawn(process.execPath, [await builtProgram('held-gateway'), until], {
      env: {
        ...process.env,
        HARKARA_MONGODB_URI: world.store.uri,
        HARKARA_MONGODB_DATABASE: world.store.db.databaseName,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    let out = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
    const port = await eventually(() => /port (\d+)/.exec(out)?.[1], 'the gateway listens');
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

    const again = await post(customer, 'k', '/v2/send-bulk', body);
    await finishPending(world.store.db, new ManualClock(new Date(Date.now() + 60_000)));

    expect(again.headers).to.include({ 'idempotency-replayed': 'true' });
    expect(again.body).to.deep.equal({ status: 'success', batch_id: result, total: 3, credits_used: 3 });
    const batches = await world.store.db.collection('batches').find({ account: customer.account }).toArray();
    expect(batches.map(({ state }) => state)).to.deep.equal(['paid']);
    expect(await balanceOf(customer)).to.equal(2);
  });

  it('after it paid for a schedule: the key holds until that time, though its answer was never stored', async () => {
    const customer = await makeCustomer(5);
    const at = Date.now() + 34 * DAY_MS;
    const body = { ...GOOD, schedule_time: new Date(at).toISOString() };
    await killAt('paid', customer, 'k', '/v2/schedule', body);
    const claim = await claimOf(customer);
    const late = await openGateway(world.store.db, { clock: new ManualClock(new Date(at - DAY_MS)) });

    const again = await post(customer, 'k', '/v2/schedule', body, late);
    await late.close();

    expect(claim?.expiresAt.getTime(), 'the store removes the claim').to.be.above(at);
    expect(again.status).to.equal(200);
    expect(again.headers).to.include({ 'idempotency-replayed': 'true' });
    expect(again.body).to.include({ schedule_id: claim?.result });
    expect(await balanceOf(customer)).to.equal(4);
    expect((await claimOf(customer))?.expiresAt.getTime()).to.equal(at + DAY_MS);
  });

  it('after it paid, before it stored: the same key gets the answer at once, and is charged once', async () => {
    const customer = await makeCustomer(5);
    await killAt('paid', customer, 'k');
    const result = (await claimOf(customer))?.result;

    const again = await send(customer, 'k');
    await finishPending(world.store.db, new ManualClock(new Date(Date.now() + 60_000)));
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
    expect((await verifyLedger(world.store.db, customer.account)).problems).to.deep.equal([]);
  });
});
