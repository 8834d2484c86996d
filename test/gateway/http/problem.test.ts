import { refusal } from '../../../gateway/http/payment-refusal.ts';
import { PROBLEMS, problemBody } from '../../../gateway/http/problem.ts';
import { newId } from '../../../shared/platform/runtime/ids.ts';

describe('the catalogue of problems', () => {
  const rules = Object.entries(PROBLEMS);

  it('gives every problem a number of its own', () => {
    expect(new Set(rules.map(([, rule]) => rule.number)).size).to.equal(rules.length);
  });

  for (const [slug, rule] of rules) {
    it(`${slug}: number and HTTP status say the same about whose fault it is`, () => {
      expect(rule.number).to.match(/^[45]\d{3}$/);
      expect(rule.number.charAt(0)).to.equal(String(rule.status).charAt(0));
      expect(slug).to.match(/^[a-z_]+$/);
      expect(rule.title).not.to.equal('');
      expect(rule.advice).to.match(/\.$/);
    });
  }

  it('makes a body with every member, `errors` always a list', () => {
    expect(problemBody('not_found', 'req_1')).to.deep.equal({
      type: '/errors/not_found',
      title: 'Not found',
      status: 404,
      detail: PROBLEMS.not_found.advice,
      code: 'not_found',
      status_code: '4040',
      errors: [],
      request_id: 'req_1',
      retryable: false,
    });
  });
});

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
