import { expect } from 'chai';
import { ReceiptWorld, receipt } from '../../../support/receipt-world.ts';
import { use } from '../../../support/use.ts';

describe('ReceiptSettler: receipts of messages that were sent again', () => {
  const world = use(() => ReceiptWorld.open());
  beforeEach(() => world.begin());

  const at = (carrier: string) => world.claim(carrier);

  it('the id of an earlier copy, told by a late answer, finds it', async () => {
    const earlier = [{ ...at('c'), parts: [{ key: 'c:7', state: 'accepted' as const }] }];
    const message = await world.put({ earlier, claim: at('d'), parts: [{ key: 'd:1', state: 'accepted' }] });

    expect(await world.receipts.add(receipt('7'))).to.equal('matched');
    expect(await world.state(message)).to.equal('delivered');
  });

  for (const now of ['queued', 'waiting', 'submitting', 'sent', 'failed', 'expired'] as const) {
    it(`an earlier copy that was never answered is what the receipt means, also of one that is ${now}`, async () => {
      const earlier = [{ ...at('c'), parts: [{ state: 'unknown' as const }] }];
      const history = now === 'failed' || now === 'expired' ? [{ state: now, at: world.clock.now() }] : [];
      const message = await world.put({ state: now, earlier, claim: at('d'), parts: [], history });

      expect(await world.receipts.add(receipt('77'))).to.equal('unknown_settled');
      expect(await world.state(message)).to.equal('delivered');
    });
  }

  it('the copy that is under way at the same carrier may be meant: it waits for the answer to that', async () => {
    const earlier = [{ ...at('c'), parts: [{ state: 'unknown' as const }] }];
    const message = await world.put({ state: 'submitting', earlier, claim: at('c'), parts: [], history: [] });

    expect(await world.receipts.add(receipt('77'))).to.equal('orphan');
    expect(await world.state(message)).to.equal('submitting');
  });

  it('a copy of long ago, at another carrier, or claimed after the receipt came, is not meant', async () => {
    await world.receipts.add(receipt('77'));
    world.clock.turn(60_000);
    const parts = [{ state: 'unknown' as const }];
    const others = [
      await world.put({ state: 'queued', parts: [], earlier: [{ ...at('c'), parts }] }),
      await world.put({ state: 'queued', parts: [], earlier: [{ ...at('d'), parts }] }),
      await world.put({ state: 'queued', parts: [], earlier: [{ ...at('c'), at: new Date(0), parts }] }),
    ];

    await world.receipts.repeat();

    expect(await world.states(others)).to.deep.equal(['queued', 'queued', 'queued']);
  });
});
