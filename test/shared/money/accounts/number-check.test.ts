import { homeOf, isCountry, type NumberRules, numberProblem } from '../../../../shared/money/accounts/number-check.ts';

const INDIA: NumberRules = { numberCheck: 'on', country: 'IN' };
const MOBILE: NumberRules = { ...INDIA, numberCheck: 'mobile' };

describe('numberProblem', () => {
  it('has nothing against any number unless the account asks for the check', () => {
    for (const to of ['9812345678', '99912345678', '911234']) {
      expect(numberProblem(to, { country: 'IN', dlt: 'on' })).to.equal(undefined);
    }
  });

  const good: readonly [string, string][] = [
    ['a mobile number of India', '919812345678'],
    ['one of the lowest series', '916000000000'],
    ['a landline of India', '911123456789'],
    ['the United States, where mobile and fixed look the same', '14155552671'],
    ['Argentina, whose mobile numbers have a 9 more', '5491112345678'],
    ['Italy, whose landlines keep their 0', '390612345678'],
    ['Singapore, ten digits that could be of India', '6591234567'],
    ['a satellite phone, of no country', '881612345678'],
  ];
  for (const [what, to] of good) {
    it(`takes ${what}`, () => {
      expect(numberProblem(to, INDIA)).to.equal(undefined);
    });
  }

  const bad: readonly [string, string, string, RegExp][] = [
    ['a number without the country code', '9812345678', 'country_code_missing', /missing: write 919812345678\.$/],
    ['the same, beginning like the code itself', '9198765432', 'country_code_missing', /write 919198765432\.$/],
    ['a 0 behind the country code', '9109812345678', 'unknown_number', /^Write 919812345678,/],
    ['a digit too few', '442079460', 'unknown_number', /country code 44/],
    ['far too few digits', '86138001', 'unknown_number', /too few digits for numbers with the country code 86\.$/],
    ['too many digits', '14155552671234', 'unknown_number', /too many digits for numbers with the country code 1\.$/],
    ['a series that nobody has', '912000000000', 'unknown_number', /not one of the numbers with the country code 91/],
    ['no country at all', '99912345678', 'unknown_number', /begins with no known country code/],
  ];
  for (const [what, to, code, detail] of bad) {
    it(`names what is wrong with ${what}`, () => {
      const problem = numberProblem(to, INDIA);

      expect(problem).to.include({ code });
      expect(problem?.detail).to.match(detail);
    });
  }

  it('knows no country of its own without one: the number is only unknown', () => {
    expect(numberProblem('9812345678', { numberCheck: 'on' })).to.include({ code: 'unknown_number' });
  });

  it('takes India for the country of an account with DLT that names none', () => {
    expect(homeOf({ dlt: 'on' })).to.equal('IN');
    expect(homeOf({ dlt: 'on', country: 'LK' })).to.equal('LK');
    expect(homeOf({})).to.equal(undefined);
    expect(numberProblem('9812345678', { numberCheck: 'on', dlt: 'on' })).to.include({ code: 'country_code_missing' });
  });

  it('mobile: refuses landlines and toll-free numbers, takes what may be a mobile one', () => {
    for (const to of ['911123456789', '911800123456', '442071838750']) {
      expect(numberProblem(to, MOBILE), to).to.include({ code: 'not_mobile' });
    }
    for (const to of ['919812345678', '447400123456', '14155552671']) {
      expect(numberProblem(to, MOBILE), to).to.equal(undefined);
    }
  });

  describe('on the chat-app channel', () => {
    // WhatsApp's ids of users in Mexico and Brazil are numbers of outdated numbering plans.
    for (const to of ['5215512345678', '551187654321', '919812345678']) {
      it(`takes ${to}, whatever the level`, () => {
        expect(numberProblem(to, MOBILE, 'chatapp')).to.equal(undefined);
      });
    }
    for (const [to, code] of [
      ['9812345678', 'country_code_missing'],
      ['14155552671234', 'unknown_number'],
    ] as const) {
      it(`refuses ${to}`, () => {
        expect(numberProblem(to, INDIA, 'chatapp')).to.include({ code });
      });
    }
  });

  it('a country is one that the library knows', () => {
    expect(['IN', 'DE', 'XX', 'in', ''].map(isCountry)).to.deep.equal([true, true, false, false, false]);
  });
});
