import { expect } from 'chai';
import { quoted } from '../../../../../gateway/endpoints/sms/matching/quoted.ts';

describe('templates/quoted', () => {
  const ROWS: readonly (readonly [text: string, quoted: string])[] = [
    ['Hi "you" – नमस्ते 🎉', '"Hi \\"you\\" – नमस्ते 🎉"'],
    ['a\u00a0b\u200bc\ufeffd\u00ade\u2003f', '"a\\u00a0b\\u200bc\\ufeffd\\u00ade\\u2003f"'],
    ['tab\tline\nend\u0085', '"tab\\tline\\nend\\u0085"'],
    ['e\u0301 ❤\ufe0f', '"e\\u0301 ❤\\ufe0f"'],
    ['\u{e0067}', '"\\udb40\\udc67"'],
  ];
  for (const [text, expected] of ROWS) {
    it(`writes ${expected}`, () => {
      expect(quoted(text)).to.equal(expected);
      expect(JSON.parse(quoted(text))).to.equal(text);
    });
  }
});
