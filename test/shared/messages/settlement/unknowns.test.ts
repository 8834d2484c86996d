import { CARRIER_DEFAULTS, type CarrierDocument } from '../../../../shared/carriers/carrier.ts';
import type { Announcer } from '../../../../shared/events/webhooks/announce.ts';
import type { MessageDocument, Part } from '../../../../shared/messages/document/message.ts';
import { queueOf } from '../../../../shared/messages/queue/queue-store.ts';
import { Settler } from '../../../../shared/messages/settlement/settle.ts';
import { decideUnknowns, takeOverUnknowns } from '../../../../shared/messages/settlement/unknowns.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { makeMessage } from '../../../support/make.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { useStore } from '../../../support/store.ts';

const LEASE = 'carrier:c';

describe('unknown submits', () => {
  const clock = new ManualClock();
  const store = useStore();
  let events: string[];
  beforeEach(async () => {
    events = [];
    for (const name of ['messages', 'queue']) await store.db.collection(name).deleteMany({});
  });

  const announcer: Announcer = {
    announce: async (changes) => {
      for (const change of changes) if ('message' in change) events.push(`${change.message._id} ${change.entry.state}`);
    },
  };
  const messages = () => store.db.collection<MessageDocument>('messages');
  const put = async (overrides: Partial<MessageDocument>): Promise<MessageDocument> => {
    const claim = { id: newId('clm'), carrier: 'c', epoch: 1, at: clock.now() };
    const message = makeMessage({ state: 'submitting', claim, v: 1, ...overrides });
    await messages().insertOne(message);
    return message;
  };
  const stored = async (message: MessageDocument): Promise<MessageDocument> => {
    const found = await messages().findOne({ _id: message._id });
    if (found === null) throw new Error('no such message');
    return found;
  };
  const decide = async (
    overrides: Partial<CarrierDocument>,
    settler: Pick<Settler, 'settle'> = new Settler({
      db: store.db,
      announcer,
      lease: LEASE,
      epoch: 2,
      stream: 'unknowns',
    }),
  ): Promise<number> => {
    const decided = await decideUnknowns({
      db: store.db,
      clock,
      holder: {
        ...CARRIER_DEFAULTS,
        _id: 'c',
        name: 'C',
        host: 'localhost',
        port: 1,
        systemId: 'x',
        password: '',
        createdAt: clock.now(),
        ...overrides,
      },
      settler,
    });
    return decided.length;
  };

  it('a new holder takes over what an earlier one left submitting, and nothing else', async () => {
    const left = await put({});
    const other = await put({ claim: { id: newId('clm'), carrier: 'd', epoch: 1, at: clock.now() } });
    const own = await put({ claim: { id: newId('clm'), carrier: 'c', epoch: 2, at: clock.now() } });

    const count = await takeOverUnknowns(store.db, 'c', 2);

    expect(count).to.equal(1);
    expect(await stored(left)).to.deep.include({ outcome: 'unknown', state: 'submitting', v: 2 });
    expect((await stored(left)).claim?.epoch).to.equal(2);
    expect(await stored(other)).not.to.have.property('outcome');
    expect(await stored(own)).not.to.have.property('outcome');
  });

  it('a holder that begins anew in its own epoch takes over what it left itself', async () => {
    const own = await put({ claim: { id: newId('clm'), carrier: 'c', epoch: 2, at: clock.now() } });

    expect(await takeOverUnknowns(store.db, 'c', 2, true)).to.equal(1);
    expect(await stored(own)).to.deep.include({ outcome: 'unknown', state: 'submitting', v: 2 });
  });

  it('what an earlier holder still claims after it was taken over is found, too', async () => {
    await takeOverUnknowns(store.db, 'c', 2);
    const taken = await put({});

    expect(await takeOverUnknowns(store.db, 'c', 2)).to.equal(1);
    expect(await stored(taken)).to.deep.include({ outcome: 'unknown', state: 'submitting' });
  });

  it('a claim that was made anew since it was read is not decided', async () => {
    const message = await put({ outcome: 'unknown' });
    clock.turn(60_000);
    const settler = new Settler({ db: store.db, announcer, lease: LEASE, epoch: 2, stream: 'unknowns' });
    const readThenClaimed: Pick<Settler, 'settle'> = {
      settle: async (items) => {
        const claim = { id: newId('clm'), carrier: 'c', epoch: 2, at: clock.now() };
        await messages().updateOne({ _id: message._id }, { $set: { claim }, $inc: { v: 1 } });
        return settler.settle(items);
      },
    };

    const decided = await decide({ unknownWaitMs: 60_000, unknownPolicy: 'resend' }, readThenClaimed);

    expect(decided).to.equal(0);
    expect((await stored(message)).state).to.equal('submitting');
  });

  it('nothing is decided before the waiting time of the carrier is over', async () => {
    const message = await put({ outcome: 'unknown' });

    expect(await decide({ unknownWaitMs: 1 })).to.equal(0);
    expect((await stored(message)).state).to.equal('submitting');
  });

  it('assume_sent: is sent, with its event', async () => {
    const message = await put({ outcome: 'unknown', segments: 2 });
    clock.turn(60_000);

    expect(await decide({ unknownWaitMs: 60_000 })).to.equal(1);

    const after = await stored(message);
    expect(after).to.deep.include({ state: 'sent', parts: [{ state: 'unknown' }, { state: 'unknown' }] });
    expect(after).not.to.have.property('outcome');
    expect(events).to.deep.equal([`${message._id} sent`]);
  });

  it('resend: goes back to the queue with a line, without an event', async () => {
    const message = await put({ outcome: 'unknown', parts: [{ state: 'unknown' }] });
    clock.turn(60_000);

    await decide({ unknownWaitMs: 60_000, unknownPolicy: 'resend' });

    const after = await stored(message);
    const lines = await queueOf(store.db).find().toArray();
    expect(lines.map(({ written, next, first, last }) => ({ written, next, first, last }))).to.deep.equal([
      { written: true, next: 0, first: message._id, last: message._id },
    ]);
    expect(after).to.include({ state: 'queued' });
    expect(after).not.to.have.any.keys('outcome', 'parts');
    expect(events).to.deep.equal([]);
  });

  it('resend never sends a message again of which a part was accepted', async () => {
    const message = await put({
      outcome: 'unknown',
      segments: 2,
      parts: [{ key: 'c:1', state: 'accepted' }, { state: 'unknown' }],
    });
    clock.turn(60_000);

    await decide({ unknownWaitMs: 60_000, unknownPolicy: 'resend' });

    expect((await stored(message)).state).to.equal('sent');
  });

  for (const state of ['delivered', 'failed'] as const) {
    it(`assume_sent: the receipt of one segment said ${state} before, and that is how it ended`, async () => {
      const parts: readonly Part[] = [{ key: 'c:1', state }, { state: 'unknown' }];
      const message = await put({ outcome: 'unknown', segments: 2, parts });
      clock.turn(CARRIER_DEFAULTS.unknownWaitMs);
      await decide({});

      const after = await stored(message);
      expect(after.state).to.equal(state);
      expect(after.history.map((entry) => entry.state)).to.deep.equal(['sent', state]);
      expect(after.deliveredAt).to.deep.equal(state === 'delivered' ? clock.now() : undefined);
    });
  }

  it('assume_sent: a segment was refused for good: failed, "partial"', async () => {
    const refused: Part = { state: 'refused', error: '0x0B' };
    const both = [
      await put({ outcome: 'unknown', segments: 2, parts: [refused, { state: 'unknown' }] }),
      await put({ outcome: 'unknown', segments: 2, parts: [refused, { key: 'c:2', state: 'delivered' }] }),
    ];
    clock.turn(CARRIER_DEFAULTS.unknownWaitMs);
    await decide({});

    for (const message of both) expect(await stored(message)).to.include({ state: 'failed', errorCode: 'partial' });
  });
});
