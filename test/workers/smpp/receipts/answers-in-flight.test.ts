import type { MessageDocument, Part } from '../../../../shared/messages/document/message.ts';
import type { OutcomeSettler } from '../../../../shared/messages/settlement/settle-outcomes.ts';
import type { AnswersInFlight } from '../../../../workers/smpp/receipts/orphans.ts';
import type { ReceiptSettler } from '../../../../workers/smpp/receipts/settle-receipts.ts';
import { openCountingDb } from '../../../support/counting-db.ts';
import { withCutStore } from '../../../support/mongo-wire/cut-store.ts';
import { cutAfter, cutBefore, pass } from '../../../support/mongo-wire/faults.ts';
import { POISON, ReceiptWorld, receipt } from '../../../support/receipt-world.ts';

const PART: Part = { key: 'c:1', state: 'accepted' };
const UPDATE = { command: 'update', collection: 'messages' } as const;
const SENT = { kind: 'sent', parts: [PART] } as const;

describe('receipts of answers that are not stored yet', () => {
  const site = withCutStore();
  let world: ReceiptWorld;
  let receipts: ReceiptSettler;
  let outcomes: OutcomeSettler;
  beforeEach(async () => {
    world = ReceiptWorld.in(site.store);
    await world.begin();
    outcomes = world.outcomes((message) => receipts.expect(message), site.cut.db);
    receipts = world.settler(site.store.db, answers);
  });

  /** Lets a receipt wait as long as a busy machine needs for its answer, not only the product's 250 ms. */
  const answers: AnswersInFlight = {
    join: (...joined) => outcomes.join(...joined),
    settled: () => outcomes.settled(60_000),
  };

  const submitting = (overrides: Partial<MessageDocument> = {}): Promise<MessageDocument> =>
    world.put({ state: 'submitting', parts: undefined as never, history: [], v: 1, ...overrides });
  const stored = (message: MessageDocument) => world.messages.findOne({ _id: message._id });

  for (const [when, first] of [
    ['right after', 'answer'],
    ['right before', 'receipt'],
  ] as const) {
    it(`a receipt that comes ${when} its answer is stored with it, by one write`, async () => {
      const message = await submitting();

      const answered = first === 'answer' ? outcomes.add(message, SENT) : undefined;
      const told = receipts.add(receipt('1'));
      await (answered ?? outcomes.add(message, SENT));

      expect(await told).to.equal('matched');
      const { state, v, history = [] } = (await stored(message)) ?? {};
      expect([state, v]).to.deep.equal(['delivered', 2]);
      expect(history.map((entry) => entry.state)).to.deep.equal(['sent', 'delivered']);
      expect(history[0]?.at).to.be.below(history[1]?.at as Date);
      expect(await world.told()).to.deep.equal(['sent', 'delivered']);
    });
  }

  it('the receipts of several segments, and a repeated one, make one change with the answer', async () => {
    const parts: Part[] = ['a', 'b'].map((id) => ({ key: `c:${id}`, state: 'accepted' }));
    const message = await submitting({ segments: 2 });

    const answered = outcomes.add(message, { kind: 'sent', parts });
    const told = await Promise.all(['b', 'a', 'b'].map((id) => receipts.add(receipt(id))));
    await answered;

    expect(told).to.deep.equal(['matched', 'matched', 'duplicate']);
    expect(await stored(message)).to.include({ state: 'delivered', v: 2 });
    expect(await world.told()).to.deep.equal(['sent', 'delivered']);
  });

  it('the receipt of another number does not mean it, whatever its id', async () => {
    const message = await submitting();

    const answered = outcomes.add(message, SENT);
    const told = receipts.add(receipt('1', 'delivered', '918800000000'));

    expect((await answered)?.state).to.equal('sent');
    expect(await told).to.equal('orphan');
    expect(await world.state(message)).to.equal('sent');
  });

  it('a receipt that comes while its answer is being stored is settled right after it, without a look into the store', async () => {
    const message = await submitting();
    const counting = openCountingDb(site.store);
    receipts = world.settler(counting.db, answers);
    let told: Promise<string> | undefined;
    site.proxy.inject({
      ...UPDATE,
      happens: async (command, link) => {
        told = receipts.add(receipt('1'));
        await pass(command, link);
      },
    });

    await outcomes.add(message, SENT);

    expect(await told).to.equal('matched');
    expect(await stored(message)).to.include({ state: 'delivered', v: 3 });
    expect(counting.asked('messages')).to.deep.equal([]);
    await counting.close();
  });

  it('a receipt that cannot be stored does not keep its answer from being stored', async () => {
    const message = await submitting();
    const poisoned = { ...receipt('1'), part: { ...receipt('1').part, state: 'failed', error: POISON } } as const;

    const answered = outcomes.add(message, SENT);
    const told = receipts.add(poisoned).catch((error: unknown) => error);

    expect((await answered)?.state).to.equal('sent');
    expect(await told).to.be.instanceOf(Error);
    expect(await world.state(message)).to.equal('sent');
  });

  it('when the two cannot be stored, the receipt finds its message once the answer is stored', async () => {
    const message = await submitting();
    site.proxy.inject({ ...UPDATE, happens: cutBefore });

    const answered = outcomes.add(message, SENT);
    const told = receipts.add(receipt('1'));

    expect(await told).to.equal('matched');
    expect((await answered)?.state).to.equal('sent');
    expect(await world.state(message)).to.equal('delivered');
    expect(await world.told()).to.deep.equal(['sent', 'delivered']);
  });

  it('when both were stored and nobody was told, each has its event once', async () => {
    const message = await submitting();
    site.proxy.inject({ ...UPDATE, happens: cutAfter });

    const answered = outcomes.add(message, SENT);
    const told = receipts.add(receipt('1'));

    expect(await told).to.equal('duplicate');
    await answered;
    expect(await world.state(message)).to.equal('delivered');
    expect(await world.told()).to.deep.equal(['sent', 'delivered']);
  });
});
