import type { ReceiptParts } from '../../../../shared/carriers/receipt-profiles.ts';
import { applyChange } from '../../../../shared/messages/document/change.ts';
import { endState } from '../../../../shared/messages/document/copies.ts';
import type { FinalState, MessageDocument, Part } from '../../../../shared/messages/document/message.ts';
import type { PartReceipt } from '../../../../shared/messages/settlement/message-log.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import {
  changeOf,
  decideHeld,
  decideReceipt,
  decideUnknown,
} from '../../../../workers/smpp/receipts/receipt-change.ts';
import { makeMessage } from '../../../support/make.ts';

const SENT = new Date('2026-11-21T10:00:00Z');
const NOW = new Date('2026-11-21T10:01:00Z');
const HOURS = 3_600_000;

function receipt(state: FinalState, more: Partial<PartReceipt> = {}): PartReceipt {
  return { state, operator: 'Carrier', ...more };
}

function sent(parts: readonly Part[], overrides: Partial<MessageDocument> = {}): MessageDocument {
  return makeMessage({
    state: 'sent',
    segments: parts.length,
    parts,
    claim: { id: newId('clm'), carrier: 'c', epoch: 1, at: SENT },
    history: [{ state: 'sent', at: SENT }],
    v: 2,
    ...overrides,
  });
}

function take(message: MessageDocument, index: number, told: PartReceipt, now = NOW): MessageDocument {
  const decision = decideReceipt(message, message.parts?.[index]?.key ?? '', told, now);
  return decision.kind === 'none' ? message : applyChange(message, decision.change);
}

const ONE: readonly Part[] = [{ key: 'c:1', state: 'accepted' }];
const THREE: readonly Part[] = [1, 2, 3].map((n) => ({ key: `c:${n}`, state: 'accepted' as const }));

describe('decideReceipt', () => {
  for (const state of ['delivered', 'failed', 'expired', 'rejected'] as const) {
    it(`a message of one part becomes ${state}`, () => {
      const after = take(sent(ONE), 0, receipt(state));

      expect(after.state).to.equal(state);
      expect(after.history.map((entry) => entry.state)).to.deep.equal(['sent', state]);
      expect(after).not.to.have.property('due');
    });
  }

  it('names the carrier and the time of the delivery', () => {
    const doneAt = new Date('2026-11-21T10:00:30Z');

    expect(take(sent(ONE), 0, receipt('delivered', { doneAt }))).to.deep.include({
      operator: 'Carrier',
      deliveredAt: doneAt,
    });
  });

  const TIMES: readonly (readonly [string, string, Date])[] = [
    ['a minute rounded down', '2026-11-21T09:59:10Z', SENT],
    ['long before it was sent', '2026-11-21T04:30:00Z', NOW],
    ['a little in the future', '2026-11-21T10:03:00Z', NOW],
    ['far in the future', '2026-11-21T15:30:00Z', NOW],
  ];
  for (const [what, doneAt, expected] of TIMES) {
    it(`does not believe a time ${what}`, () => {
      expect(take(sent(ONE), 0, receipt('delivered', { doneAt: new Date(doneAt) })).deliveredAt).to.deep.equal(
        expected,
      );
    });
  }

  it('keeps code and reason of what went wrong', () => {
    expect(take(sent(ONE), 0, receipt('failed', { error: '633', reason: 'DLT' }))).to.include({
      errorCode: '633',
      errorReason: 'DLT',
    });
  });

  it('the same receipt again changes nothing', () => {
    const after = take(sent(ONE), 0, receipt('delivered'));

    expect(decideReceipt(after, 'c:1', receipt('delivered'), NOW)).to.deep.equal({ kind: 'none' });
  });

  const LATER: readonly (readonly [FinalState, FinalState, boolean])[] = [
    ['expired', 'delivered', true],
    ['failed', 'delivered', true],
    ['rejected', 'delivered', false],
    ['delivered', 'failed', false],
    ['delivered', 'expired', false],
    ['failed', 'expired', false],
    ['expired', 'failed', false],
    ['expired', 'rejected', false],
  ];
  for (const [first, second, replaces] of LATER) {
    it(`${second} after ${first} ${replaces ? 'replaces it' : 'changes nothing'}`, () => {
      const before = take(sent(ONE), 0, receipt(first));

      const after = take(before, 0, receipt(second), new Date(NOW.getTime() + 71 * HOURS));

      expect(after.state).to.equal(replaces ? second : first);
    });
  }

  it('delivered comes too late after 72 hours', () => {
    const expired = take(sent(ONE), 0, receipt('expired'));

    expect(take(expired, 0, receipt('delivered'), new Date(NOW.getTime() + 73 * HOURS)).state).to.equal('expired');
  });

  it('a late delivery takes the error back', () => {
    const failed = take(sent(ONE), 0, receipt('failed', { error: '001', reason: 'x' }));

    const delivered = take(failed, 0, receipt('delivered'));

    expect(failed.parts?.[0]).to.include({ state: 'failed', error: '001' });
    expect(delivered).not.to.have.any.keys('errorCode', 'errorReason');
    expect(delivered.parts?.[0]).to.include({ state: 'delivered' }).and.not.have.property('error');
  });

  it('a message of three parts is delivered when the last of them is', () => {
    const one = take(sent(THREE), 1, receipt('delivered'));
    const two = take(one, 0, receipt('delivered'));
    const three = take(two, 2, receipt('delivered'));

    expect([one.state, two.state, three.state]).to.deep.equal(['sent', 'sent', 'delivered']);
    expect(three.history).to.have.length(2);
  });

  it('ends by the worst of its parts', () => {
    const one = take(sent(THREE), 0, receipt('failed', { error: '001' }));
    const two = take(one, 1, receipt('rejected', { error: '052' }));
    const three = take(two, 2, receipt('delivered'));

    expect(three).to.include({ state: 'rejected', errorCode: '052' });
  });

  it('a part that the carrier refused can not be made good by the others', () => {
    const partial = sent([{ key: 'c:1', state: 'accepted' }, { state: 'refused' }], {
      state: 'failed',
      history: [{ state: 'failed', at: SENT }],
    });

    expect(take(partial, 0, receipt('delivered')).state).to.equal('failed');
  });

  it('a part without an id waits for no receipt: some carriers give one for all', () => {
    const parts: readonly Part[] = [{ key: 'c:1', state: 'accepted' }, { state: 'accepted' }];

    expect(take(sent(parts), 0, receipt('delivered')).state).to.equal('delivered');
  });
});

describe('decideHeld', () => {
  const UNTIL = new Date('2026-11-21T11:01:00Z');
  const LATER = new Date('2026-11-21T11:06:00Z');
  const hold = (message: MessageDocument, key: string, until = UNTIL, rule?: ReceiptParts): MessageDocument => {
    const decision = decideHeld(message, key, receipt('failed', { error: 'NULL' }), until, rule);
    return decision.kind === 'none' ? message : applyChange(message, decision.change);
  };

  it('is about the segment with its id', () => {
    const after = hold(sent(THREE), 'c:2');

    expect(after).to.deep.include({ state: 'sent', due: UNTIL });
    expect(after.held).to.deep.equal({ until: UNTIL, keys: ['c:2'], error: 'NULL' });
  });

  it('that of another segment waits together with the first, the same again changes nothing', () => {
    const one = hold(sent(THREE), 'c:2');
    const two = hold(one, 'c:1', LATER);

    expect(two.held).to.deep.equal({ until: LATER, keys: ['c:2', 'c:1'], error: 'NULL' });
    expect(decideHeld(two, 'c:2', receipt('failed'), LATER)).to.deep.equal({ kind: 'none' });
  });

  it('is about all segments where one receipt is', () => {
    expect(hold(sent(THREE), 'c:1', UNTIL, 'first').held?.keys).to.deep.equal(['c:1', 'c:2', 'c:3']);
  });

  it('says less than a receipt that came before for the segment', () => {
    const told = take(sent(THREE), 0, receipt('delivered'));

    expect(decideHeld(told, 'c:1', receipt('failed'), UNTIL)).to.deep.equal({ kind: 'none' });
  });
});

describe('decideUnknown', () => {
  const unknown = (segments: number, parts?: readonly Part[]): MessageDocument =>
    makeMessage({
      state: 'submitting',
      outcome: 'unknown',
      segments,
      claim: { id: newId('clm'), carrier: 'c', epoch: 1, at: SENT },
      ...(parts === undefined ? {} : { parts }),
    });

  it('a receipt proves that the message was sent: both are told, in this order', () => {
    const message = unknown(1);

    const decision = decideUnknown(message, 'c:9', receipt('delivered'), NOW);
    const after = decision.kind === 'change' ? applyChange(message, decision.change) : message;

    expect(after.state).to.equal('delivered');
    expect(after.parts).to.deep.equal([{ key: 'c:9', state: 'delivered' }]);
    expect(after.history.map(({ state }) => state)).to.deep.equal(['sent', 'delivered']);
    expect(after.history[1]?.at).to.be.greaterThan(after.history[0]?.at ?? NOW);
    expect(after).not.to.have.property('outcome');
  });

  it('a long message stays unknown until every part has its id', () => {
    const message = unknown(2, [{ key: 'c:1', state: 'accepted' }, { state: 'unknown' }]);

    const decision = decideUnknown(message, 'c:2', receipt('delivered'), NOW);
    const after = decision.kind === 'change' ? applyChange(message, decision.change) : message;
    const ended = take(after, 0, receipt('delivered'));

    expect(after.state).to.equal('sent');
    expect(ended.state).to.equal('delivered');
  });

  it('of two parts without an id the first gets it, and the message goes on being unknown', () => {
    const message = unknown(2);

    const decision = decideUnknown(message, 'c:1', receipt('delivered'), NOW);
    const after = decision.kind === 'change' ? applyChange(message, decision.change) : message;

    expect(after).to.include({ state: 'submitting', outcome: 'unknown' });
    expect(after.parts).to.deep.equal([{ key: 'c:1', state: 'delivered' }, { state: 'unknown' }]);
  });

  it('of a message that left as one submit_sm, whatever its segments, one receipt is all, for its earlier copies too', () => {
    const copy = {
      id: newId('clm'),
      carrier: 'c',
      epoch: 1,
      at: SENT,
      parts: [1, 2].map(() => ({ state: 'unknown' as const })),
    };
    const resent = sent([], { segments: 2, state: 'queued', history: [], earlier: [copy] });

    for (const message of [unknown(2), resent]) {
      const decision = decideUnknown(message, 'c:9', receipt('delivered'), NOW, undefined, 1);
      const after = decision.kind === 'change' ? applyChange(message, decision.change) : message;

      expect(after.state).to.equal('delivered');
    }
  });

  it('a receipt that sends it to the next carrier tells first that it was sent', () => {
    const message = { ...unknown(1), routed: { route: 'all', receiptFailoverSeconds: 60 } };
    const told = receipt('failed', { error: '069', reason: 'Not delivered' });
    const incoming = { candidates: [{ form: 'text', key: 'c:9' }], from: message.to, to: message.sender, excerpt: '' };
    const { change, result } = changeOf(
      message,
      { receipt: { ...incoming, part: told }, hit: { message, key: 'c:9', byAddress: true } },
      {
        ...{ carrier: 'c', parts: 'perPart', holdMinutes: 0, submitsOf: () => 1, reasonOf: () => undefined },
        failover: { errors: ['69'], next: () => '@3:other' },
      },
      NOW,
    );
    const after = change === undefined ? message : applyChange(message, change);

    expect(result).to.equal('failover');
    expect(after).to.include({ state: 'queued', path: '@3:other' }).and.not.to.have.property('outcome');
    expect(after.history.map(({ state }) => state)).to.deep.equal(['sent']);
    expect(after.givenUp?.parts).to.deep.equal([{ key: 'c:9', state: 'failed', error: '069' }]);
  });

  it('leaves a message alone that is not unknown', () => {
    expect(decideUnknown(sent(ONE), 'c:9', receipt('delivered'), NOW)).to.deep.equal({ kind: 'none' });
  });
});

describe('end state of a message', () => {
  it('is open while a part is', () => {
    expect(endState([], THREE)).to.equal(undefined);
    expect(endState([], [])).to.equal(undefined);
  });
});
