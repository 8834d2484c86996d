import { isHeldOpen } from '../../shared/messages/document/copies.ts';
import type { MessageDocument } from '../../shared/messages/document/message.ts';
import { verifyLedger } from '../../shared/money/ledger/verify.ts';
import { eventually } from '../support/eventually.ts';
import { type Product, startProduct } from '../support/product.ts';

const MESSAGES = 20;
const WAIT_MS = 120_000;

/** The carrier leaves each first copy unanswered and refuses each second one. */
describe('kill -9 of the SMPP worker around a resend', function () {
  this.timeout(WAIT_MS * 4);
  let product: Product;
  const submits = new Map<string, number>();

  before(async () => {
    product = await startProduct({
      smsc: {
        holdReceipts: true,
        behaviour: ({ to }) => {
          const before = submits.get(to) ?? 0;
          submits.set(to, before + 1);
          return before === 0 ? { answer: 'never' } : { status: 0x0b };
        },
      },
      carrier: { responseTimeoutMs: 60_000, unknownWaitMs: 10_000, unknownPolicy: 'resend' },
    });
  });
  after(() => product?.stop());

  const messages = () => product.db.collection<MessageDocument>('messages').find().toArray();
  const all = (what: string, check: (message: MessageDocument) => boolean): Promise<MessageDocument[]> =>
    eventually(
      async () => {
        const found = await messages();
        const states = found.map(({ state, outcome, errorCode }) => [state, outcome, errorCode].join(' '));
        if (found.length < MESSAGES || !found.every(check)) throw new Error([...new Set(states)].join(', '));
        return found;
      },
      what,
      WAIT_MS,
    );
  const listed = async (): Promise<string> => (await product.ops('carrier list')).split('\n').at(-1) ?? '';

  it('nothing is refunded of what the first carrier took, and its receipts settle it all', async () => {
    const bound = await eventually(async () => /bound \(\d of \d\) since/.exec(await listed())?.[0], 'it is bound');
    const numbers = Array.from({ length: MESSAGES }, (_, i) => `9198765${String(i).padStart(2, '0')}000`);
    for (const to of numbers) await product.send(to, 'once, please');
    await eventually(() => submits.size === MESSAGES, 'all are submitted', WAIT_MS);

    await product.kill('smpp');
    const waiting = await all('all wait for their first copy', isHeldOpen);
    await product.kill('smpp');
    product.smsc.release();
    const delivered = await all('all are delivered', ({ state }) => state === 'delivered');

    expect(bound).to.be.a('string');
    expect(new Set(waiting.map(({ errorCode }) => errorCode))).to.deep.equal(new Set(['0x0B']));
    // On a slow machine `unknownWaitMs` may end before the second worker is bound: such messages failed first.
    for (const { history } of delivered) {
      expect(history.map(({ state }) => state).join(' ')).to.be.oneOf(['sent delivered', 'failed delivered']);
    }
    expect([...submits.values()]).to.deep.equal(numbers.map(() => 2));
    const verdict = await verifyLedger(product.db, product.account);
    expect(verdict.problems).to.deep.equal([]);
    expect(verdict.balance).to.equal(product.credits - MESSAGES);
  });
});
