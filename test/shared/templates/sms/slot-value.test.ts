import { expect } from 'chai';
import { SLOT_WORDS, type SlotType } from '../../../../shared/templates/sms/slot.ts';
import { isOfType, SLOT_VALUES } from '../../../../shared/templates/sms/slot-value.ts';

const GOOD: Readonly<Record<SlotType, readonly string[]>> = {
  var: ['', 'anything 🎉\n'],
  numeric: ['0', '0042'],
  alphanumeric: ['AB 12/c_d.', 'आशा', 'É', 'क्\u200dष', 'می\u200cخواهم'],
  url: ['a.in', 'a.in/', 'HTTP://a.in', 'https://a-b.co.in:8080/x?y=1#z', 'a.in?x', '1.2.3.4/x'],
  urlott: ['https://play.example.com/store/apps?id=x'],
  cbn: ['139', '1800-123-4567', '+91 98765 43210', '919876543210'],
  email: ['a@b.co', "o'neil.b+c_d%@x-y.example.com"],
};
const BAD: Readonly<Record<SlotType, readonly string[]>> = {
  var: [],
  numeric: ['', '1,000', '12a', '४७', '-1', ' 1'],
  alphanumeric: ['', 'a-b', 'a@b', '🎉', 'a\nb', 'a\u200bb'],
  url: ['', 'a', 'https://', 'https://a', 'a.', '.in', 'a..in', '-a.in', 'a.in x', 'ftp://a.in', 'a.in-'],
  urlott: ['app'],
  cbn: ['', '12', '1234567890123456', '12-', '1--23', '+', '(022) 123', '12a', ' 123'],
  email: ['', 'a', '@b.co', 'a@', 'a@b', '.a@b.co', 'a.@b.co', 'a b@c.co', 'a@b.co.', 'a@@b.co'],
};

describe('templates/slot-value', () => {
  for (const type of new Set(SLOT_WORDS.values())) {
    for (const value of GOOD[type]) {
      it(`${type} takes ${JSON.stringify(value)}`, () => expect(isOfType(type, value)).to.equal(true));
    }
    for (const value of BAD[type]) {
      it(`${type} refuses ${JSON.stringify(value)}`, () => expect(isOfType(type, value)).to.equal(false));
    }
  }

  it('a shape tells every place where a value may end, within the limit', () => {
    const ends = (type: SlotType, text: string, start: number, limit: number) => {
      const values = SLOT_VALUES[type];
      return values.kind === 'shape' ? values.ends(text, start, limit) : [];
    };

    expect(ends('url', 'to a.in/x y', 3, 11)).to.deep.equal([6, 7, 8, 9]);
    expect(ends('url', 'to a.in/x y', 3, 8)).to.deep.equal([6, 7, 8]);
    expect(ends('email', 'a@b.co.in', 0, 9)).to.deep.equal([5, 6, 8, 9]);
    expect(ends('cbn', '12345 6', 0, 7)).to.deep.equal([3, 4, 5, 7]);
  });
});
