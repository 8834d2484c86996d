import type { MessageDocument, Part } from '../../../../shared/messages/document/message.ts';
import { submitAnswers } from '../../../../workers/smpp/session/wire.ts';
import { verdictOf } from '../../../../workers/smpp/submit/submission.ts';
import { openCountingDb } from '../../../support/counting-db.ts';
import { ReceiptWorld, receipt, SENDER, TO } from '../../../support/receipt-world.ts';
import { use } from '../../../support/use.ts';

function answered(...ids: readonly string[]): readonly Part[] {
  const read = submitAnswers({});
  const answers = ids.map((messageId) => ({ kind: 'answered' as const, ...read({ status: 0, messageId }) }));
  const verdict = verdictOf(answers, 'c');
  return verdict.kind === 'sent' ? verdict.parts : expect.fail('sent');
}

describe('ReceiptSettler: ids in another case', () => {
  const world = use(() => ReceiptWorld.open());
  beforeEach(() => world.begin());

  const put = (...ids: readonly string[]): Promise<MessageDocument> =>
    world.put({ parts: answered(...ids), segments: ids.length });

  for (const [answer, inReceipt] of [
    ['4f1c', '4F1C'],
    ['4F1C', '4f1c'],
    ['SAR-2347039245475-1eedf843-2-1', 'SAR-2347039245475-1EEDF843-2-1'],
    ['SAR-2347039245475-1eedf843-2-1', 'sar-2347039245475-1eedf843-2-1'],
    ['SAR-2347039245475-1eedf843-2-1', 'sAr-2347039245475-1EeDf843-2-1'],
    ['9abc', '9aBc'],
    ['9ABC', '9aBc'],
    ['00SAR-1eedf843', 'sar-1EEDF843'],
  ] as const) {
    it(`${answer} is found by ${inReceipt}, at first and later, remembered or not`, async () => {
      const first = await put(answer);
      expect(await world.receipts.add(receipt(inReceipt))).to.equal('matched');
      const second = await put(`${answer}b7`);
      world.receipts.expect(second);
      expect(await world.receipts.add(receipt(`${inReceipt}B7`))).to.equal('matched');

      expect(await world.states([first, second])).to.deep.equal(['delivered', 'delivered']);
    });
  }

  it('the very id wins, also when the carrier is known to change the case', async () => {
    const changed = await put('00aa');
    await world.receipts.add(receipt('00AA'));
    const [lower, upper, mixed] = [await put('9abc'), await put('9ABC'), await put('9aBc')];
    world.receipts.expect(lower);

    await world.receipts.add(receipt('9aBc'));
    await world.receipts.add(receipt('9ABC', 'failed'));
    await world.receipts.add(receipt('9abc', 'expired'));

    expect(await world.states([changed, lower, upper, mixed])).to.deep.equal([
      'delivered',
      'expired',
      'failed',
      'delivered',
    ]);
  });

  it('in one group of receipts, too', async () => {
    const ids = ['9abc', '9ABC', '9aBc', '9Abc'];
    const messages: MessageDocument[] = [];
    for (const id of ids) messages.push(await put(id));
    const told = ['expired', 'failed', 'delivered', 'rejected'] as const;

    await Promise.all(ids.map((id, i) => world.receipts.add(receipt(id, told[i]))));

    expect(await world.states(messages)).to.deep.equal(told);
  });

  it('an id that differs from two ids in case only is nobody’s', async () => {
    const both = [await put('9abc'), await put('9aBc')];

    expect(await world.receipts.add(receipt('9ABC', 'failed'))).to.equal('orphan');
    expect(await world.states(both)).to.deep.equal(['sent', 'sent']);
  });

  it('the segments of one message may differ in case only', async () => {
    const message = await put('9abc', '9aBc');

    await world.receipts.add(receipt('9aBc'));
    expect(await world.state(message)).to.equal('sent');
    await world.receipts.add(receipt('9abc'));

    expect(await world.state(message)).to.equal('delivered');
  });

  for (const [what, from, to] of [
    ['', TO, SENDER],
    [', also if the carrier masks the number', '98XXXXXX10', SENDER],
    [', also if it leaves the number out', '', SENDER],
    [', also if it swaps the addresses', SENDER, TO],
  ] as const) {
    it(`while an answer to this number is due, an id in another case waits for it${what}`, async () => {
      const other = await put('9abc');
      const underWay = await world.put({ state: 'submitting', parts: [], history: [] });

      expect(await world.receipts.add(receipt('9aBc', 'delivered', from, to))).to.equal('orphan');
      const parts = answered('9aBc');
      const set = { state: 'sent', parts } as const;
      await world.messages.updateOne({ _id: underWay._id }, { $set: set, $inc: { v: 1 } });
      await world.receipts.adopt(['c:9aBc']);

      expect(await world.states([other, underWay])).to.deep.equal(['sent', 'delivered']);
    });
  }

  it('a receipt in another case that came before its answer is found by the answer', async () => {
    const underWay = await world.put({ state: 'submitting', parts: [], history: [] });

    expect(await world.receipts.add(receipt('SAR-1EEDF843'))).to.equal('orphan');
    const set = { state: 'sent', parts: answered('SAR-1eedf843') } as const;
    await world.messages.updateOne({ _id: underWay._id }, { $set: set, $inc: { v: 1 } });
    await world.receipts.adopt(['c:SAR-1eedf843']);

    expect(await world.state(underWay)).to.equal('delivered');
  });

  it('a failure keeps the id findable in another case, for a delivery that follows', async () => {
    const message = await put('SAR-1eedf843');
    await world.receipts.add(receipt('SAR-1EEDF843', 'failed'));

    await world.receipts.add(receipt('sar-1eedf843'));

    expect(await world.state(message)).to.equal('delivered');
  });

  it('an id in its own case costs one read', async () => {
    const message = await put('SAR-1eedf843');
    const counting = openCountingDb(world.store);

    await world.settler(counting.db).add(receipt('SAR-1eedf843'));
    const asked = counting.asked('messages').filter((filter) => 'parts.key' in filter || 'parts.caseless' in filter);
    await counting.close();

    expect(await world.state(message)).to.equal('delivered');
    expect(asked).to.deep.equal([{ 'parts.key': { $in: ['c:SAR-1eedf843'] } }]);
  });
});
