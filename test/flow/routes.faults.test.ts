import type { SmscOptions } from '../../scripts/simulator/smsc/options.ts';
import { type Smsc, startSmsc } from '../../scripts/simulator/smsc.ts';
import type { MessageDocument } from '../../shared/messages/document/message.ts';
import { verifyLedger } from '../../shared/money/ledger/verify.ts';
import { eventually } from '../support/eventually.ts';
import { useProduct } from '../support/product.ts';

const WAIT_MS = 120_000;
const SINGLES = 150;
const BULK = 300;

describe('three carriers, one dying, one refusing everything, one slow, while routes change', function () {
  this.timeout(WAIT_MS * 3);
  const product = useProduct({
    otherWorkers: 1,
    // Claimed messages without an answer are resent, also to other carriers: at most the last window arrives twice.
    carrier: { windowSize: 5, responseTimeoutMs: 2_000, unknownWaitMs: 3_000, unknownPolicy: 'resend' },
    smsc: { receiptDelayMs: 50 },
  });
  const others: Smsc[] = [];
  before(async () => {
    process.env.HARKARA_SMPP_PASSWORD = 'x';
    await add('refusing', { behaviour: () => ({ status: 0x0b }) });
    await add('slow', { responseDelayMs: 150 });
    delete process.env.HARKARA_SMPP_PASSWORD;
  });
  after(async () => {
    await Promise.all(others.map((smsc) => smsc.close()));
  });

  async function add(name: string, options: Partial<SmscOptions>): Promise<void> {
    const smsc = await startSmsc({ receiptDelayMs: 50, ...options });
    others.push(smsc);
    await product.ops(
      `carrier create ${name} --host 127.0.0.1 --port ${smsc.port} --system-id harkara --window-size 20 --unknown-policy resend --unknown-wait-ms 3000`,
    );
    await eventually(() => smsc.stats().binds > 0, `${name} is bound`, WAIT_MS);
  }

  it('every message arrives, none is lost, doubled or charged twice', async () => {
    await product.ops('route add all --carriers sim;refusing;slow --wait-seconds 3');
    const numbers = Array.from({ length: SINGLES + BULK }, (_, i) => String(919_876_000_000 + i * 1_000));
    const singles = numbers.slice(0, SINGLES);
    const accepted: string[] = [];
    const load = (async () => {
      for (const to of singles) {
        const { status, body } = await product.send(to, 'hello');
        if (status === 200) accepted.push(to);
        else expect(status, JSON.stringify(body)).to.equal(503);
      }
    })();
    const bulk = { sender: 'HARKRA', message: 'all of you', route: 'transactional', to: numbers.slice(SINGLES) };
    const batch = await product.post('/v2/send-bulk', bulk);
    expect(batch.status, JSON.stringify(batch.body)).to.equal(200);

    await eventually(() => accepted.length > 20, 'the load runs', WAIT_MS);
    await product.smsc.close();
    await product.ops('route set all --carriers refusing:50,sim:50;slow');
    await product.kill('smpp');
    await product.ops('route add some --prefix 9198760 --carriers refusing;slow --wait-seconds 2');
    await product.kill('background');
    await product.ops('route remove some');
    await load;

    const expected = accepted.length + BULK;
    const messages = await eventually(
      async () => {
        const found = await product.db.collection<MessageDocument>('messages').find().toArray();
        const states = new Map<string, number>();
        for (const { state, path } of found) states.set(`${state} ${path}`, (states.get(`${state} ${path}`) ?? 0) + 1);
        const delivered = found.filter(({ state }) => state === 'delivered' || state === 'sent').length;
        if (delivered < expected) throw new Error(JSON.stringify([...states]));
        return found;
      },
      'all arrive',
      WAIT_MS,
    );

    const arrivals = new Map<string, number>();
    for (const smsc of [product.smsc, ...others]) {
      for (const { to } of smsc.texts()) arrivals.set(to, (arrivals.get(to) ?? 0) + 1);
    }
    expect(messages).to.have.length(expected);
    expect([...arrivals.keys()]).to.include.members([...accepted, ...bulk.to]);
    const unanswered = messages.filter(({ earlier = [] }) => earlier.length > 0).map(({ to }) => to);
    const twice = [...arrivals].filter(([, count]) => count > 1).map(([to]) => to);
    expect(unanswered, 'only what a carrier never answered may arrive twice').to.include.members(twice);
    for (const { attempts = [], claim } of messages) {
      const asked = [...attempts.map(({ carrier }) => carrier), claim?.carrier];
      expect(new Set(asked).size, 'no carrier is asked twice').to.equal(asked.length);
    }
    const verdict = await verifyLedger(product.db, product.account);
    expect(verdict.problems).to.deep.equal([]);
    expect(verdict.balance).to.equal(product.credits - expected);
  });
});
