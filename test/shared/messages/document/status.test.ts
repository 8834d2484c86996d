import { expect } from 'chai';
import { applyChange, changeUpdate } from '../../../../shared/messages/document/change.ts';
import type { MessageState } from '../../../../shared/messages/document/message.ts';
import { enter, isBeforeSent, isNext, mayBecome, STATES } from '../../../../shared/messages/document/status.ts';
import { makeMessage } from '../../../support/make.ts';

const NAMES = Object.keys(STATES) as MessageState[]; // the table's own keys
const AT = new Date('2026-11-21T10:00:00Z');
const HOUR_MS = 3_600_000;

describe('messages/status', () => {
  it('every state but that of a customer’s message is reached from another', () => {
    const reached = NAMES.filter((state) => NAMES.some((from) => from !== state && isNext(from, state)));

    expect(NAMES.filter((state) => !reached.includes(state))).to.deep.equal(['received']);
  });

  it('only a queued message is claimed, and only what did not end goes back into the queue', () => {
    expect(NAMES.filter((from) => isNext(from, 'submitting'))).to.deep.equal(['queued']);
    expect(NAMES.filter((from) => isNext(from, 'queued'))).to.deep.equal(['submitting', 'waiting', 'sent']);
    expect(NAMES.filter(isBeforeSent)).to.deep.equal(['queued', 'submitting', 'waiting']);
  });

  it('an end stays, except that what failed or expired may have arrived, and what arrived may be read', () => {
    const exits = NAMES.filter((state) => STATES[state].final).map((state) => [state, STATES[state].next]);

    expect(Object.fromEntries(exits)).to.deep.equal({
      delivered: ['read'],
      failed: ['delivered', 'read'],
      expired: ['delivered', 'read'],
      rejected: [],
      read: [],
      received: [],
    });
  });

  it('a late receipt makes a failed message delivered for 72 hours', () => {
    const history = [{ state: 'failed', at: AT }] as const;

    expect(mayBecome('failed', 'delivered', history, new Date(AT.getTime() + 72 * HOUR_MS))).to.equal(true);
    expect(mayBecome('failed', 'delivered', history, new Date(AT.getTime() + 72 * HOUR_MS + 1))).to.equal(false);
    expect(mayBecome('delivered', 'failed', history, AT)).to.equal(false);
  });

  it('a change to a state that the table does not allow is refused, in memory and as an update', () => {
    const message = makeMessage({ state: 'delivered' });

    expect(() => enter('received', 'sent')).to.throw('a message cannot go from received to sent');
    expect(() => applyChange(message, { state: 'failed' })).to.throw('from delivered to failed');
    expect(() => changeUpdate(message, { state: 'queued' })).to.throw('from delivered to queued');
    expect(applyChange(message, { state: 'delivered' }).state).to.equal('delivered');
  });
});
