import { expect } from 'chai';
import { refusedLate } from '../../../../gateway/http/idempotency/refused-late.ts';

const payBy = new Date('2026-11-21T10:00:15Z');

function at(time: Date) {
  return { now: () => time, monotonicMs: () => 0 };
}

describe('an attempt of an action that no account pays for', () => {
  it('goes on while there is time, and without an Idempotency-Key always', () => {
    expect(refusedLate(at(new Date(payBy.getTime() - 1)), payBy)).to.equal(undefined);
    expect(refusedLate(at(payBy), undefined)).to.equal(undefined);
  });

  it('is refused from its time on, to be sent again', () => {
    const problem = ['store_unavailable', { headers: ['Retry-After', '2'] }];

    expect(refusedLate(at(payBy), payBy)).to.deep.equal({ kind: 'refused', problem });
  });
});
