import fc from 'fast-check';
import { planText, roomOf, unicodeCharacters } from '../../../shared/messages/sms-plan.ts';

describe('what makes a text dearer', () => {
  it('names each character outside the GSM alphabet once, in their order', () => {
    expect(unicodeCharacters('Café – it’s €5 ’ok’ 🎉🎉')).to.deep.equal(['–', '’', '🎉']);
    expect(unicodeCharacters('Café {€}\n')).to.deep.equal([]);
    expect(unicodeCharacters('\ufeffhello')).to.deep.equal([]);
  });

  it('there are none exactly in texts of the GSM alphabet', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(unicodeCharacters(text).length > 0).to.equal(planText(text).encoding === 'UCS2');
      }),
    );
  });

  it('as much fits as the segments hold, or less where a character would be split', () => {
    expect(roomOf({ encoding: 'GSM7', segments: 1 })).to.equal(160);
    expect(roomOf({ encoding: 'GSM7', segments: 2 })).to.equal(306);
    expect(roomOf({ encoding: 'UCS2', segments: 1 })).to.equal(70);
    expect(roomOf({ encoding: 'UCS2', segments: 3 })).to.equal(201);
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 500 }), (text) => {
        const plan = planText(text);
        expect(plan.units).to.be.at.most(roomOf(plan));
      }),
    );
  });
});
