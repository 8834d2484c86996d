import request from 'supertest';
import { propose, sampleTexts, type Tag } from '../../../../gateway/endpoints/account-templates/propose-tags.ts';
import { createSender } from '../../../../shared/carriers/sender.ts';
import type { MessageDocument } from '../../../../shared/messages/document/message.ts';
import { hourName } from '../../../../shared/messages/statistics.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { lowestId } from '../../../../shared/platform/runtime/ids.ts';
import { importTemplateCsv } from '../../../../shared/templates/sms/import-csv.ts';
import { createTemplate, findTemplate } from '../../../../shared/templates/sms/store.ts';
import { makeTemplate } from '../../../shared/templates/sms/make.ts';
import { accountAtGateway } from '../../../support/account-gateway.ts';
import { makeKey } from '../../../support/gateway.ts';
import { makeAccount } from '../../../support/make.ts';
import { signedIn } from '../../../support/signed-in.ts';
import { useStore } from '../../../support/store.ts';

const x = (count: number) => 'x'.repeat(count);
const times = (count: number, of: (i: number) => string) => Array.from({ length: count }, (_, i) => of(i));

/** Name, values, the proposed tag, and its share in percent unless that is 100. */
const CASES: readonly (readonly [what: string, values: readonly string[], tag: Tag | undefined, percent?: number])[] = [
  ['codes', ['4711', '081512', '7'], 'numeric'],
  ['digits of another script are letters for the scrubbers', ['४७११'], 'alphanumeric'],
  ['a sign before digits', ['-5'], undefined],
  ['an amount with paise', ['499.00', '1299.50'], 'alphanumeric'],
  ['an amount with a comma', ['1,299.00'], undefined],
  ['a currency sign', ['₹499'], undefined],
  ['a date with hyphens', ['2026-11-29', '2026-11-30'], undefined],
  ['a date with strokes', ['29/11/2026'], 'alphanumeric'],
  ['30 characters, the most of {#var#}', [x(30)], 'alphanumeric'],
  ['40 characters, the most of {#alphanumeric#}', [x(40)], 'alphanumeric'],
  ['41 characters', [x(41)], undefined],
  ['40 digits, and 41', ['1'.repeat(40), '1'.repeat(41)], 'numeric', 50],
  ['names', ['Asha Rao', 'R. Kumar', 'O/o Singh'], 'alphanumeric'],
  ['a full stop between words is no link', ['Mr.Singh', 'A.Kumar'], 'alphanumeric'],
  ['names of other scripts', ['आशा', 'ਕੁਲਦੀਪ ਸਿੰਘ', 'José'], 'alphanumeric'],
  ['a joiner of Indic words', ['क्‍ष'], 'alphanumeric'],
  ['an apostrophe', ["O'Brien"], undefined],
  ['an emoji', ['Asha 🎉'], undefined],
  ['an empty value', [''], undefined],
  ['empty now and then', ['', ...times(99, () => 'Asha')], 'alphanumeric', 99],
  ['links', ['https://acme.in/t?id=7', 'http://acme.in'], 'url'],
  ['a link without a scheme', ['acme.in/t/7', 'www.acme.org'], 'url'],
  ['a shortener', ['bit.ly/ACMEBK/7x', 'tinyurl.com/y7'], 'url'],
  ['120 characters of a link, and 121', [`https://acme.in/${x(104)}`, `https://acme.in/${x(105)}`], 'url', 50],
  ['a link with a space', ['https://acme.in/a b'], undefined],
  ['an app in a store', ['https://play.google.com/store/apps/details?id=in.acme'], 'urlott'],
  ['messengers', ['https://wa.me/919494410631', 't.me/acme'], 'urlott'],
  ['an app and a page', ['https://wa.me/919494410631', 'https://acme.in/x'], 'url'],
  ['an app by its own scheme', ['acme://pay/7'], undefined],
  ['email addresses', ['help@acme.in', "o'brien+1@mail.acme.co.in"], 'email'],
  ['an email address and a link', ['help@acme.in', 'https://acme.in'], undefined],
  ['a leading plus', ['+919876543210', '+91 98765 43211'], 'cbn'],
  ['numbers with and without a plus', ['+919876543210', '9876543211'], 'cbn'],
  ['toll-free with hyphens', ['1800-985-6730'], 'cbn'],
  ['mobile numbers of customers are digits', times(20, (i) => String(9_876_543_210 + i)), 'numeric'],
  ['one number again and again is called', times(20, () => '9876543210'), 'cbn'],
  ['one code again and again is not', times(20, () => '471100'), 'numeric'],
  ['numbers of ten digits and order ids', [...times(10, (i) => String(9_876_543_210 + i)), 'AB12'], 'alphanumeric'],
  [
    'mixed: the percentage decides, exactly at the border',
    [...times(95, String), ...times(5, () => '₹5')],
    'numeric',
    95,
  ],
  ['mixed: one less', [...times(94, String), ...times(6, () => '₹5')], undefined, 95],
  ['mixed: a wider one when more is wanted', [...times(95, String), ...times(5, () => 'AB1')], 'alphanumeric', 99],
  ['nothing was sent', [], undefined],
];

describe('tags of what was sent', () => {
  for (const [what, values, tag, percent = 100] of CASES) {
    it(`${what}: ${tag ?? 'none'}`, async () => {
      // An operator with long slots, so that the tags' limits matter.
      const template = { content: 'For {#var#}', slots: [{ type: 'var' as const, max: 200 }] };
      const sent = values.map((value) => ({ id: 'msg_1', text: `For ${value}` }));

      const { slots, messages } = await propose(template, { lineBreaks: 'exact' }, sent, percent / 100, 'IN');

      expect(slots.map((slot) => slot.tag)).to.deep.equal([tag]);
      expect(messages).to.equal(values.length);
    });
  }

  it('counts the messages that the tagged template refuses, by slots, and leaves what nobody can say', async () => {
    const content = 'Hi {#var#}, {#numeric#} points,\nsee {#var#}{#var#}.';
    const sent = [
      { id: 'msg_3', text: 'Hi Asha, 7 points,\r\nsee abc.' },
      { id: 'msg_2', text: "Hi O'Brien, 7 points,\nsee abc." },
      { id: 'msg_1', text: 'Hello Asha' },
    ];

    const made = await propose({ content }, {}, sent, 0.5, 'IN');

    expect(made.content).to.equal('Hi {#alphanumeric#}, {#numeric#} points,\nsee {#var#}{#var#}.');
    expect(made.slots.map(({ index, tag, touches }) => [index, tag, touches])).to.deep.equal([
      [0, 'alphanumeric', false],
      [2, undefined, true],
      [3, undefined, true],
    ]);
    expect(made.messages).to.equal(2);
    expect(made.refused.map(({ id, slots }) => [id, slots])).to.deep.equal([['msg_2', [0]]]);
  });

  it('a type that stood beside the text comes into it, and a word of the text stays as it is', async () => {
    const template = {
      content: '{#var#} of {#number#}: {#var#}',
      slots: [{ type: 'cbn' as const }],
    };

    const made = await propose(
      template,
      { lineBreaks: 'exact' },
      [{ id: 'msg_1', text: '1800985673 of 2: 3' }],
      1,
      'IN',
    );

    expect(made.content).to.equal('{#cbn#} of {#number#}: {#numeric#}');
    expect(made.refused).to.deep.equal([]);
  });
});

const OFTEN = '1107160000000000001';
const RARE = '1107160000000000002';
const NOW = Date.parse('2026-11-29T12:00:00Z');
const HOUR_MS = 3_600_000;

describe('the messages of a template', () => {
  const store = useStore();

  it('are found behind thousands of others by the hourly counts; what is older, or has no text any more, is not', async () => {
    const account = await makeAccount(store.db, 0);
    const message = (ms: number, template: string, text?: string) => ({
      ...{ _id: lowestId('msg', new Date(ms)), account, channel: 'sms', template },
      ...(text !== undefined && { text }),
    });
    const weekAgo = NOW - 168 * HOUR_MS;
    await store.db
      .collection<{ _id: string }>('messages')
      .insertMany([
        ...Array.from({ length: 5_100 }, (_, i) => message(NOW - i, OFTEN, `often ${i}`)),
        ...[message(weekAgo + 2, RARE, 'second'), message(weekAgo + 1, RARE, 'first'), message(weekAgo + 3, RARE)],
        message(NOW - 2_000 * HOUR_MS, RARE, 'too old'),
      ]);
    const hour = (ms: number, template: string, sent: number) => ({
      ...{ _id: `${account}:${hourName(new Date(ms))}`, account },
      traffic: [{ half: 0, channel: 'sms', template, states: { sent, delivered: 1 } }],
    });
    await store.db
      .collection<{ _id: string }>('statistics')
      .insertMany([hour(weekAgo, RARE, 2), hour(NOW - HOUR_MS, OFTEN, 5_099)]);

    const found = await sampleTexts(store.db, account, [OFTEN, RARE], new Date(NOW - 720 * HOUR_MS), 10);

    expect(found.texts.get(RARE)?.map(({ text }) => text)).to.deep.equal(['second', 'first']);
    expect(
      found.texts
        .get(OFTEN)
        ?.map(({ text }) => text)
        .slice(0, 2),
    ).to.deep.equal(['often 0', 'often 1']);
    expect(found.texts.get(OFTEN)).to.have.lengthOf(10);
    expect(Object.fromEntries(found.counted)).to.deep.equal({ [OFTEN]: 5_100, [RARE]: 3 });
    expect(found.looked).to.equal(5_003);
  });
});

const OLD = '1107160000000000001';
const NEW = '1107170000000000002';
const PATH = '/v2/account/untagged-templates';

describe('templates that still have {#var#}', () => {
  const site = accountAtGateway(50, { keyCacheMs: 0, textDays: 30 });
  const get = (path: string) => request(site.url).get(path).set('Authorization', `Bearer ${site.key}`);

  async function sendCode(code: string): Promise<MessageDocument | null> {
    const { body, status } = await request(site.url)
      .post('/v2/send')
      .set('Authorization', `Bearer ${site.key}`)
      .send({ to: '919876543210', sender: 'HARKRA', message: `Your code is ${code}.` });
    expect(status, JSON.stringify(body)).to.equal(200);
    return site.db.collection<MessageDocument>('messages').findOne({ _id: body.message_id });
  }

  beforeEach(async () => {
    const { db, account } = site;
    await db
      .collection<{ _id: string }>('accounts')
      .updateOne({ _id: account }, { $set: { dlt: 'on', entityId: '1101160000000000009' } });
    await createSender(db, systemClock, {
      ...{ account, sender: 'HARKRA', routes: ['transactional'], status: 'approved' },
    });
    const content = 'Your code is {#var#}.';
    await createTemplate(db, systemClock, account, makeTemplate({ dltId: OLD, name: 'Login code', content }));
  });

  it('are examined by what was sent, exported, and replaced by what comes back from the portal', async () => {
    const { db, account } = site;
    for (const code of ['4711', '081512', '99', 'A 4711']) expect(await sendCode(code)).to.include({ template: OLD });

    const { body: list } = await get(PATH).expect(200);
    expect(list).to.deep.include({ total: 1, replaced: 0 });
    expect(list.data[0]).to.include({ template_id: OLD, state: 'open', untagged_slots: 1, replaced_by: null });

    const { body: strict } = await get(`${PATH}/${OLD}`).expect(200);
    expect(strict.slots[0]).to.include({ number: 1, tag: 'alphanumeric' });
    expect(strict).to.include({ messages: 4, known_days: 30, refused: 0 });
    const { body: found } = await get(`${PATH}/${OLD}?percent=75`).expect(200);
    expect(found).to.include({ tagged_content: 'Your code is {#numeric#}.', refused: 1, text_shown: 'whole' });
    expect(found.slots[0].takes).to.include({ numeric: 3, alphanumeric: 4 });
    expect(found.examples[0]).to.deep.include({ text: 'Your code is A 4711.', slots: [1] });
    const { body: masked } = await request(site.url)
      .get(`${PATH}/${OLD}?percent=75`)
      .set((await signedIn(db, 'viewer', account)).headers)
      .expect(200);
    expect(masked.examples[0].text).to.equal('Your code is A ••••.');

    const { text: file } = await get(`${PATH}?format=csv&percent=75`).expect(200);
    const portal = file
      .replace('Template Name', 'Template ID,Status,Template Name')
      .replace('Login code', `${NEW},Approved,Login code`);
    const imported = await importTemplateCsv(db, systemClock, { _id: account }, new TextEncoder().encode(portal));
    expect(imported).to.deep.include({ kind: 'imported', badRows: 0, created: [NEW], known: [] });
    expect(await findTemplate(db, account, NEW)).to.deep.include({
      ...{ name: 'Login code', content: 'Your code is {#numeric#}.', routes: ['transactional'], senders: ['HARKRA'] },
    });

    expect(await sendCode('5522')).to.include({ template: NEW });
    expect(await sendCode('B 12')).to.include({ template: OLD });
    const { body: after } = await get(PATH).expect(200);
    expect(after).to.deep.include({ total: 0, replaced: 1 });
    expect(after.data[0]).to.include({ state: 'replaced', replaced_by: NEW });
    await get(`${PATH}/${NEW}`).expect(404);
  });

  it('show nobody the code of a verification in their examples', async () => {
    const { db, account } = site;
    await sendCode('4711');
    const otp = await makeKey(db, account, ['send', 'otp']);
    const { body } = await request(site.url)
      .post('/v2/verify')
      .set('Authorization', `Bearer ${otp}`)
      .send({ to: '919876543210', sender: 'HARKRA', message: 'Your code is H-{code}.' })
      .expect(200);

    const { body: found } = await get(`${PATH}/${OLD}?percent=50`).expect(200);

    expect(found).to.include({ messages: 2, refused: 1, text_shown: 'whole' });
    expect(found.examples).to.deep.equal([{ message_id: body.message_id, slots: [1], text: 'Your code is H-••••••.' }]);
  });
});
