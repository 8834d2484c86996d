import { hash } from 'node:crypto';
import { notAccepted, type Problem, refusedLate } from '../../../../gateway/http/idempotency/action.ts';
import { fingerprintInSlices, parseIdempotencyKey } from '../../../../gateway/http/idempotency/once.ts';

describe('Idempotency-Key', () => {
  for (const [header, key] of [
    ['8e03978e-40d5-43e8-bc93-6894a57f9324', '8e03978e-40d5-43e8-bc93-6894a57f9324'],
    ['"8e03978e-40d5-43e8-bc93-6894a57f9324"', '8e03978e-40d5-43e8-bc93-6894a57f9324'],
    ['a', 'a'],
    ['~!@#$%^&*(){}', '~!@#$%^&*(){}'],
    ['a"b\\c', 'a"b\\c'],
    ['"a\\"b\\\\c"', 'a"b\\c'],
    ['x'.repeat(255), 'x'.repeat(255)],
    [`"${'x'.repeat(255)}"`, 'x'.repeat(255)],
  ] as const) {
    it(`is read: ${header.slice(0, 30)}`, () => {
      expect(parseIdempotencyKey(header)).to.equal(key);
    });
  }

  for (const header of [
    '',
    '""',
    '"',
    '"a',
    '"a"b"',
    '"a";p=1',
    '"a", "b"',
    'a, b',
    'a b',
    'a\tb',
    '"a b"',
    '"a\\x"',
    '"a\\"',
    'é',
    '"é"',
    'x'.repeat(256),
    `"${'x'.repeat(256)}"`,
  ]) {
    it(`is refused: ${JSON.stringify(header.slice(0, 30))}`, () => {
      expect(parseIdempotencyKey(header)).to.equal(undefined);
    });
  }
});

const of = (json: string): Promise<string> => fingerprintInSlices('POST', '/v2/send', JSON.parse(json));

describe('fingerprint of a request', () => {
  for (const [what, a, b] of [
    ['the order of members', '{"a":1,"b":{"c":2,"d":3}}', '{"b":{"d":3,"c":2},"a":1}'],
    ['blanks', '{"a":[1,2]}', '{ "a" : [ 1 , 2 ] }'],
    ['how a character is escaped', '{"a":"é"}', '{"a":"\\u00e9"}'],
    ['how a number is written', '{"a":1.0}', '{"a":1}'],
  ] as const) {
    it(`does not depend on ${what}`, async () => {
      expect(await of(a)).to.equal(await of(b));
    });
  }

  for (const [what, a, b] of [
    ['a value', '{"a":1}', '{"a":2}'],
    ['a type', '{"a":1}', '{"a":"1"}'],
    ['the order of a list', '{"a":[1,2]}', '{"a":[2,1]}'],
    ['a member', '{"a":1}', '{"a":1,"b":null}'],
    ['a name', '{"a":1}', '{"A":1}'],
    ['where a text ends', '{"a":"x","b":"y"}', '{"a":"x\\",\\"b\\":\\"y"}'],
    ['nothing and an empty list', '{"a":{}}', '{"a":[]}'],
    ['a list in a list', '{"a":[[1],2]}', '{"a":[1,[2]]}'],
  ] as const) {
    it(`depends on ${what}`, async () => {
      expect(await of(a)).not.to.equal(await of(b));
    });
  }

  it('depends on method and path', async () => {
    const all = await Promise.all(
      [
        ['POST', '/v2/send'],
        ['PUT', '/v2/send'],
        ['POST', '/v2/schedule'],
      ].map(([method = '', path = '']) => fingerprintInSlices(method, path, {})),
    );

    expect(new Set(all).size).to.equal(3);
  });

  it('stands the deepest JSON', async () => {
    expect(await of(`{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}`)).to.be.a('string');
    expect(await of(`${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`)).to.be.a('string');
  });

  it('is the same when a long list is taken in slices', async () => {
    const to = Array.from({ length: 1_200 }, (_, i) => ({ params: [`${i}`, 'x'], to: `9190000${i}` }));
    // Ordered members, so that JSON.stringify writes the hashed text.
    const sorted = { a: [1, 2], recipients: to, sender: 'HARKRA', to: to.slice(0, 501) };
    const { sender, ...others } = sorted;
    const whole = hash('sha256', `POST\n/v2/send-bulk\n${JSON.stringify(sorted)}`, 'base64url');

    expect(await fingerprintInSlices('POST', '/v2/send-bulk', { sender, ...others })).to.equal(whole);
  });
});

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
