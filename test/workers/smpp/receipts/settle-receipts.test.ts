import { expect } from 'chai';
import type { Copy, FinalState, MessageDocument, Part } from '../../../../shared/messages/message.ts';
import { newId } from '../../../../shared/runtime/ids.ts';
import { silentLog } from '../../../../shared/runtime/log.ts';
import { MessageLog } from '../../../../shared/settlement/log-store.ts';
import { Settler } from '../../../../shared/settlement/settle.ts';
import { candidateKeys } from '../../../../workers/smpp/dialect/message-ids.ts';
import type { OrphanDocument } from '../../../../workers/smpp/receipts/orphan-store.ts';
import { ReceiptLookup } from '../../../../workers/smpp/receipts/receipt-lookup.ts';
import type { IncomingReceipt } from '../../../../workers/smpp/receipts/receipt-match.ts';
import { ReceiptSettler } from '../../../../workers/smpp/receipts/settle-receipts.ts';
import { openCountingDb } from '../../../support/counting-db.ts';
import { makeMessage } from '../../../support/make.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { openTestStore, type TestStore } from '../../../support/store.ts';

const TO = '919876543210';
const SENDER = 'HARKRA';

describe('ReceiptSettler', () => {
  const clock = new ManualClock();
  let store: TestStore;
  let receipts: ReceiptSettler;
  const events: string[] = [];
  before(async () => {
    store = await openTestStore();
  });
  after(() => store.close());
  beforeEach(async () => {
    events.length = 0;
    for (const name of ['messages', 'intents', 'orphans']) await store.db.collection(name).deleteMany({});
    receipts = open();
  });

  const messages = () => store.db.collection<MessageDocument>('messages');
  const orphans = () => store.db.collection<OrphanDocument>('orphans');
  const open = (): ReceiptSettler =>
    new ReceiptSettler({
      db: store.db,
      clock,
      carrier: 'c',
      messageLog: new MessageLog({ db: store.db, clock, log: silentLog, days: 30 }),
      settler: new Settler({
        db: store.db,
        announcer: {
          announce: async (changes) => {
            for (const { entry } of changes) events.push(entry.state);
          },
        },
        lease: 'carrier:c',
        epoch: 1,
        stream: 'receipts',
      }),
      onGroup: () => {},
      answersStored: async () => {},
    });
  const put = async (overrides: Partial<MessageDocument> = {}): Promise<MessageDocument> => {
    const message = makeMessage({
      to: TO,
      sender: SENDER,
      state: 'sent',
      parts: [{ key: 'c:1', state: 'accepted' }],
      claim: { id: newId('clm'), carrier: 'c', epoch: 1, at: clock.now() },
      history: [{ state: 'sent', at: clock.now() }],
      v: 2,
      ...overrides,
    });
    await messages().insertOne(message);
    return message;
  };
  const unknown = (overrides: Partial<MessageDocument> = {}): Promise<MessageDocument> =>
    put({ state: 'submitting', outcome: 'unknown', parts: [{ state: 'unknown' }], history: [], ...overrides });
  const state = async (message: MessageDocument): Promise<string | undefined> =>
    (await messages().findOne({ _id: message._id }))?.state;
  const receipt = (id: string, told: FinalState = 'delivered', from = TO, to = SENDER): IncomingReceipt => ({
    candidates: candidateKeys({ _id: 'c', idForm: 'learn' }, [id]),
    from,
    to,
    part: { state: told, operator: 'Carrier' },
    excerpt: '',
  });

  it('settles a message by its id', async () => {
    const message = await put();

    expect(await receipts.add(receipt('1'))).to.equal('matched');
    expect(await state(message)).to.equal('delivered');
    expect(events).to.deep.equal(['delivered']);
  });

  it('the same receipt twice, at once or later, settles it once', async () => {
    await put();

    const results = await Promise.all([receipts.add(receipt('1')), receipts.add(receipt('1'))]);
    const later = await receipts.add(receipt('1'));

    expect([...results, later]).to.deep.equal(['matched', 'duplicate', 'duplicate']);
    expect(events).to.deep.equal(['delivered']);
  });

  it('three parts whose receipts come at once make one change', async () => {
    const parts: Part[] = ['a', 'b', 'c'].map((id) => ({ key: `c:${id}`, state: 'accepted' }));
    const message = await put({ segments: 3, parts });

    await Promise.all(['b', 'a', 'c'].map((id) => receipts.add(receipt(id))));

    const stored = await messages().findOne({ _id: message._id });
    expect(stored).to.include({ state: 'delivered', v: 3 });
    expect(events).to.deep.equal(['delivered']);
  });

  it('finds ids in another notation, and learns it', async () => {
    const first = await put({ parts: [{ key: 'c:55f568bd', state: 'accepted' }] });
    const second = await put({ parts: [{ key: 'c:55f568be', state: 'accepted' }] });

    await receipts.add(receipt('1442146493'));
    await receipts.add(receipt('1442146494'));

    expect([await state(first), await state(second)]).to.deep.equal(['delivered', 'delivered']);
  });

  it('of two messages with one id the number decides', async () => {
    const other = await put({ to: '918800000000' });
    const message = await put();

    await receipts.add(receipt('1'));

    expect([await state(other), await state(message)]).to.deep.equal(['sent', 'delivered']);
  });

  it('of two messages with one id to one number the newer is meant', async () => {
    const older = await put({ _id: newId('msg', clock.now().getTime()) });
    const newer = await put();

    await receipts.add(receipt('1'));

    expect([await state(older), await state(newer)]).to.deep.equal(['sent', 'delivered']);
  });

  it('a decimal id that is also the hexadecimal id of another message finds its own', async () => {
    const sixteen = await put({ to: '918800000000', parts: [{ key: 'c:10', state: 'accepted' }] });
    const ten = await put({ parts: [{ key: 'c:a', state: 'accepted' }] });

    await receipts.add(receipt('10'));

    expect([await state(sixteen), await state(ten)]).to.deep.equal(['sent', 'delivered']);
  });

  for (const from of ['+919876543210', '00919876543210', '09876543210', '9876543210', '9198******10', '']) {
    it(`the number may be written "${from}"`, async () => {
      const message = await put();

      await receipts.add(receipt('1', 'delivered', from));

      expect(await state(message)).to.equal('delivered');
    });
  }

  it('carriers may swap the two addresses', async () => {
    const message = await put();

    await receipts.add(receipt('1', 'delivered', SENDER, TO));

    expect(await state(message)).to.equal('delivered');
  });

  it('a receipt before its answer is kept, and settles the message when the answer is stored', async () => {
    const message = await put({ state: 'submitting', history: [], parts: [] });

    const result = await receipts.add(receipt('1'));
    await messages().updateOne(
      { _id: message._id },
      { $set: { state: 'sent', parts: [{ key: 'c:1', state: 'accepted' }] }, $inc: { v: 1 } },
    );
    await receipts.adopt(['c:1']);

    expect(result).to.equal('orphan');
    expect(await state(message)).to.equal('delivered');
    expect(await orphans().countDocuments()).to.equal(0);
  });

  it('an orphan is found again by the sweep, also by another holder', async () => {
    const message = await put({ state: 'submitting', history: [], parts: [] });
    await receipts.add(receipt('1'));
    await messages().updateOne(
      { _id: message._id },
      { $set: { state: 'sent', parts: [{ key: 'c:1', state: 'accepted' }] }, $inc: { v: 1 } },
    );

    const next = open();
    await next.recover();
    await next.sweep();

    expect(await state(message)).to.equal('delivered');
    expect(await orphans().countDocuments()).to.equal(0);
  });

  it('a receipt that nothing fits is stored once, however often it comes, and says nothing of the text', async () => {
    const results = [];
    for (let i = 0; i < 3; i++) results.push(await receipts.add(receipt('99')));

    const kept = await orphans().find().toArray();
    expect(results).to.deep.equal(['orphan', 'orphan', 'orphan']);
    expect(kept).to.have.length(1);
    expect((kept[0]?.expiresAt.getTime() ?? 0) - clock.now().getTime()).to.equal(72 * 3_600_000);
  });

  it('the one submit to that number that was never answered is what the receipt means', async () => {
    const message = await unknown();

    expect(await receipts.add(receipt('77'))).to.equal('unknown_settled');

    const stored = await messages().findOne({ _id: message._id });
    expect(stored).to.include({ state: 'delivered' });
    expect(stored?.parts).to.deep.equal([{ key: 'c:77', state: 'delivered' }]);
    expect(events).to.deep.equal(['sent', 'delivered']);
  });

  it('a receipt that came before a submit does not mean it, whoever looks at it again', async () => {
    await receipts.add(receipt('77', 'failed'));
    clock.turn(1_000);
    const later = await unknown();
    await receipts.sweep();
    const next = open();
    await next.recover();
    await next.sweep();

    expect(await state(later)).to.equal('submitting');
    expect(await receipts.add(receipt('78'))).to.equal('unknown_settled');
    expect(await state(later)).to.equal('delivered');
  });

  it('a receipt that came before a submit does not mean it by its id either: the carrier began to count anew', async () => {
    await receipts.add(receipt('1'));
    clock.turn(60_000);
    const later = await put({ state: 'submitting', parts: [], history: [] });
    await messages().updateOne(
      { _id: later._id },
      { $set: { state: 'sent', parts: [{ key: 'c:1', state: 'accepted' }] }, $inc: { v: 1 } },
    );
    receipts.expect({ ...later, state: 'sent', parts: [{ key: 'c:1', state: 'accepted' }] });

    await receipts.adopt(['c:1']);
    await receipts.sweep();
    const next = open();
    await next.recover();
    await next.adopt(['c:1']);
    await next.sweep();

    expect(await state(later)).to.equal('sent');
    expect(await receipts.add(receipt('1', 'failed'))).to.equal('matched');
    expect(await state(later)).to.equal('failed');
  });

  it('clocks of two machines: a receipt may seem to come a little before its submit', async () => {
    await receipts.add(receipt('1'));
    clock.turn(3_000);
    const message = await put();

    await receipts.adopt(['c:1']);

    expect(await state(message)).to.equal('delivered');
  });

  for (const remembered of [false, true]) {
    it(`an id that was used twice is of the message submitted last, ${remembered ? 'remembered' : 'read'}`, async () => {
      const scheduled = await put({ _id: newId('msg', clock.now().getTime() - 3_600_000), claim: undefined as never });
      clock.turn(60_000);
      const early = await put();
      clock.turn(60_000);
      const claim = { id: newId('clm'), carrier: 'c', epoch: 1, at: clock.now() };
      await messages().updateOne({ _id: scheduled._id }, { $set: { claim } });
      if (remembered) for (const message of [{ ...scheduled, claim }, early]) receipts.expect(message);

      await receipts.add(receipt('1'));

      expect([await state(early), await state(scheduled)]).to.deep.equal(['sent', 'delivered']);
    });
  }

  it('ids that differ in case only are two ids', async () => {
    const lower = await put({ parts: [{ key: 'c:9abc', state: 'accepted' }] });
    const mixed = await put({ parts: [{ key: 'c:9aBc', state: 'accepted' }] });

    await receipts.add(receipt('9aBc'));
    const early = await receipts.add(receipt('9ABC', 'failed'));

    expect([await state(lower), await state(mixed)]).to.deep.equal(['sent', 'delivered']);
    expect(early).to.equal('orphan');
    await receipts.adopt(['c:9abc']);
    expect(await state(lower)).to.equal('sent');
  });

  it('a carrier that changes the case of its ids is found out, and its ids are found', async () => {
    const both = [
      await put({ parts: [{ key: 'c:4f1c', state: 'accepted' }] }),
      await put({ parts: [{ key: 'c:4f1d', state: 'accepted' }] }),
    ];

    await receipts.add(receipt('4F1C'));
    await receipts.add(receipt('4F1D'));

    expect(await Promise.all(both.map(state))).to.deep.equal(['delivered', 'delivered']);
  });

  describe('of messages that were sent again', () => {
    const at = (carrier: string) => ({ id: newId('clm'), carrier, epoch: 1, at: clock.now() });

    it('the id of an earlier copy, told by a late answer, finds it', async () => {
      const earlier = [{ ...at('c'), parts: [{ key: 'c:7', state: 'accepted' as const }] }];
      const message = await put({ earlier, claim: at('d'), parts: [{ key: 'd:1', state: 'accepted' }] });

      expect(await receipts.add(receipt('7'))).to.equal('matched');
      expect(await state(message)).to.equal('delivered');
    });

    for (const now of ['queued', 'waiting', 'submitting', 'sent', 'failed', 'expired'] as const) {
      it(`an earlier copy that was never answered is what the receipt means, also of one that is ${now}`, async () => {
        const earlier = [{ ...at('c'), parts: [{ state: 'unknown' as const }] }];
        const history = now === 'failed' || now === 'expired' ? [{ state: now, at: clock.now() }] : [];
        const message = await put({ state: now, earlier, claim: at('d'), parts: [], history });

        expect(await receipts.add(receipt('77'))).to.equal('unknown_settled');
        expect(await state(message)).to.equal('delivered');
      });
    }

    it('the copy that is under way at the same carrier may be meant: it waits for the answer to that', async () => {
      const earlier = [{ ...at('c'), parts: [{ state: 'unknown' as const }] }];
      const message = await put({ state: 'submitting', earlier, claim: at('c'), parts: [], history: [] });

      expect(await receipts.add(receipt('77'))).to.equal('orphan');
      expect(await state(message)).to.equal('submitting');
    });

    it('a copy of long ago, at another carrier, or claimed after the receipt came, is not meant', async () => {
      await receipts.add(receipt('77'));
      clock.turn(60_000);
      const parts = [{ state: 'unknown' as const }];
      const others = [
        await put({ state: 'queued', parts: [], earlier: [{ ...at('c'), parts }] }),
        await put({ state: 'queued', parts: [], earlier: [{ ...at('d'), parts }] }),
        await put({ state: 'queued', parts: [], earlier: [{ ...at('c'), at: new Date(0), parts }] }),
      ];

      await receipts.sweep();

      expect(await Promise.all(others.map(state))).to.deep.equal(['queued', 'queued', 'queued']);
    });
  });

  it('one id for all segments: its receipt is of all of them', async () => {
    const parts = Array.from({ length: 3 }, () => ({ key: 'c:1', state: 'accepted' as const }));
    const [one, other] = [await put({ segments: 3, parts }), await put({ to: '918800000000', segments: 3, parts })];

    await receipts.add(receipt('1'));
    await receipts.add(receipt('1', 'failed', '918800000000'));

    expect([await state(one), await state(other)]).to.deep.equal(['delivered', 'failed']);
  });

  it('two unanswered submits to one number: neither is guessed', async () => {
    const both = [await unknown(), await unknown()];

    expect(await receipts.add(receipt('77'))).to.equal('orphan');
    expect(await Promise.all(both.map(state))).to.deep.equal(['submitting', 'submitting']);
  });

  it('a submit to that number that is still under way makes it ambiguous', async () => {
    const lost = await unknown();
    const under = await put({ state: 'submitting', history: [], parts: [] });

    expect(await receipts.add(receipt('77'))).to.equal('orphan');
    expect([await state(lost), await state(under)]).to.deep.equal(['submitting', 'submitting']);
  });

  describe('with very many unanswered submits', () => {
    const many = (count: number, earlier?: readonly Copy[]): MessageDocument[] =>
      Array.from({ length: count }, (_, i) =>
        makeMessage({
          to: String(919_000_000_000 + i),
          state: 'submitting',
          outcome: 'unknown',
          claim: { id: newId('clm'), carrier: 'c', epoch: 1, at: clock.now() },
          ...(earlier === undefined ? {} : { earlier }),
        }),
      );
    const copy = (): Copy => ({
      ...{ id: newId('clm'), carrier: 'c', epoch: 1, at: clock.now() },
      parts: [{ state: 'unknown' }],
    });

    it('none is guessed, and they are not read again for every receipt', async () => {
      const counting = openCountingDb(store);
      try {
        const lookup = new ReceiptLookup(counting.db, 'c');
        await messages().insertMany(many(1_001));
        expect(await lookup.unanswered(clock.now())).to.deep.equal([]);
        const reads = counting.sent('find');
        await messages().deleteMany({});
        const only = await unknown();

        expect(await lookup.unanswered(clock.now())).to.deep.equal([]);
        expect(counting.sent('find')).to.equal(reads);
        clock.turn(5_000);
        expect((await lookup.unanswered(clock.now())).map(({ _id }) => _id)).to.deep.equal([only._id]);
      } finally {
        await counting.close();
      }
    });

    it('one that was sent again counts once', async () => {
      await messages().insertMany(many(600, [copy()]));

      expect(await new ReceiptLookup(store.db, 'c').unanswered(clock.now())).to.have.length(600);
    });
  });

  it('an unanswered submit to another number, or of another sender, is not meant', async () => {
    const others = [await unknown({ to: '918800000000' }), await unknown({ sender: 'OTHER' })];

    expect(await receipts.add(receipt('77'))).to.equal('orphan');
    expect(await Promise.all(others.map(state))).to.deep.equal(['submitting', 'submitting']);
  });

  it('when nothing can be stored, it says so instead of taking the receipt', async () => {
    const away = await openTestStore();
    const broken = new ReceiptSettler({
      db: away.db,
      clock,
      carrier: 'c',
      messageLog: new MessageLog({ db: away.db, clock, log: silentLog, days: 30 }),
      settler: new Settler({
        db: away.db,
        announcer: { announce: async () => {} },
        lease: 'carrier:c',
        epoch: 1,
        stream: 'receipts',
      }),
      onGroup: () => {},
      answersStored: async () => {},
    });
    await away.close();

    const result = await broken.add(receipt('1')).catch((error: unknown) => error);

    expect(result).to.be.instanceOf(Error);
  });
});
