import { expect } from 'chai';
import { entryFor, keywordOf, type NumberDocument, numberKey } from '../../../../shared/carriers/numbers/number.ts';

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
