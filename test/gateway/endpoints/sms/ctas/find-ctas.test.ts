import { findCtas } from '../../../../../gateway/endpoints/sms/ctas/check.ts';
import { readCta } from '../../../../../shared/carriers/cta.ts';

function missing(text: string, ...registered: readonly string[]): readonly string[] {
  const values = registered.map((one) => {
    const read = readCta(one, 'IN');
    return read.kind === 'fault' ? expect.fail(`${one}: ${read.detail}`) : read.value;
  });
  return findCtas(text, 'IN')
    .filter(({ covering }) => !covering.some((one) => values.includes(one)))
    .map(({ written }) => written);
}

const MSG91 = 'msg91.com/help/how-to-whitelist-urls-and-callback-numbers-on-dlt';
const PHONE91 = 'kb.phone91.com/293020/cta-whitelisting-faqs';
const MSGCLUB = 'msgclub.net/learn/?p=726';
const ZOHO = 'help.zoho.com: How to whitelist URLs and phone numbers in the DLT portal';

/** Name with the public guide's source, text, registered ones, missing ones. */
const CASES: readonly (readonly [
  what: string,
  text: string,
  registered: readonly string[],
  missing: readonly string[],
])[] = [
  [`${MSG91}: a static URL`, 'See https://www.rediff.com/sports/x.htm.', ['https://www.rediff.com/sports/x.htm'], []],
  [`${MSG91}: a dynamic URL ends in a question mark`, 'https://acme.in/report?id=7', ['https://acme.in/report?'], []],
  [`${MSG91}: an APK`, 'Get https://acme.in/b/example.apk', ['https://acme.in/b/example.apk'], []],
  [`${MSG91}: WhatsApp`, 'Chat: wa.me/919494410631', ['https://wa.me/919494410631'], []],
  [`${MSG91}: a mobile number with 91, or without`, 'Call +91 98745 62309', ['9874562309'], []],
  [`${MSG91}: a landline with 0, or without`, 'Call 02223456789', ['2223456789'], []],
  [`${MSG91}: toll-free`, 'Call 1800985673 now', ['1800985673'], []],
  [`${MSG91}: the series 140`, 'From 1409856378', ['1409856378'], []],
  [`${MSG91}: the series 160`, 'From 1609856378', ['1609856378'], []],
  [`${PHONE91}: subdomains are registered apart`, 'https://shop.acme.in/x', ['acme.in'], ['https://shop.acme.in/x']],
  [`${PHONE91}: fixed text counts too`, 'acme.in', [], ['acme.in']],
  [
    `${PHONE91}: a header in a short URL, its case counts`,
    'bit.ly/acmebk/x',
    ['https://bit.ly/ACMEBK/'],
    ['bit.ly/acmebk/x'],
  ],
  [`${MSGCLUB}: a short URL with its header`, 'https://bit.ly/ABCDBK/4xw', ['https://bit.ly/ABCDBK'], []],
  [`${MSGCLUB}: an OTT link`, 'https://instagram.com/acme', ['https://instagram.com/acme'], []],
  [`${ZOHO}: host and query`, 'https://zc.vg/7?s=1', ['https://zc.vg'], []],
  ['another page of a shortener', 'tinyurl.com/evil', ['tinyurl.com/mine'], ['tinyurl.com/evil']],
  ['a beginning ends at a boundary', 'acme.in/offers2', ['acme.in/offers'], ['acme.in/offers2']],
  ['a path is not its beginning', 'acme.in', ['acme.in/offers'], ['acme.in']],
  ['a parameter', 'https://acme.in/t?id=7&x=1', ['acme.in/t?id='], []],
  ['capitals of a host', 'HTTPS://ACME.IN/Offers', ['acme.in/Offers'], []],
  ['letters of other scripts', 'Visit аpple.com', ['apple.com'], ['аpple.com']],
  ['the same as punycode', 'Visit аpple.com', ['xn--pple-43d.com'], []],
  ['what stands before an @ is no host', 'http://acme.in@evil.in/', ['acme.in'], ['http://acme.in@evil.in/']],
  ['a port', 'https://acme.in:8443/x', ['acme.in'], ['https://acme.in:8443/x']],
  ['an address', 'http://10.0.0.1/x', ['acme.in'], ['http://10.0.0.1/x']],
  ['an app by its scheme', 'acme://pay/7', ['acme://pay'], []],
  [
    'an app in a store',
    'https://play.google.com/store/apps/details?id=com.acme&hl=en',
    ['https://play.google.com/store/apps/details?id=com.acme'],
    [],
  ],
  ['mail is no link', 'Write to help@acme.com', [], []],
  ['words with a full stop between them', 'Order left.Thank you, e.g.this. Rs.500', [], []],
  ['codes, dates, amounts and account numbers', 'OTP 482913, Rs 12,500.00 on 2026-11-28, A/c XX9876543210', [], []],
  ['an amount before a number', 'Rs 500: call 9876543210', [], ['9876543210']],
  ['digits of a link are no number', 'https://acme.in/9876543210', ['acme.in'], []],
  ['abroad', 'Call +44 20 7946 0958', [], ['+44 20 7946 0958']],
];

describe('links and numbers of a text', () => {
  for (const [what, text, registered, left] of CASES) {
    it(what, () => {
      expect(missing(text, ...registered)).to.deep.equal(left);
    });
  }

  it('a slot says whether its digits are a number to call', () => {
    const text = 'Ref 9876543210, SMS 56161';
    const spans = [
      { start: 4, end: 14, holds: 'none' },
      { start: 20, end: 25, holds: 'number' },
    ] as const;

    expect(findCtas(text, 'IN', spans).map(({ covering }) => covering)).to.deep.equal([['56161']]);
  });

  for (const refused of [
    'https://bit.ly',
    'wa.me',
    'http://1.2.3.4/x',
    'acme',
    'two words',
    '',
    '12',
    '9.19877E+11',
    'https://play.google.com/store/apps',
  ]) {
    it(`nobody registers ${JSON.stringify(refused)}`, () => {
      expect(readCta(refused, 'IN').kind).to.equal('fault');
    });
  }
});
