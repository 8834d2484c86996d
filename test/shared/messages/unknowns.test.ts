import { expect } from 'chai';
import type { MessageDocument, Part } from '../../../shared/messages/message.ts';
import { Settler } from '../../../shared/messages/settle.ts';
import { decideUnknowns } from '../../../shared/messages/unknowns.ts';
import { newId } from '../../../shared/runtime/ids.ts';
import { makeMessage } from '../../support/make.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { openTestStore, type TestStore } from '../../support/store.ts';

const WAIT_MS = 30_000;

describe('decideUnknowns', () => {
  const clock = new ManualClock();
  let store: TestStore;
  before(async () => {
    store = await openTestStore();
  });
  after(() => store.close());

  async function decided(parts: readonly Part[], unknownPolicy: 'assume_sent' | 'resend'): Promise<MessageDocument> {
    const { db } = store;
    const claim = { id: newId('clm'), carrier: 'c', epoch: 1, at: clock.now() };
    const message = makeMessage({ state: 'submitting', outcome: 'unknown', segments: parts.length, parts, claim });
    await db.collection<MessageDocument>('messages').insertOne(message);
    const announcer = { announce: async () => {} };
    const settler = new Settler({ db, announcer, lease: 'carrier:c', epoch: 1, stream: 'unknowns' });
    clock.turn(WAIT_MS);
    await decideUnknowns({ db, clock, settler, carrier: { _id: 'c', unknownPolicy, unknownWaitMs: WAIT_MS } });
    const stored = await db.collection<MessageDocument>('messages').findOne({ _id: message._id });
    if (stored === null) throw new Error('it is gone');
    return stored;
  }

  const unanswered: Part = { state: 'unknown' };
  const statesOf = ({ history }: MessageDocument): readonly string[] => history.map(({ state }) => state);

  it('assume_sent: nothing is known of it, so it counts as sent', async () => {
    const message = await decided([unanswered], 'assume_sent');

    expect(message).to.deep.include({ state: 'sent', parts: [unanswered] });
    expect(message).not.to.have.property('outcome');
  });

  for (const state of ['delivered', 'failed'] as const) {
    it(`assume_sent: the receipt of one segment said ${state} before: that is how it ended`, async () => {
      const message = await decided([{ key: 'c:1', state }, unanswered], 'assume_sent');

      expect(message.state).to.equal(state);
      expect(statesOf(message)).to.deep.equal(['sent', state]);
      expect(message.deliveredAt).to.deep.equal(state === 'delivered' ? clock.now() : undefined);
    });
  }

  it('assume_sent: a segment was refused for good: failed, "partial"', async () => {
    const refused: Part = { state: 'refused', error: '0x0B' };

    for (const other of [unanswered, { key: 'c:2', state: 'delivered' } as const]) {
      const message = await decided([refused, other], 'assume_sent');
      expect(message).to.include({ state: 'failed', errorCode: 'partial' });
    }
  });

  it('resend: goes back to the queue, unless a part of it was accepted', async () => {
    expect(await decided([unanswered, unanswered], 'resend')).to.include({ state: 'queued' });
    expect(await decided([{ key: 'c:3', state: 'accepted' }, unanswered], 'resend')).to.include({ state: 'sent' });
  });
});
