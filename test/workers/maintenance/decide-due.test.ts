import { expect } from 'chai';
import { queuedMessage } from '../../../shared/messages/draft.ts';
import type { MessageDocument } from '../../../shared/messages/message.ts';
import { newId } from '../../../shared/runtime/ids.ts';
import { decideDue, RECEIPT_WAIT_MS } from '../../../workers/maintenance/decide-due.ts';
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

  for (const state of ['delivered', 'failed', 'expired', 'rejected'] as const) {
    it(`never touches the state of a ${state} message`, () => {
      expect(decideDue(message(state, now), now)).to.deep.equal({ unset: ['due'] });
    });
  }
});
