import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { BSON } from 'mongodb';
import { eventually } from '../support/eventually.ts';
import { type Answer, type Product, startProduct } from '../support/product.ts';

const PATIENCE_MS = 120_000;
const CALLERS = 4;

describe('a store that an operator makes read-only under load', function () {
  this.timeout(PATIENCE_MS * 3);
  let product: Product;
  before(async () => {
    product = await startProduct({ smsc: { receiptDelayMs: 300 } });
  });
  after(() => product?.stop());

  /** A hash of all documents of each collection, by the collection's name. */
  async function content(): Promise<Readonly<Record<string, string>>> {
    const found: Record<string, string> = {};
    const names = (await product.db.listCollections().toArray()).map(({ name }) => name).sort();
    for (const name of names) {
      const hash = createHash('sha256');
      for await (const document of product.db.collection(name).find().sort({ _id: 1 }))
        hash.update(BSON.serialize(document));
      found[name] = hash.digest('hex');
    }
    return found;
  }

  it('stands still: callers are told when to come again, reads go on, and afterwards everything arrives', async () => {
    let calling = true;
    const accepted: string[] = [];
    const refused: Answer[] = [];
    let sent = 0;
    const caller = async (): Promise<void> => {
      while (calling) {
        // No magic ending (docs/magic-numbers.md): all are delivered.
        const to = `9198${String(sent++).padStart(5, '0')}000`;
        const answer = await product.send(to, 'Your order is on its way.');
        if (answer.status === 200) accepted.push(String(answer.body.message_id));
        else refused.push(answer);
      }
    };
    const callers = Promise.all(Array.from({ length: CALLERS }, caller));
    await eventually(() => accepted.length > 50, 'messages flow');

    await product.ops('store read-only on');
    const began = await content();
    const refusedBefore = refused.length;
    await eventually(() => refused.length > refusedBefore + 200, 'callers go on');
    const [known = ''] = accepted;
    const status = await product.get(`/v2/status/${known}`);
    const list = await product.get('/v2/messages?limit=5');
    const balance = await product.get('/v2/balance');
    const ready = await product.get('/readyz');
    const keyed = () => product.post('/v2/send', BODY, { 'idempotency-key': 'order-1' });
    const early = await keyed();
    calling = false;
    await callers;
    product.smsc.sendMo({ from: '919876500001', to: '919000000001', text: 'STOP', systemId: 'harkara' });
    await product.kill('gateway');
    await product.kill('smpp');
    const opsRefused = await product.ops('account create --name Other').catch(String);
    const later = await keyed();
    const ended = await content();
    await product.ops('store read-only off');

    const { store_state: _, ...before } = began;
    const { store_state: __, ...after } = ended;
    expect(after).to.deep.equal(before);
    expect([status.status, list.status, balance.status]).to.deep.equal([200, 200, 200]);
    expect(ready).to.deep.include({ status: 200, body: { status: 'read_only' } });
    for (const answer of [early, later]) expect(answer.body).to.include({ code: 'read_only', retryable: true });
    expect([...new Set(refused.map(({ status, body }) => `${status} ${body.code}`))]).to.deep.equal(['503 read_only']);
    expect(opsRefused).to.include('store read-only off');
    const late = await eventually(async () => {
      const answer = await keyed();
      return answer.status === 200 ? answer : undefined;
    }, 'the key was not used up');
    accepted.push(String(late?.body.message_id));
    await eventually(
      async () => {
        const open = await product.db
          .collection('messages')
          .find({ state: { $ne: 'delivered' } })
          .toArray();
        if (open.length > 0) throw new Error(`${open.length} are not, such as ${JSON.stringify(open[0])}`);
        return true;
      },
      'all are delivered',
      PATIENCE_MS,
    );
    expect(await product.db.collection('messages').countDocuments({ channel: 'sms' })).to.equal(accepted.length);
    expect(await product.ops('ledger verify')).to.include('1 of 1 ledgers are whole.');
    const texts = new Set(product.smsc.messages().map(({ to }) => to));
    expect(product.smsc.messages()).to.have.length(texts.size);
  });
});

const BODY = { to: '919876599999', message: 'Your order is here.', sender: 'HARKRA', route: 'transactional' };
