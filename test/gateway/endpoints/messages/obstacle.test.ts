import { type Facts, refusedBy, waitsFor } from '../../../../gateway/endpoints/messages/obstacle.ts';

/** Worded for the customer or the operator, who can do different things. */
describe('what stands in the way of a message', () => {
  const since = new Date('2026-11-22T02:10:00Z');
  const AT = '2026-11-22T02:10:00+00:00';
  const bound = { carrier: { _id: 'Airtel', name: 'Airtel' }, condition: 'bound', words: 'bound', binds: [] } as const;
  const down = {
    ...bound,
    condition: 'unreachable',
    words: 'unreachable: connection refused',
    binds: [{ trouble: { since } }],
  } as const;
  const refusing = {
    _id: 'carrier.refusing:Airtel',
    words: 'Airtel refuses all messages: submit failed (0x45).',
    since,
  };
  const facts: Facts = {
    message: { state: 'queued', lane: 1, path: 'transactional' } as Facts['message'],
    refusal: undefined,
    account: { status: 'active' },
    isTemplatePaused: false,
    hours: undefined,
    daytime: undefined,
    carriers: [bound],
    conditions: [],
  };
  const unclaimed = { ...facts.message, state: 'waiting', due: since } as Facts['message'];
  const waiting = { ...unclaimed, claim: { carrier: 'Airtel' } } as Facts['message'];
  const daytime = { opening: since, words: '09:00 to 21:00' };
  const untilLater = { ...facts.message, validUntil: new Date(since.getTime() + 1) } as Facts['message'];
  const refusal = { carrier: 'Airtel', code: '0x45', reason: 'submit failed' };

  const WAITS: readonly [what: string, facts: Partial<Facts>, customer: RegExp, operator: RegExp, times: object][] = [
    [
      'a suspended account',
      { account: { status: 'suspended', held: true } },
      /account is suspended.*Ask your/,
      /Resume the account/,
      {},
    ],
    ['a paused account', { account: { status: 'active', held: true } }, /account is paused/, /Resume the account/, {}],
    ['a paused template', { isTemplatePaused: true }, /template .* is paused.*Ask your/, /Resume the template/, {}],
    ['promotional hours', { hours: since }, /hours in which promotional.*It leaves by itself/, /hours/, { until: AT }],
    [
      'a daytime',
      { daytime, message: untilLater },
      /recipient's daytime: from 09:00 to 21:00.*It leaves by itself/,
      /daytime/,
      { until: AT },
    ],
    [
      'a daytime that begins too late',
      { daytime, message: { ...untilLater, validUntil: since } },
      /daytime.*expires then, and is refunded/,
      /daytime/,
      {},
    ],
    ['a daytime that was set earlier', { message: unclaimed, refusal }, /as it was set when/, /daytime/, { until: AT }],
    ['no carrier', { carriers: [] }, /No carrier.*Tell your/, /Give a carrier the path transactional/, {}],
    [
      'a carrier that is down',
      { carriers: [down] },
      /waits for the carrier, which cannot be reached/,
      /Airtel is unreachable.*binds/,
      { since: AT },
    ],
    [
      'a paused carrier',
      { carriers: [{ ...bound, condition: 'paused', words: 'paused' }] },
      /paused by your service provider/,
      /Airtel is paused.*Resume the carrier/,
      {},
    ],
    [
      'a carrier that refuses all',
      { conditions: [refusing], message: waiting, refusal },
      /The carrier refuses messages at present, with the code 0x45.*It is tried again by itself/,
      /Airtel refuses all messages: submit failed \(0x45\)/,
      { since: AT },
    ],
    [
      'the next try',
      { message: waiting, refusal },
      /The carrier did not take it.*submit failed \(0x45\)/,
      /Airtel did not take it/,
      { until: AT },
    ],
  ];
  for (const [what, changed, customer, operator, times] of WAITS) {
    it(`waits: ${what}`, () => {
      const told = [false, true].map((forOperator) => waitsFor({ ...facts, ...changed }, forOperator));

      const words = told.map((one) => `${one?.cause} ${one?.advice}`);
      expect(words[0]).to.match(customer).and.not.include('Airtel');
      expect(words[1]).to.match(operator);
      expect(told[0]).to.deep.include(times);
    });
  }

  it('waits for nothing when one of its carriers can take it', () => {
    expect(waitsFor({ ...facts, carriers: [down, bound] }, false)).to.equal(undefined);
  });

  it('rejected: by a carrier that refuses all, and by one that gets no DLT ids', () => {
    const message = { ...facts.message, state: 'rejected', errorCode: '0x45', claim: { carrier: 'Airtel' } };
    const rejected: Facts = { ...facts, message: message as Facts['message'] };
    const said = { cause: 'Refused.', advice: '' };

    expect(refusedBy({ ...rejected, conditions: [refusing] }, said, false)).to.deep.include({
      cause: 'The carrier refuses messages at present, with the code 0x45.',
      since: AT,
    });
    expect(refusedBy({ ...rejected, conditions: [refusing] }, said, true)?.cause).to.equal(refusing.words);
    const withTemplate = { ...rejected, message: { ...rejected.message, template: '1107160000000000001' } };
    expect(refusedBy(withTemplate, said, true)).to.deep.equal({
      cause: 'Refused. Airtel gets no DLT ids.',
      advice: 'Set how it takes them: its setting `dlt` is off. Then let the account send again.',
    });
    expect(refusedBy(withTemplate, said, false)).to.equal(undefined);
  });
});
