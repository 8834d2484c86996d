import { expect } from 'chai';
import { refusal } from '../../../gateway/http/payment-refusal.ts';
import { newId } from '../../../shared/platform/runtime/ids.ts';

describe('refusal', () => {
  const id = newId('msg');

  it('tells what a request needs and what there is', () => {
    const [slug, more] = refusal({ kind: 'insufficient_credits', balance: 40, required: 120 }, id);

    expect(slug).to.equal('insufficient_credits');
    expect(more.detail).to.equal(
      'This request needs 120 credits, but the balance is 40. Buy credits, then send the request again.',
    );
  });

  it('names the message of an unknown outcome, so that its status can be asked', () => {
    const [slug, more] = refusal({ kind: 'outcome_unknown' }, id);

    expect(slug).to.equal('outcome_unknown');
    expect(more.extra).to.deep.equal({ message_id: id });
    expect(more.headers?.[0]).to.equal('Retry-After');
  });
});
