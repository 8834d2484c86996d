import type { Copy, MessageDocument } from '../../../../shared/messages/document/message.ts';
import { ReceiptLookup } from '../../../../workers/smpp/receipts/receipt-lookup.ts';
import { openCountingDb } from '../../../support/counting-db.ts';
import { lookedAt } from '../../../support/looked-at.ts';
import { makeMessage } from '../../../support/make.ts';
import { ReceiptWorld, receipt } from '../../../support/receipt-world.ts';
import { use } from '../../../support/use.ts';

describe('ReceiptLookup with very many unanswered submits', () => {
  const world = use(() => ReceiptWorld.open());
  beforeEach(() => world.begin());

  const many = (count: number, earlier?: readonly Copy[]): MessageDocument[] =>
    Array.from({ length: count }, (_, i) =>
      makeMessage({
        to: String(919_000_000_000 + i),
        state: 'submitting',
        outcome: 'unknown',
        claim: world.claim(),
        ...(earlier === undefined ? {} : { earlier }),
      }),
    );
  const copy = (): Copy => ({ ...world.claim(), parts: [{ state: 'unknown' }] });

  it('none is guessed, and they are not read again for every receipt', async () => {
    const counting = openCountingDb(world.store);
    try {
      const lookup = new ReceiptLookup(counting.db, 'c');
      await world.messages.insertMany(many(1_001));
      expect(await lookup.unanswered(world.clock.now())).to.equal(undefined);
      const reads = counting.sent('find');
      await world.messages.deleteMany({});
      const only = await world.unknown();

      expect(await lookup.unanswered(world.clock.now())).to.equal(undefined);
      expect(counting.sent('find')).to.equal(reads);
      world.clock.turn(5_000);
      expect((await lookup.unanswered(world.clock.now()))?.map(({ _id }) => _id)).to.deep.equal([only._id]);
    } finally {
      await counting.close();
    }
  });

  it('a plain text that reads as a receipt waits for its answer, and is no SMS of a customer', async () => {
    await world.messages.insertMany(many(1_001));

    const result = await world.receipts.add({ ...receipt('5'), plain: true });

    expect(result).to.equal('orphan');
    expect(await world.orphans.countDocuments({})).to.equal(1);
  });

  it('the copies of another carrier that flapped are not looked at', async () => {
    const elsewhere: Copy = { ...copy(), carrier: 'd' };
    await world.messages.insertMany(many(500, [elsewhere]).map((message) => ({ ...message, state: 'sent' as const })));
    const own = await world.put({ earlier: [elsewhere, copy()] });
    const counting = openCountingDb(world.store);
    try {
      const found = await new ReceiptLookup(counting.db, 'c').unanswered(world.clock.now());

      expect(found?.map(({ _id }) => _id)).to.deep.equal([own._id]);
      for (const filter of counting.asked('messages')) {
        const { documents, found } = await lookedAt(world.store.db, world.messages.find(filter));
        expect(documents, JSON.stringify(filter)).to.equal(found);
      }
    } finally {
      await counting.close();
    }
  });

  it('one that was sent again counts once', async () => {
    await world.messages.insertMany(many(600, [copy()]));

    expect(await new ReceiptLookup(world.store.db, 'c').unanswered(world.clock.now())).to.have.length(600);
  });
});
