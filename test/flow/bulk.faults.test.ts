import type { BatchDocument } from '../../shared/messages/batch.ts';
import type { MessageDocument } from '../../shared/messages/document/message.ts';
import { verifyLedger } from '../../shared/money/ledger/verify.ts';
import { eventually } from '../support/eventually.ts';
import { type Answer, type Product, useProduct } from '../support/product.ts';

const SETTLED_MS = 120_000;
const BATCHES = 4;
const PER_BATCH = 1_000;

function numbers(from: number, count: number): string[] {
  return Array.from({ length: count }, (_, i) => `9170${String(from + i).padStart(5, '0')}000`);
}

/** Waits until everything paid for is a message and all messages are final. */
async function settled({ db }: Product): Promise<void> {
  await eventually(
    async () => {
      const states = ['queued', 'submitting', 'waiting', 'sent'];
      const open = await db.collection('messages').countDocuments({ state: { $in: states } });
      const batches = await db.collection('batches').countDocuments({ state: { $in: ['paid', 'stopping'] } });
      const pending = await db.collection('accounts').countDocuments({ pendingAt: { $exists: true } });
      if (open + batches + pending === 0) return true;
      throw new Error(
        `${open} messages are not final, ${batches} batches not split, ${pending} accounts have something pending`,
      );
    },
    'all settled',
    SETTLED_MS,
  );
}

const isAccepted = (answer: Answer | undefined): answer is Answer => answer?.status === 200;

describe('bulk requests while gateway and batches worker are killed', function () {
  this.timeout(SETTLED_MS * 2);
  const product = useProduct();
  let answers: (Answer | undefined)[];
  let batches: BatchDocument[];
  let messages: MessageDocument[];

  before(async () => {
    const stored = product.db.collection<BatchDocument>('batches');
    const asked = Array.from({ length: BATCHES }, (_, n) => {
      const body = { to: numbers(n * PER_BATCH, PER_BATCH), message: `Batch ${n}`, sender: 'HARKRA' };
      // A broken connection: its process was killed.
      return product.post('/v2/send-bulk', body).catch(() => undefined);
    });
    await eventually(() => stored.findOne({}), 'a batch', SETTLED_MS);
    await product.kill('gateway');
    answers = await Promise.all(asked);
    for (let kills = 0; kills < 2; kills++) {
      const made = await product.db.collection('messages').countDocuments();
      await eventually(
        async () =>
          (await product.db.collection('messages').countDocuments()) > made ||
          (await stored.countDocuments({ state: 'paid' })) === 0,
        'messages',
        SETTLED_MS,
      );
      await product.kill('background');
    }
    await settled(product);
    batches = await stored.find({ state: { $ne: 'unpaid' } }).toArray();
    messages = await product.db.collection<MessageDocument>('messages').find().toArray();
  });

  it('every batch that was answered with 200 is there, and what is there beyond was asked for', () => {
    const accepted = answers.filter(isAccepted).map(({ body }) => body.batch_id);

    expect(batches.map(({ _id }) => _id)).to.include.members(accepted);
    expect(batches.length).to.be.at.most(BATCHES);
    expect(
      answers.filter((answer) => answer !== undefined && answer.status !== 200 && answer.status !== 503),
    ).to.deep.equal([]);
  });

  it('each recipient of a paid batch got its message once', () => {
    const submits = product.smsc.messages().map(({ to }) => to);

    expect(messages).to.have.length(batches.length * PER_BATCH);
    expect(messages.filter(({ state }) => state !== 'delivered')).to.deep.equal([]);
    expect(submits.sort()).to.deep.equal(messages.map(({ to }) => to).sort());
  });

  it('the ledger is whole, and exactly the batches are paid', async () => {
    const { problems, balance } = await verifyLedger(product.db, product.account);

    expect(problems).to.deep.equal([]);
    expect(balance).to.equal(product.credits - batches.length * PER_BATCH);
  });
});

describe('a batch that is stopped while it leaves and the worker is killed', function () {
  this.timeout(SETTLED_MS * 2);
  const product = useProduct({ carrier: { perSecond: 100 }, sharded: true });

  it('each message either left or was refunded, and the customer is told how many', async () => {
    const total = 1_500;
    const accepted = await product.post('/v2/send-bulk', {
      to: numbers(0, total),
      message: 'Stop me',
      sender: 'HARKRA',
    });
    const path = `/v2/batches/${accepted.body.batch_id}`;
    await eventually(() => product.smsc.messages().length > 100, 'messages that left', SETTLED_MS);

    const asked = product.delete(path).catch(() => undefined);
    await eventually(
      async () => (await product.db.collection('messages').findOne({ errorCode: 'cancelled' })) !== null,
      'a cancelled message',
      SETTLED_MS,
    );
    await product.kill('background');
    await asked;
    // Each answer waits at most some seconds for the worker.
    await eventually(async () => (await product.delete(path)).body.state === 'stopped', 'the stop', SETTLED_MS);
    await settled(product);
    const shown = await product.get(path);

    const left = product.smsc.messages().length;
    expect(shown.body).to.include({ state: 'stopped', stopped: total - left, credits_refunded: total - left });
    expect(shown.body.counts).to.include({ delivered: left, rejected: total - left, queued: 0 });
    const { problems, balance } = await verifyLedger(product.db, product.account);
    expect(problems).to.deep.equal([]);
    expect(balance).to.equal(product.credits - left);
  });
});
