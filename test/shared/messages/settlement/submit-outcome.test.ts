import { applyChange } from '../../../../shared/messages/document/change.ts';
import type { MessageDocument } from '../../../../shared/messages/document/message.ts';
import {
  decideOutcome,
  MAX_TRIES,
  type SubmitOutcome,
  THROTTLES_PER_TRY,
} from '../../../../shared/messages/settlement/decide-outcome.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { makeMessage } from '../../../support/make.ts';

const NOW = new Date('2026-11-21T10:00:00Z');
const CLAIM = { id: newId('clm'), carrier: 'c', epoch: 3, at: NOW };
const ACCEPTED = { state: 'accepted', key: 'c:1' } as const;
const REFUSAL = { code: '0x14', reason: 'Message queue full at the carrier' };

function claimed(overrides: Partial<MessageDocument> = {}): MessageDocument {
  return makeMessage({ state: 'submitting', claim: CLAIM, v: 1, ...overrides });
}

function decide(message: MessageDocument, outcome: SubmitOutcome): MessageDocument {
  const change = decideOutcome(message, CLAIM, outcome, NOW, 0.5);
  return change === undefined ? message : applyChange(message, change);
}

describe('decideOutcome', () => {
  it('all accepted: sent, with the keys its receipts will name', () => {
    const after = decide(claimed(), { kind: 'sent', parts: [ACCEPTED] });

    expect(after).to.deep.include({ state: 'sent', parts: [ACCEPTED], history: [{ state: 'sent', at: NOW }] });
    expect(after.due).to.deep.equal(after.validUntil);
  });

  it('refused: rejected, with code and reason, and nothing due', () => {
    const after = decide(claimed(), {
      kind: 'rejected',
      parts: [{ state: 'refused', error: '0x0B' }],
      code: '0x0B',
      reason: 'Invalid destination address',
    });

    expect(after).to.deep.include({ state: 'rejected', errorCode: '0x0B', errorReason: 'Invalid destination address' });
    expect(after).not.to.have.property('due');
  });

  it('some accepted, others refused for good: failed, "partial", without a sent before', () => {
    const parts = [ACCEPTED, { state: 'refused', error: '0x0B' } as const];

    const after = decide(claimed({ segments: 2 }), { kind: 'partial', parts, code: '0x0B', reason: 'x' });

    expect(after).to.deep.include({ state: 'failed', errorCode: 'partial', parts });
    expect(after.history.map(({ state }) => state)).to.deep.equal(['failed']);
  });

  describe('refused here, and another carrier may take it', () => {
    const FAILOVER = { kind: 'failover', path: '@30:d', code: '0x0B', reason: 'Invalid destination address' } as const;
    const ATTEMPT = { carrier: 'c', at: NOW, code: FAILOVER.code, reason: FAILOVER.reason };

    it('goes back to the queue for the others, with the attempt, and tells nobody', () => {
      const after = decide(claimed({ path: '@30:c>d', tries: 2 }), FAILOVER);

      expect(after).to.deep.include({ state: 'queued', path: '@30:d', attempts: [ATTEMPT], tries: 0, history: [] });
      expect(after).not.to.have.property('errorCode');
    });

    it('goes on with an earlier copy in doubt, which is kept', () => {
      const earlier = [{ ...CLAIM, id: newId('clm'), parts: [{ state: 'unknown' as const }] }];
      const after = decide(claimed({ path: '@30:c>d', earlier }), FAILOVER);

      expect(after).to.deep.include({ state: 'queued', path: '@30:d', attempts: [ATTEMPT], earlier });
      expect(after).not.to.have.property('errorCode');
    });

    it('also when the tries at this carrier are over; the next one has all of them', () => {
      const last = claimed({ path: '@30:c>d', tries: MAX_TRIES - 1 });

      const after = decide(last, { kind: 'retry', ...REFUSAL, path: '@30:d' });

      expect(after).to.deep.include({ state: 'queued', path: '@30:d', tries: 0 });
      expect(after.attempts?.[0]).to.include({ carrier: 'c', code: REFUSAL.code });
      expect(decide(last, { kind: 'retry', ...REFUSAL })).to.include({ state: 'rejected' });
    });

    it('also when its waits would be longer together than the route lets it wait for one carrier', () => {
      const refused = (tries: number, path: string) =>
        decide(claimed({ path: '@30:c>d', tries }), { kind: 'retry', ...REFUSAL, path });

      expect(refused(1, '@30:d'), '5 and 15 seconds').to.include({ state: 'waiting', tries: 2 });
      expect(refused(2, '@30:d'), '5, 15 and 45').to.deep.include({ state: 'queued', path: '@30:d', tries: 0 });
      expect(refused(0, '@3:d'), '5').to.deep.include({ state: 'queued', path: '@3:d', tries: 0 });
    });

    it("a carrier's own pause is the first wait", () => {
      const after = decide(claimed(), { kind: 'retry', ...REFUSAL, pauseMs: 60_000 });

      expect((after.due?.getTime() ?? 0) - NOW.getTime()).to.equal(60_000);
    });
  });

  it('refused for now: waits longer each time, and is rejected after a few tries', () => {
    let message = claimed();
    const waits: number[] = [];
    for (let tries = 1; tries < MAX_TRIES; tries++) {
      const after = decide(message, { kind: 'retry', ...REFUSAL });
      expect(after).to.include({ state: 'waiting', tries });
      waits.push((after.due?.getTime() ?? 0) - NOW.getTime());
      message = { ...after, state: 'submitting' };
    }

    const last = decide(message, { kind: 'retry', ...REFUSAL });

    expect(waits).to.deep.equal([5_000, 15_000, 45_000, 135_000]);
    expect(last).to.deep.include({ state: 'rejected', tries: MAX_TRIES, errorCode: '0x14' });
  });

  it('never waits beyond its validity', () => {
    const validUntil = new Date(NOW.getTime() + 1_000);

    expect(decide(claimed({ validUntil }), { kind: 'retry', ...REFUSAL }).due).to.deep.equal(validUntil);
  });

  it('throttled: goes back to its place and no try is counted, until there were many', () => {
    let message = claimed();
    for (let i = 1; i < THROTTLES_PER_TRY; i++) {
      const after = decide(message, { kind: 'throttled', ...REFUSAL });
      expect(after).to.include({ state: 'queued', tries: 0, throttles: i });
      message = { ...after, state: 'submitting' };
    }

    expect(decide(message, { kind: 'throttled', ...REFUSAL })).to.include({ state: 'waiting', tries: 1 });
  });

  it('never written: goes back to the queue as it was', () => {
    expect(decide(claimed(), { kind: 'requeue' })).to.include({ state: 'queued', tries: 0 });
  });

  it('no answer: unknown, stays where it is, keeps what is known of its parts', () => {
    const parts = [ACCEPTED, { state: 'unknown' } as const];

    const after = decide(claimed({ segments: 2 }), { kind: 'unknown', parts });

    expect(after).to.deep.include({ state: 'submitting', outcome: 'unknown', parts, history: [] });
  });

  it('a late answer settles an unknown as an answer in time would have', () => {
    const unknown = claimed({ outcome: 'unknown', parts: [{ state: 'unknown' }] });

    const after = decide(unknown, { kind: 'sent', parts: [ACCEPTED] });

    expect(after).to.deep.include({ state: 'sent', parts: [ACCEPTED] });
    expect(after).not.to.have.property('outcome');
  });

  it('a late refusal settles an unknown too', () => {
    const unknown = claimed({ outcome: 'unknown', parts: [{ state: 'unknown' }] });

    expect(decide(unknown, { kind: 'throttled', ...REFUSAL })).not.to.have.property('outcome');
    expect(decide(unknown, { kind: 'requeue' })).to.include({ state: 'queued' });
  });

  it('an answer that comes after policy said "sent" still brings the keys', () => {
    const assumed = claimed({ state: 'sent', parts: [{ state: 'unknown' }], history: [{ state: 'sent', at: NOW }] });

    const after = decide(assumed, { kind: 'sent', parts: [ACCEPTED] });

    expect(after).to.deep.include({ state: 'sent', parts: [ACCEPTED] });
    expect(after.history).to.have.length(1);
  });

  it('a late answer to one that the policy put back into the queue keeps it from going out again', () => {
    const again = claimed({ state: 'queued' });

    expect(decide(again, { kind: 'sent', parts: [ACCEPTED] })).to.deep.include({
      ...{ state: 'sent', parts: [ACCEPTED] },
      due: again.validUntil,
    });
    expect(decide(again, { kind: 'rejected', parts: [], ...REFUSAL })).to.equal(again);
  });

  it('an answer never takes back what a receipt said', () => {
    const delivered = { state: 'delivered', key: 'c:1' } as const;
    const known = claimed({ segments: 2, outcome: 'unknown', parts: [delivered, { state: 'unknown' }] });

    const after = decide(known, { kind: 'sent', parts: [ACCEPTED, { state: 'accepted', key: 'c:2' }] });

    expect(after).to.deep.include({ state: 'sent', parts: [delivered, { state: 'accepted', key: 'c:2' }] });
  });

  it('a receipt that was first given to the wrong segment moves to its own when the answers tell the ids', () => {
    const delivered = { state: 'delivered', key: 'c:2' } as const;
    const unknown = { state: 'unknown' } as const;
    const guessed = claimed({ segments: 2, outcome: 'unknown', parts: [delivered, unknown] });

    const half = decide(guessed, { kind: 'unknown', parts: [unknown, { state: 'accepted', key: 'c:2' }] });
    expect(half.parts).to.deep.equal([unknown, delivered]);
    for (const message of [guessed, half]) {
      const after = decide(message, { kind: 'sent', parts: [ACCEPTED, { state: 'accepted', key: 'c:2' }] });
      expect(after).to.deep.include({ state: 'sent', parts: [ACCEPTED, delivered] });
    }
  });

  it('segments that all have one id keep it, whichever of them was answered last', () => {
    const same = claimed({ segments: 2, outcome: 'unknown', parts: [ACCEPTED, ACCEPTED] });

    expect(decide(same, { kind: 'unknown', parts: [ACCEPTED, { state: 'unknown' }] }).parts).to.deep.equal(same.parts);
  });

  it('an answer never takes back a failure that was told before it came', () => {
    const refused = { state: 'refused', key: 'c:1', error: 'x' } as const;
    const failed = claimed({ state: 'failed', parts: [refused], history: [{ state: 'failed', at: NOW }] });

    expect(decide(failed, { kind: 'sent', parts: [ACCEPTED] })).to.deep.include({ state: 'failed', parts: [refused] });
  });

  it('changes nothing of a message that somebody else claimed since', () => {
    const other = claimed({ claim: { ...CLAIM, id: newId('clm') } });
    const newer = claimed({ claim: { ...CLAIM, epoch: 4 } });

    for (const message of [other, newer]) {
      expect(decideOutcome(message, CLAIM, { kind: 'sent', parts: [ACCEPTED] }, NOW, 0)).to.equal(undefined);
    }
  });

  for (const state of ['delivered', 'failed', 'expired', 'rejected', 'queued', 'waiting'] as const) {
    it(`changes no state of a message that is ${state}`, () => {
      const outcomes: SubmitOutcome[] = [
        ...(state === 'queued' ? [] : [{ kind: 'sent', parts: [ACCEPTED] } as const]),
        { kind: 'retry', ...REFUSAL },
        { kind: 'throttled', ...REFUSAL },
        { kind: 'requeue' },
        { kind: 'unknown', parts: [{ state: 'unknown' }] },
      ];
      for (const outcome of outcomes) expect(decide(claimed({ state }), outcome).state).to.equal(state);
    });
  }
});
