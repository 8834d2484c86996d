import { type MessageDocument, type PartState, queuedMessage } from '../../../shared/messages/document/message.ts';
import { newId } from '../../../shared/platform/runtime/ids.ts';
import { decideDue, RECEIPT_WAIT_MS } from '../../../workers/maintenance/settle-due.ts';
import { makeDraft } from '../../support/make.ts';

describe('maintenance: what becomes of a message whose due time has come', () => {
  const now = new Date('2026-11-21T10:00:00Z');
  const later = (ms: number): Date => new Date(now.getTime() + ms);
  const message = (state: MessageDocument['state'], validUntil: Date): MessageDocument => ({
    ...queuedMessage(newId('acc'), newId('grp'), makeDraft({ validUntil })),
    state,
    due: now,
  });

  for (const state of ['waiting', 'queued'] as const) {
    it(`expires a ${state} message whose validity is over, as an event`, () => {
      const change = decideDue(message(state, now), now);

      expect(change).to.deep.include({ state: 'expired', entries: [{ state: 'expired', at: now }], unset: ['due'] });
    });
  }

  it('says of an expired message that it may have been delivered and is not refunded, when a copy was never answered', () => {
    const claim = { id: newId('clm'), carrier: 'c', epoch: 1, at: now };
    const resent = { ...message('queued', now), earlier: [{ ...claim, parts: [{ state: 'unknown' as const }] }] };

    const { set } = decideDue(resent, now);

    expect(set).to.include({ errorCode: 'unconfirmed' });
    expect(set?.errorReason).to.match(/not refunded/);
  });

  it('puts a waiting message back into its queue, to be looked at again when its validity ends', () => {
    expect(decideDue(message('waiting', later(60_000)), now)).to.deep.equal({
      state: 'queued',
      set: { due: later(60_000) },
    });
  });

  it('leaves a submit in flight to the worker of its carrier', () => {
    expect(decideDue(message('submitting', now), now).state).to.equal(undefined);
  });

  it('waits 72 hours beyond the validity for a receipt, then closes the message as sent', () => {
    const sent = message('sent', now);

    expect(decideDue(sent, now)).to.deep.equal({ set: { due: later(RECEIPT_WAIT_MS) } });
    expect(decideDue(sent, later(RECEIPT_WAIT_MS))).to.deep.equal({
      set: { closedReason: 'no_receipt' },
      unset: ['due'],
    });
  });

  it('a message whose receipt does not tell its end fails when no better one came in time', () => {
    const held = { until: later(1_000), error: 'NULL', reason: 'Not delivered' };
    const sent = { ...message('sent', now), held };

    expect(decideDue(sent, now)).to.deep.equal({ set: { due: held.until } });
    expect(decideDue(sent, held.until)).to.deep.equal({
      state: 'failed',
      set: { errorCode: 'NULL', errorReason: 'Not delivered' },
      unset: ['due', 'held'],
      entries: [{ state: 'failed', at: held.until }],
    });
    expect(decideDue({ ...sent, state: 'delivered' }, held.until)).to.deep.equal({ unset: ['due'] });
  });

  describe('a message of several segments, of which one has such a receipt', () => {
    const held = { until: now, keys: ['c:1'], error: '77', isStateNumber: true as const };
    const sent = (first: PartState, second: PartState): MessageDocument => ({
      ...message('sent', later(60_000)),
      held,
      parts: [
        { key: 'c:1', state: first },
        { key: 'c:2', state: second },
      ],
    });

    it('fails when the other segments have ended', () => {
      const change = decideDue(sent('accepted', 'delivered'), now);

      expect(change).to.deep.include({ state: 'failed', entries: [{ state: 'failed', at: now }] });
      expect(change.set).to.include({ errorCode: '77' });
    });

    it('waits for the others otherwise, and will fail with the last of them', () => {
      const { state, set, unset } = decideDue(sent('accepted', 'accepted'), now);

      expect(state).to.equal(undefined);
      expect(unset).to.deep.equal(['held']);
      expect(set?.due).to.deep.equal(later(60_000 + RECEIPT_WAIT_MS));
      expect(set?.parts).to.deep.equal([
        { key: 'c:1', state: 'failed', error: '77', isStateNumber: true },
        { key: 'c:2', state: 'accepted' },
      ]);
    });

    it('waits for the others, and not for that one, when a better receipt came for it', () => {
      const { state, set, unset } = decideDue(sent('delivered', 'accepted'), now);

      expect(state).to.equal(undefined);
      expect(unset).to.deep.equal(['held']);
      expect(set?.parts?.map((part) => part.state)).to.deep.equal(['delivered', 'accepted']);
    });

    it('has the error of the segment by which it ends', () => {
      const rejected = sent('accepted', 'rejected');
      const parts = rejected.parts?.map((part) => (part.key === 'c:2' ? { ...part, error: '052' } : part)) ?? [];

      const { state, set } = decideDue({ ...rejected, parts }, now);

      expect(state).to.equal('rejected');
      expect(set).to.include({ errorCode: '052' });
    });

    it('waits for another copy that may still arrive', () => {
      const claim = { id: newId('clm'), carrier: 'c', epoch: 1, at: now };
      const earlier = [{ ...claim, parts: [{ key: 'c:1', state: 'accepted' as const }] }];
      const resent: MessageDocument = {
        ...sent('accepted', 'accepted'),
        earlier,
        parts: [{ key: 'c:2', state: 'accepted' }],
      };

      const { state, set } = decideDue(resent, now);

      expect(state).to.equal(undefined);
      expect(set?.earlier?.[0]?.parts).to.deep.equal([
        { key: 'c:1', state: 'failed', error: '77', isStateNumber: true },
      ]);
    });
  });

  for (const state of ['delivered', 'failed', 'expired', 'rejected'] as const) {
    it(`never touches the state of a ${state} message`, () => {
      expect(decideDue(message(state, now), now)).to.deep.equal({ unset: ['due'] });
    });
  }
});
