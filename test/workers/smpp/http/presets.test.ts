import { createHmac } from 'node:crypto';
import { isGenuine, toldReceipts } from '../../../../gateway/endpoints/carrier-callbacks/callback.ts';
import { readSettings } from '../../../../gateway/endpoints/carriers/settings-form.ts';
import { FieldProblems } from '../../../../gateway/http/field-problems.ts';
import { CARRIER_DEFAULTS, type CarrierDocument } from '../../../../shared/carriers/carrier.ts';
import { checkCarrier } from '../../../../shared/carriers/carrier-form.ts';
import { ReceiptDialect } from '../../../../workers/smpp/dialect/receipt-dialect.ts';
import { httpAnswers, requestWriter } from '../../../../workers/smpp/http/http-wire.ts';
import { readTold } from '../../../../workers/smpp/receipts/receipt.ts';
import { makeMessage } from '../../../support/make.ts';

const CALLBACK = 'https://sms.example.com/carriers/callback/cbk_01m7znjn7hdb5pft3awkb6pgvz';

/** A carrier of the preset with these settings. Throws what the form would refuse. */
function carrierOf(preset: string, settings: Readonly<Record<string, string>>): CarrierDocument {
  const problems = new FieldProblems();
  const chosen = readSettings(settings, problems, { preset });
  expect(problems.count).to.equal(0);
  const whole = { ...CARRIER_DEFAULTS, ...chosen, _id: 'c', name: 'C', password: 'secret', createdAt: new Date(0) };
  const carrier = whole as CarrierDocument; // the settings have what is required
  checkCarrier(carrier);
  return carrier;
}

const TWILIO = carrierOf('twilio-http', { systemId: 'AC5ef8732a3c49700934481addd5ce1659' });
const INFOBIP = carrierOf('infobip-http', { host: 'xyz.api.infobip.com' });

function request(carrier: CarrierDocument, message: Parameters<typeof makeMessage>[0]) {
  const written = requestWriter({ carrier, password: 'secret', callback: CALLBACK })(makeMessage(message));
  if ('code' in written) throw new Error(written.reason);
  return { ...written.target, body: written.frame.toString('utf8') };
}

describe('HTTP carriers: requests of the presets', () => {
  it('Twilio: the form of its Messages resource', () => {
    const { method, url, headers, body } = request(TWILIO, {
      ...{ to: '14155552345', sender: '14155552671', text: 'Hi & there? é' },
    });

    expect([method, url]).to.deep.equal([
      'POST',
      'https://api.twilio.com:443/2010-04-01/Accounts/AC5ef8732a3c49700934481addd5ce1659/Messages.json',
    ]);
    expect(headers).to.deep.equal({
      authorization: `Basic ${Buffer.from('AC5ef8732a3c49700934481addd5ce1659:secret').toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
    });
    expect(body).to.equal(
      `To=%2B14155552345&From=%2B14155552671&Body=Hi+%26+there%3F+%C3%A9&StatusCallback=${encodeURIComponent(CALLBACK)}`,
    );
  });

  it('Infobip: the JSON of its send endpoint, whatever stands in the text', () => {
    const text = 'She said "no", {to} \\ \n₹';
    const { method, url, headers, body } = request(INFOBIP, { to: '41793026727', sender: 'InfoSMS', text });

    expect([method, url]).to.deep.equal(['POST', 'https://xyz.api.infobip.com:443/sms/3/messages']);
    expect(headers).to.deep.equal({ authorization: 'App secret', 'content-type': 'application/json' });
    expect(JSON.parse(body)).to.deep.equal({
      messages: [
        {
          sender: 'InfoSMS',
          destinations: [{ to: '41793026727' }],
          content: { text },
          webhooks: { delivery: { url: CALLBACK } },
        },
      ],
    });
  });

  it('Infobip: with the ids of DLT where the message has them', () => {
    const { body } = request(INFOBIP, { template: '1107160000000000001', entityId: '1101160000000000001' });

    expect(JSON.parse(body).messages[0].options).to.deep.equal({
      regional: { indiaDlt: { contentTemplateId: '1107160000000000001', principalEntityId: '1101160000000000001' } },
    });
  });

  it('a GET has its fields in the query', () => {
    const settings = {
      ...{ kind: 'http', host: 'sms.example.com', port: '443', tls: 'yes', systemId: 'me', requestMethod: 'GET' },
      ...{ requestPath: '/send?v=1', requestForm: 'user={user},pwd={password},to={to},msg={text},uni={unicode}' },
    };
    const { url, body } = request(carrierOf('', settings), { to: '919876543210', text: 'a&b ₹', encoding: 'UCS2' });

    expect(url).to.equal(
      'https://sms.example.com:443/send?v=1&user=me&pwd=secret&to=919876543210&msg=a%26b+%E2%82%B9&uni=1',
    );
    expect(body).to.equal('');
  });
});

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const infobip = (name: string, groupName: string) =>
  json({ messages: [{ messageId: '2250be2d4219', status: { groupName, name }, destination: '41793026727' }] });

/** Answers from the providers' documents, and such as every HTTP server may give. */
const ANSWERS: readonly (readonly [string, CarrierDocument, number, Buffer, object | undefined])[] = [
  [
    'taken',
    TWILIO,
    201,
    json({ sid: 'SM1f0e8ae6ade43cb3', status: 'queued' }),
    { meaning: 'accepted', messageId: 'SM1f0e8ae6ade43cb3' },
  ],
  ['a number that is none', TWILIO, 400, json({ code: 21211, status: 400 }), { meaning: 'rejected', code: '21211' }],
  ['a sender that is not ours', TWILIO, 400, json({ code: 21606 }), { meaning: 'failover', code: '21606' }],
  ['an unknown code', TWILIO, 400, json({ code: 29999 }), { meaning: 'rejected', code: '29999' }],
  ['too fast', TWILIO, 429, json({ code: 20429 }), { meaning: 'throttled', isBusy: true }],
  ['a wrong token', TWILIO, 401, json({ code: 20003 }), { meaning: 'bind', code: '20003' }],
  ['taken', INFOBIP, 200, infobip('PENDING_ACCEPTED', 'PENDING'), { meaning: 'accepted', messageId: '2250be2d4219' }],
  [
    'no credits',
    INFOBIP,
    200,
    infobip('REJECTED_NOT_ENOUGH_CREDITS', 'REJECTED'),
    { meaning: 'failover', messageId: '' },
  ],
  [
    'refused',
    INFOBIP,
    200,
    infobip('REJECTED_FLOODING_FILTER', 'REJECTED'),
    { meaning: 'rejected', code: 'REJECTED_FLOODING_FILTER' },
  ],
  ['down', INFOBIP, 503, Buffer.from('<html>'), { meaning: 'retry', code: 'http_503' }],
  ['a redirect', INFOBIP, 302, Buffer.alloc(0), { meaning: 'bind', code: 'http_302' }],
  ['a proxy without an answer', INFOBIP, 504, Buffer.alloc(0), undefined],
  ['a success without an id', INFOBIP, 200, json({}), undefined],
];

describe('HTTP carriers: answers', () => {
  for (const [what, { name: _, http, host }, status, body, expected] of ANSWERS) {
    it(`${host}, ${what}: HTTP ${status}`, () => {
      const answer = httpAnswers(http)({ kind: 'answered', status, body });

      if (expected === undefined) expect(answer).to.equal(undefined);
      else expect(answer).to.include(expected);
    });
  }

  it('takes a plain text as the id, and the pause that the server asks for', () => {
    const read = httpAnswers({ answerId: ['text'] });

    expect(read({ kind: 'answered', status: 200, body: Buffer.from(' 87123 \n') })).to.include({ messageId: '87123' });
    expect(read({ kind: 'answered', status: 429, body: Buffer.alloc(0), retryAfterMs: 2_000 })).to.include({
      meaning: 'throttled',
      pauseMs: 2_000,
    });
  });
});

const TWILIO_FORM =
  'SmsSid=SM1f0e8ae6ade43cb3&SmsStatus=delivered&MessageStatus=delivered&To=%2B15558675310&MessageSid=SM1f0e8ae6ade43cb3&AccountSid=AC5ef8&From=%2B15017122661&ApiVersion=2010-04-01';
const report = (messageId: string, name: string, groupName: string, id: number) => ({
  ...{ bulkId: 'BULK-1', messageId, to: '41793026727', sentAt: '2026-11-09T16:00:00.000+0000', smsCount: 1 },
  ...{ status: { groupName, name }, error: { groupId: 0, id, name: 'X', permanent: false } },
});

/** [what, carrier, content type is a form, body, the states (or `none`) and errors that the receipts have]. */
const CALLBACKS: readonly (readonly [
  string,
  CarrierDocument,
  boolean,
  Buffer,
  readonly (readonly [string, string?])[],
])[] = [
  ['delivered', TWILIO, true, Buffer.from(TWILIO_FORM), [['delivered']]],
  [
    'on its way',
    TWILIO,
    true,
    Buffer.from(TWILIO_FORM.replace('MessageStatus=delivered', 'MessageStatus=sent')),
    [['none']],
  ],
  [
    'not delivered',
    TWILIO,
    true,
    Buffer.from(`${TWILIO_FORM.replace('MessageStatus=delivered', 'MessageStatus=undelivered')}&ErrorCode=30005`),
    [['failed', '30005']],
  ],
  [
    'several reports',
    INFOBIP,
    false,
    json({
      results: [
        report('a', 'DELIVERED_TO_HANDSET', 'DELIVERED', 0),
        report('b', 'EXPIRED_EXPIRED', 'EXPIRED', 0),
        report('c', 'UNDELIVERABLE_NOT_DELIVERED', 'UNDELIVERABLE', 27),
        report('d', 'PENDING_ENROUTE', 'PENDING', 0),
      ],
    }),
    [['delivered'], ['expired', 'EXPIRED_EXPIRED'], ['failed', '27'], ['none']],
  ],
  ['nonsense', INFOBIP, false, Buffer.from('[1,'), []],
];

describe('HTTP carriers: callbacks of the presets', () => {
  for (const [what, carrier, isForm, bytes, expected] of CALLBACKS) {
    it(`${carrier.host}: ${what}`, () => {
      const { told } = toldReceipts({ bytes, isForm }, carrier.http);
      const dialect = new ReceiptDialect(carrier);
      const read = told.map((one) => readTold(one, carrier, dialect));

      expect(read.every(({ isKnown }) => isKnown)).to.equal(true);
      const states = read.map(({ receipt }) => [receipt?.part.state ?? 'none', receipt?.part.error]);
      expect(states).to.deep.equal(expected.map(([state, error]) => [state, error]));
    });
  }

  it('an id that is a number of 19 digits stays exact, and texts stay as they are', () => {
    const bytes = Buffer.from(
      '{"results":[{"messageId":9007199254740993123,"status":{"groupName":"DELIVERED"},"to":"a\\",1234567890123456789,\\"b"}]}',
    );

    const { told } = toldReceipts({ bytes, isForm: false }, INFOBIP.http);

    expect(told.map(({ id }) => id)).to.deep.equal(['9007199254740993123']);
  });

  it('a signature as the documents of Twilio compute it, and no other', () => {
    const posted = {
      bytes: Buffer.from(
        'Digits=1234&CallSid=CA1234567890ABCDE&From=%2B14158675310&Caller=%2B14158675310&To=%2B18005551212',
      ),
      isForm: true,
      url: 'https://mycompany.com/myapp.php?foo=1&bar=2',
      signature: 'GvWf1cFY/Q7PnoempGyD5oXAezc=',
    };

    expect(isGenuine(posted, TWILIO.http, '12345')).to.equal(true);
    expect(isGenuine(posted, TWILIO.http, '12346')).to.equal(false);
    expect(isGenuine({ ...posted, signature: undefined }, TWILIO.http, '12345')).to.equal(false);
    expect(isGenuine({ ...posted, url: `${posted.url}3` }, TWILIO.http, '12345')).to.equal(false);
  });

  it('a signature over the body', () => {
    const bytes = Buffer.from('{"id":1}');
    const signature = createHmac('sha256', 'k').update(bytes).digest('hex');

    const settings = { callbackSignature: 'body-sha256' } as const;
    expect(isGenuine({ bytes, isForm: false, url: '', signature }, settings, 'k')).to.equal(true);
    expect(isGenuine({ bytes: Buffer.from('{"id":2}'), isForm: false, url: '', signature }, settings, 'k')).to.equal(
      false,
    );
  });
});
