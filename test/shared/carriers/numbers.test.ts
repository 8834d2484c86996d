import {
  completedNumber,
  entryFor,
  keywordOf,
  type NumberDocument,
  numberKey,
  senderOf,
} from '../../../shared/carriers/numbers/number.ts';

const TONS = [0, 1, 2, 3, 4, 6];

describe('numbers in national form', () => {
  const NATIONAL: readonly (readonly [string, string, string])[] = [
    ['9876543210', 'IN', '919876543210'],
    ['98765 43210', 'IN', '919876543210'],
    ['09876543210', 'IN', '919876543210'],
    ['0 98765-43210', 'IN', '919876543210'],
    ['9811111131', 'IN', '919811111131'],
    ['07400123456', 'GB', '447400123456'],
    ['7400123456', 'GB', '447400123456'],
    ['5303001001', 'TR', '905303001001'],
    ['8031234567', 'NG', '2348031234567'],
    ['11961234567', 'BR', '5511961234567'],
    ['+9876543210', 'IN', '919876543210'],
    ['00 98765 43210', 'IN', '919876543210'],
    ['0919876543210', 'IN', '919876543210'],
  ];
  for (const [written, country, whole] of NATIONAL) {
    it(`${written} in ${country} is ${whole}, whatever the type of number`, () => {
      expect(completedNumber(written, country)).to.equal(whole);
      for (const ton of TONS) expect(senderOf(written, ton, country), `type ${ton}`).to.equal(whole);
    });
  }

  const WHOLE: readonly (readonly [string, string, string])[] = [
    ['919876543210', 'IN', '919876543210'],
    ['+919876543210', 'IN', '919876543210'],
    ['00919876543210', 'GB', '919876543210'],
    ['447400123456', 'IN', '447400123456'],
    ['12025550123', 'IN', '12025550123'],
    ['+6591234567', 'IN', '6591234567'],
    ['+1111111111', 'IN', '1111111111'],
    ['+52263', 'IN', '52263'],
  ];
  for (const [written, country, whole] of WHOLE) {
    it(`${written} at a number of ${country} stays ${whole}`, () => {
      for (const ton of TONS) expect(senderOf(written, ton, country), `type ${ton}`).to.equal(whole);
    });
  }

  it('valid both ways: the country code that is there wins, unless the carrier says that it is national', () => {
    // A mobile number of Singapore and also, without its 91, one of India.
    for (const ton of [0, 1, 3]) expect(senderOf('6591234567', ton, 'IN')).to.equal('6591234567');
    expect(completedNumber('6591234567', 'IN')).to.equal('6591234567');
    expect(senderOf('6591234567', 2, 'IN')).to.equal('916591234567');
    expect(completedNumber('06591234567', 'IN')).to.equal('916591234567');
  });

  it('short codes, names and numbers of no plan stay', () => {
    for (const country of ['IN', 'DE', 'US', undefined]) {
      for (const address of ['52263', 'HARKRA', 'MyBank', '123456', '']) {
        for (const ton of [0, 1, 3, 5]) expect(senderOf(address, ton, country)).to.equal(address);
      }
    }
    expect(senderOf('0000000000', 0, 'IN')).to.equal('');
    expect(senderOf('1111111111', 0, 'IN')).to.equal('1111111111');
    expect(senderOf('9876543210', 0, undefined)).to.equal('9876543210');
  });
});

describe('whose a text to a number with keywords is', () => {
  const entry = (keyword: string): NumberDocument => ({
    ...{ _id: numberKey('56161', keyword), number: '56161', keyword, account: `acc_${keyword}` },
    createdAt: new Date(0),
  });

  it('the letters i of Turkish are one letter, as its capitals differ from those of other languages', () => {
    const entries = [entry(''), entry(keywordOf('BİLGİ')), entry(keywordOf('çıkış'))];

    for (const text of ['BİLGİ', 'bilgi ver', 'BILGI', 'Bılgı']) {
      expect(entryFor(entries, text)?.keyword, text).to.equal('bilgi');
    }
    for (const text of ['ÇIKIŞ', 'çıkış']) expect(entryFor(entries, text)?.keyword, text).to.equal('çikiş');
  });

  it('what phones add to an emoji is not part of a keyword', () => {
    expect(entryFor([entry(''), entry('join')], 'JOIN\u2757\ufe0f now')?.keyword).to.equal('join');
  });
});
