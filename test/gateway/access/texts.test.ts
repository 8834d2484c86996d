import { maskCodes } from '../../../gateway/access/texts.ts';

describe('maskCodes', () => {
  const CASES: readonly (readonly [text: string, masked: string])[] = [
    ['Your code is 4711.', 'Your code is ••••.'],
    ['Code 123 456', 'Code ••• •••'],
    ['Code 123\u00a0456, G-12\u201134', 'Code •••\u00a0•••, G-••\u2011••'],
    ['Code 12–34', 'Code ••–••'],
    ['کد ۱۲۳۴', 'کد ••••'],
    ['See https://x.in/a1b2c3', 'See https://x.in/••••••'],
    ['Rs 250 at 10:30 on 29.11.', 'Rs 250 at 10:30 on 29.11.'],
  ];
  for (const [text, masked] of CASES) it(text, () => expect(maskCodes(text)).to.equal(masked));
});
