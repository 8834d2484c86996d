import { MongoServerError } from 'mongodb';
import type { Part } from '../../../../shared/messages/document/message.ts';
import { connectStore } from '../../../../shared/platform/mongo/connect.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { answer } from '../../../support/mongo-wire/framing.ts';
import type { Handler } from '../../../support/mongo-wire/link.ts';
import { startWireProxy } from '../../../support/mongo-wire/proxy.ts';
import { POISON, ReceiptWorld, receipt, SENDER, TO } from '../../../support/receipt-world.ts';
import { use } from '../../../support/use.ts';

describe('ReceiptSettler: receipts found by their ids', () => {
  const world = use(() => ReceiptWorld.open());
  beforeEach(() => world.begin());

  it('settles a message by its id', async () => {
    const message = await world.put();

    expect(await world.receipts.add(receipt('1'))).to.equal('matched');
    expect(await world.state(message)).to.equal('delivered');
    expect(await world.told()).to.deep.equal(['delivered']);
  });

  it('the same receipt twice, at once or later, settles it once', async () => {
    await world.put();

    const results = await Promise.all([world.receipts.add(receipt('1')), world.receipts.add(receipt('1'))]);
    const later = await world.receipts.add(receipt('1'));

    expect([...results, later]).to.deep.equal(['matched', 'duplicate', 'duplicate']);
    expect(await world.told()).to.deep.equal(['delivered']);
  });

  it('a receipt that cannot be stored costs no other, and is known for that by itself alone', async () => {
    const others = [await world.put(), await world.put({ parts: [{ key: 'c:2', state: 'accepted' }] })];
    const bad = await world.put({ parts: [{ key: 'c:3', state: 'accepted' }] });
    const poisoned = { ...receipt('3'), part: { ...receipt('3').part, state: 'failed', error: POISON } } as const;

    const results = await Promise.allSettled(
      [receipt('1'), poisoned, receipt('2')].map((one) => world.receipts.add(one)),
    );

    expect(results.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected', 'fulfilled']);
    expect(await world.states([...others, bad])).to.deep.equal(['delivered', 'delivered', 'sent']);
  });

  it('while the events of earlier receipts cannot be stored, no further one is taken and none is dropped', async () => {
    const first = await world.put();
    const next = await world.put({ parts: [{ key: 'c:2', state: 'accepted' }] });
    const tell = (...ids: string[]) => Promise.allSettled(ids.map((id) => world.receipts.add(receipt(id))));
    world.eventsFailure = new Error('not the receipt’s own');

    // Its message has it, and the intent takes care of its event.
    expect(await world.receipts.add(receipt('1'))).to.equal('matched');
    const refused = [...(await tell('2')), ...(await tell('2', '1'))];

    expect(new Set(refused.map(({ status }) => status))).to.deep.equal(new Set(['rejected']));
    expect(await world.states([first, next])).to.deep.equal(['delivered', 'sent']);
    world.eventsFailure = undefined;
    expect(await Promise.all([world.receipts.add(receipt('1')), world.receipts.add(receipt('2'))])).to.deep.equal([
      'duplicate',
      'matched',
    ]);
    expect(await world.told()).to.deep.equal(['delivered', 'delivered']);
  });

  it('three parts whose receipts come at once make one change', async () => {
    const parts: Part[] = ['a', 'b', 'c'].map((id) => ({ key: `c:${id}`, state: 'accepted' }));
    const message = await world.put({ segments: 3, parts });

    await Promise.all(['b', 'a', 'c'].map((id) => world.receipts.add(receipt(id))));

    const stored = await world.messages.findOne({ _id: message._id });
    expect(stored).to.include({ state: 'delivered', v: 3 });
    expect(await world.told()).to.deep.equal(['delivered']);
  });

  it('a message that ends by the code of an earlier receipt has its reason', async () => {
    const parts: Part[] = ['a', 'b'].map((id) => ({ key: `c:${id}`, state: 'accepted' }));
    const message = await world.put({ segments: 2, parts });
    const failed = receipt('a');
    await world.receipts.add({ ...failed, part: { ...failed.part, state: 'failed', error: '650', reason: 'Blocked' } });
    await world.receipts.add(receipt('b'));

    const stored = await world.messages.findOne({ _id: message._id });
    expect(stored).to.include({ state: 'failed', errorCode: '650', errorReason: 'failed by 650' });
  });

  it('a failure and the delivery after all that come at once: the failure keeps its reason', async () => {
    const message = await world.put();
    const failed = receipt('1', 'failed');
    const told = { ...failed, part: { ...failed.part, error: '650', reason: 'Blocked' } };

    await Promise.all([world.receipts.add(told), world.receipts.add(receipt('1'))]);

    const stored = await world.messages.findOne({ _id: message._id });
    expect(stored).to.include({ state: 'delivered', v: 3 }).and.not.have.any.keys('errorCode', 'errorReason');
    const [, failure] = stored?.history ?? [];
    expect(failure).to.deep.include({ state: 'failed', error: { code: '650', reason: 'Blocked' } });
  });

  describe('one receipt for all parts, where the carrier sends no more', () => {
    afterEach(() => {
      world.parts = 'perPart';
    });

    const CASES = [
      ['first', ['a'], 'delivered'],
      ['first', ['b', 'c'], 'sent'],
      ['last', ['c'], 'delivered'],
      ['last', ['a', 'b'], 'sent'],
      ['any', ['b'], 'delivered'],
      ['perPart', ['a', 'b'], 'sent'],
    ] as const;
    for (const [rule, ids, state] of CASES) {
      it(`${rule}: receipts for ${ids.join(' and ')} of a, b, c: ${state}`, async () => {
        const parts: Part[] = ['a', 'b', 'c'].map((id) => ({ key: `c:${id}`, state: 'accepted' }));
        const message = await world.put({ segments: 3, parts });
        world.parts = rule;
        const receipts = world.settler();

        for (const id of ids) await receipts.add(receipt(id));

        expect(await world.state(message)).to.equal(state);
      });
    }

    it('the refusal of the deciding part ends the message; what others say later changes nothing', async () => {
      const parts: Part[] = ['a', 'b'].map((id) => ({ key: `c:${id}`, state: 'accepted' }));
      const message = await world.put({ segments: 2, parts });
      world.parts = 'first';
      const receipts = world.settler();

      await receipts.add(receipt('a', 'rejected'));
      await receipts.add(receipt('b', 'delivered'));

      expect(await world.state(message)).to.equal('rejected');
      expect(await world.told()).to.deep.equal(['rejected']);
    });

    it('what is not known to have been taken is not settled by it', async () => {
      const parts: Part[] = [{ key: 'c:a', state: 'accepted' }, { state: 'unknown' }];
      const message = await world.unknown({ segments: 2, parts });
      world.parts = 'first';

      await world.settler().add(receipt('a'));

      expect(await world.state(message)).to.equal('submitting');
    });
  });

  it('finds ids in another notation, and learns it', async () => {
    const first = await world.put({ parts: [{ key: 'c:55f568bd', state: 'accepted' }] });
    const second = await world.put({ parts: [{ key: 'c:55f568be', state: 'accepted' }] });

    await world.receipts.add(receipt('1442146493'));
    await world.receipts.add(receipt('1442146494'));

    expect([await world.state(first), await world.state(second)]).to.deep.equal(['delivered', 'delivered']);
  });

  it('of two messages with one id the number decides', async () => {
    const other = await world.put({ to: '918800000000' });
    const message = await world.put();

    await world.receipts.add(receipt('1'));

    expect([await world.state(other), await world.state(message)]).to.deep.equal(['sent', 'delivered']);
  });

  it('of two messages with one id to one number the newer is meant', async () => {
    const older = await world.put({ _id: newId('msg', world.clock.now().getTime()) });
    const newer = await world.put();

    await world.receipts.add(receipt('1'));

    expect([await world.state(older), await world.state(newer)]).to.deep.equal(['sent', 'delivered']);
  });

  it('a decimal id that is also the hexadecimal id of another message finds its own', async () => {
    const sixteen = await world.put({ to: '918800000000', parts: [{ key: 'c:10', state: 'accepted' }] });
    const ten = await world.put({ parts: [{ key: 'c:a', state: 'accepted' }] });

    await world.receipts.add(receipt('10'));

    expect([await world.state(sixteen), await world.state(ten)]).to.deep.equal(['sent', 'delivered']);
  });

  for (const from of ['+919876543210', '00919876543210', '09876543210', '9876543210', '9198******10', '']) {
    it(`the number may be written "${from}"`, async () => {
      const message = await world.put();

      await world.receipts.add(receipt('1', 'delivered', from));

      expect(await world.state(message)).to.equal('delivered');
    });
  }

  it('carriers may swap the two addresses', async () => {
    const message = await world.put();

    await world.receipts.add(receipt('1', 'delivered', SENDER, TO));

    expect(await world.state(message)).to.equal('delivered');
  });

  it('a receipt that came before a submit does not mean it by its id either: the carrier began to count anew', async () => {
    await world.receipts.add(receipt('1'));
    world.clock.turn(60_000);
    const later = await world.put({ state: 'submitting', parts: [], history: [] });
    await world.messages.updateOne(
      { _id: later._id },
      { $set: { state: 'sent', parts: [{ key: 'c:1', state: 'accepted' }] }, $inc: { v: 1 } },
    );
    world.receipts.expect({ ...later, state: 'sent', parts: [{ key: 'c:1', state: 'accepted' }] });

    await world.receipts.adopt(['c:1']);
    await world.receipts.repeat();
    const next = world.settler();
    await next.recover();
    await next.adopt(['c:1']);
    await next.repeat();

    expect(await world.state(later)).to.equal('sent');
    expect(await world.receipts.add(receipt('1', 'failed'))).to.equal('matched');
    expect(await world.state(later)).to.equal('failed');
  });

  it('clocks of two machines: a receipt may seem to come a little before its submit', async () => {
    await world.receipts.add(receipt('1'));
    world.clock.turn(3_000);
    const message = await world.put();

    await world.receipts.adopt(['c:1']);

    expect(await world.state(message)).to.equal('delivered');
  });

  for (const remembered of [false, true]) {
    it(`an id that was used twice is of the message submitted last, ${remembered ? 'remembered' : 'read'}`, async () => {
      const scheduled = await world.put({
        _id: newId('msg', world.clock.now().getTime() - 3_600_000),
        claim: undefined as never,
      });
      world.clock.turn(60_000);
      const early = await world.put();
      world.clock.turn(60_000);
      const claim = world.claim();
      await world.messages.updateOne({ _id: scheduled._id }, { $set: { claim } });
      if (remembered) for (const message of [{ ...scheduled, claim }, early]) world.receipts.expect(message);

      await world.receipts.add(receipt('1'));

      expect([await world.state(early), await world.state(scheduled)]).to.deep.equal(['sent', 'delivered']);
    });
  }
});

describe('ReceiptSettler: a store that refuses its user', () => {
  const world = use(() => ReceiptWorld.open());
  beforeEach(() => world.begin());

  for (const code of [13, 18]) {
    it(`has taken no receipt (${code})`, async () => {
      const proxy = await startWireProxy(world.store.uri);
      const mongodbDatabase = world.store.db.databaseName;
      const store = await connectStore({ mongodbUri: proxy.uri, dataDir: '', mongodbDatabase });
      const happens: Handler = async ({ message }, link) => link.tell(answer(message, { ok: 0, code, errmsg: 'no' }));
      const fault = proxy.inject({ command: 'find', collection: 'messages', times: Infinity, happens });
      const message = await world.put();
      const receipts = world.settler(store.db);

      const refused: unknown = await receipts.add(receipt('1')).catch((error: unknown) => error);
      fault.end();
      const again = await receipts.add(receipt('1'));
      await store.close();
      await proxy.close();

      expect(refused).to.be.instanceOf(MongoServerError).and.include({ code });
      expect([again, await world.state(message)]).to.deep.equal(['matched', 'delivered']);
    });
  }
});

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
