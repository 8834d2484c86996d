import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { makeMessage } from '../../../support/make.ts';
import { ReceiptWorld, receipt, SENDER, TO } from '../../../support/receipt-world.ts';
import { openTestStore } from '../../../support/store.ts';
import { use } from '../../../support/use.ts';

describe('ReceiptSettler: receipts whose id nobody knows', () => {
  const world = use(() => ReceiptWorld.open());
  beforeEach(() => world.begin());

  it('a receipt before its answer is kept, and settles the message when the answer is stored', async () => {
    const message = await world.put({ state: 'submitting', history: [], parts: [] });

    const result = await world.receipts.add(receipt('1'));
    await world.messages.updateOne(
      { _id: message._id },
      { $set: { state: 'sent', parts: [{ key: 'c:1', state: 'accepted' }] }, $inc: { v: 1 } },
    );
    await world.receipts.adopt(['c:1']);

    expect(result).to.equal('orphan');
    expect(await world.state(message)).to.equal('delivered');
    expect(await world.orphans.countDocuments()).to.equal(0);
  });

  it('an orphan is found again by a later round, also by another holder', async () => {
    const message = await world.put({ state: 'submitting', history: [], parts: [] });
    await world.receipts.add(receipt('1'));
    await world.messages.updateOne(
      { _id: message._id },
      { $set: { state: 'sent', parts: [{ key: 'c:1', state: 'accepted' }] }, $inc: { v: 1 } },
    );

    const next = world.settler();
    await next.recover();
    await next.repeat();

    expect(await world.state(message)).to.equal('delivered');
    expect(await world.orphans.countDocuments()).to.equal(0);
  });

  it('a receipt that nothing fits is stored once, however often it comes, and says nothing of the text', async () => {
    const results = [];
    for (let i = 0; i < 3; i++) results.push(await world.receipts.add(receipt('99')));

    const kept = await world.orphans.find().toArray();
    expect(results).to.deep.equal(['orphan', 'orphan', 'orphan']);
    expect(kept).to.have.length(1);
    expect((kept[0]?.expiresAt.getTime() ?? 0) - world.clock.now().getTime()).to.equal(72 * 3_600_000);
  });

  describe('of a submit that is not answered and nowhere but in the queue', () => {
    const claimed = () =>
      makeMessage({ to: TO, sender: SENDER, state: 'submitting', claim: world.claim(), v: 1, _id: newId('msg') });

    it('a plain text that is its receipt is kept for its answer, and is no SMS of a customer', async () => {
      expect(await world.receipts.add({ ...receipt('5'), plain: true })).to.equal('not_receipt');
      world.unborn = [claimed()];

      expect(await world.receipts.add({ ...receipt('5'), plain: true })).to.equal('orphan');
    });

    it('a receipt with an unknown id may be its own: no other submit to that number is settled by it', async () => {
      const message = await world.unknown();
      world.unborn = [claimed()];

      expect(await world.receipts.add(receipt('5'))).to.equal('orphan');

      expect(await world.state(message)).to.equal('submitting');
    });
  });

  it('the one submit to that number that was never answered is what the receipt means', async () => {
    const message = await world.unknown();

    expect(await world.receipts.add(receipt('77'))).to.equal('unknown_settled');

    const stored = await world.messages.findOne({ _id: message._id });
    expect(stored).to.include({ state: 'delivered' });
    expect(stored?.parts).to.deep.equal([{ key: 'c:77', state: 'delivered' }]);
    expect(await world.told()).to.deep.equal(['sent', 'delivered']);
  });

  it('receipts have the number as it was sent: the same last nine digits are enough', async () => {
    const unknown = await world.unknown({ to: '9109876543210' });
    const answered = await world.put({ to: '9109876543211', parts: [{ key: 'c:5', state: 'accepted' }] });

    expect(await world.receipts.add(receipt('77', 'delivered', '919876543210'))).to.equal('unknown_settled');
    await world.receipts.add({ ...receipt('5', 'delivered', '919876543211'), plain: true });

    expect(await world.states([unknown, answered])).to.deep.equal(['delivered', 'delivered']);
  });

  it('a receipt that came before a submit does not mean it, whoever looks at it again', async () => {
    await world.receipts.add(receipt('77', 'failed'));
    world.clock.turn(1_000);
    const later = await world.unknown();
    await world.receipts.repeat();
    const next = world.settler();
    await next.recover();
    await next.repeat();

    expect(await world.state(later)).to.equal('submitting');
    expect(await world.receipts.add(receipt('78'))).to.equal('unknown_settled');
    expect(await world.state(later)).to.equal('delivered');
  });

  it('one id for all segments: its receipt is of all of them', async () => {
    const parts = Array.from({ length: 3 }, () => ({ key: 'c:1', state: 'accepted' as const }));
    const [one, other] = [
      await world.put({ segments: 3, parts }),
      await world.put({ to: '918800000000', segments: 3, parts }),
    ];

    await world.receipts.add(receipt('1'));
    await world.receipts.add(receipt('1', 'failed', '918800000000'));

    expect([await world.state(one), await world.state(other)]).to.deep.equal(['delivered', 'failed']);
  });

  it('two unanswered submits to one number: neither is guessed', async () => {
    const both = [await world.unknown(), await world.unknown()];

    expect(await world.receipts.add(receipt('77'))).to.equal('orphan');
    expect(await world.states(both)).to.deep.equal(['submitting', 'submitting']);
  });

  it('a submit to that number that is still under way makes it ambiguous', async () => {
    const lost = await world.unknown();
    const under = await world.put({ state: 'submitting', history: [], parts: [] });

    expect(await world.receipts.add(receipt('77'))).to.equal('orphan');
    expect([await world.state(lost), await world.state(under)]).to.deep.equal(['submitting', 'submitting']);
  });

  it('an unanswered submit to another number, or of another sender, is not meant', async () => {
    const others = [await world.unknown({ to: '918800000000' }), await world.unknown({ sender: 'OTHER' })];

    expect(await world.receipts.add(receipt('77'))).to.equal('orphan');
    expect(await world.states(others)).to.deep.equal(['submitting', 'submitting']);
  });

  it('when nothing can be stored, it says so instead of taking the receipt', async () => {
    const away = await openTestStore();
    const broken = world.settler(away.db);
    await away.close();

    const result = await broken.add(receipt('1')).catch((error: unknown) => error);

    expect(result).to.be.instanceOf(Error);
  });
});
