import { expect } from 'chai';
import type { Problem } from '../../../../gateway/http/idempotency/action.ts';
import { notAccepted } from '../../../../gateway/http/idempotency/not-accepted.ts';

describe('the verdict on what was not accepted', () => {
  type Shown = { readonly kind: Problem[0] | 'too_late'; readonly mayStillPay?: true };
  const problemOf = ({ kind }: Shown): Problem => [kind === 'too_late' ? 'store_unavailable' : kind, {}];
  const poor = { kind: 'insufficient_credits', balance: 0, required: 1 } as const;

  it('is a refusal when nothing can pay any more: the key is free', () => {
    for (const outcome of [poor, { kind: 'too_late' }, { kind: 'account_suspended' }] as const) {
      expect(notAccepted(outcome, problemOf).kind, outcome.kind).to.equal('refused');
    }
  });

  it('is unknown while an earlier attempt may still pay, so that the key stays claimed', () => {
    const verdict = notAccepted({ ...poor, mayStillPay: true }, problemOf);

    expect(verdict.kind).to.equal('unknown');
    expect(verdict).to.have.nested.property('problem[0]', 'insufficient_credits');
  });

  it('does not say that nothing was done when it came too late and an earlier attempt may still pay', () => {
    const verdict = notAccepted({ kind: 'too_late', mayStillPay: true }, problemOf);

    expect(verdict.kind).to.equal('unknown');
    expect(verdict).to.have.nested.property('problem[0]', 'outcome_unknown');
  });
});
