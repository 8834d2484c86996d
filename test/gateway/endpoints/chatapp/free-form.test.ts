import request from 'supertest';
import type { ChatMessageDocument } from '../../../../shared/messages/document/chat-message.ts';
import type { AccountDocument } from '../../../../shared/money/accounts/account.ts';
import { recordInbound } from '../../../../shared/money/conversations/conversation.ts';
import { isoTimestamp } from '../../../../shared/platform/runtime/clock.ts';
import { CUSTOMER, chatAtGateway } from '../../../support/chat-gateway.ts';
import { NUMBER } from '../../../support/chatapp.ts';
import { makeKey, openGateway, TEST_CONFIG, type TestGateway } from '../../../support/gateway.ts';
import { expectProblem } from '../../../support/problem.ts';

const PATH = '/v2/chatapp/send-text';
const GOOD = { to: CUSTOMER, message: 'On its way' };
const HOUR_MS = 3_600_000;

describe('POST /v2/chatapp/send-text', () => {
  const chat = chatAtGateway(3);
  const messages = () => chat.db.collection<ChatMessageDocument>('messages').find({ account: chat.account }).toArray();

  describe('200', () => {
    it('inside the session: answers exactly the two fields, stores the message, charges the user’s price once', async () => {
      await chat.configure();
      await chat.customerWrote();

      const { status, body } = await chat.post(PATH, GOOD);
      const second = await chat.post(PATH, { ...GOOD, valid_until: new Date(Date.now() + HOUR_MS).toISOString() });

      expect(status, JSON.stringify(body)).to.equal(200);
      const stored = await messages();
      expect(body).to.deep.equal({ status: 'success', message_id: stored[0]?._id });
      expect(stored[0]).to.deep.include({ to: CUSTOMER, content: { kind: 'text', text: 'On its way' } });
      expect(second.status).to.equal(200);
      expect(await chat.balance()).to.equal(2);
    });

    const texts: readonly [string, string][] = [
      ['the longest', 'a'.repeat(4_096)],
      ['as many emoji, each one character', '😀'.repeat(4_096)],
      ['Hindi, lines and spaces around it', '  नमस्ते\nआपका ऑर्डर  '],
    ];
    for (const [what, message] of texts) {
      it(`takes ${what}`, async () => {
        await chat.configure();
        await chat.customerWrote();

        const { status, body } = await chat.post(PATH, { ...GOOD, message });

        expect(status, JSON.stringify(body)).to.equal(200);
        expect((await messages())[0]?.content).to.deep.equal({ kind: 'text', text: message });
      });
    }

    it('takes the user id of a customer who shows no number, and finds the message by it', async () => {
      const userId = 'US.13491208655302741918';
      await chat.configure();
      await recordInbound(chat.db, [{ account: chat.account, customer: userId, number: NUMBER, at: new Date() }]);

      const { status, body } = await chat.post(PATH, { ...GOOD, to: userId });

      expect(status, JSON.stringify(body)).to.equal(200);
      expect((await messages())[0]).to.include({ to: userId });
      const closed = await chat.post(PATH, { ...GOOD, to: 'US.13491208655302741919' });
      expect(closed.body.code).to.equal('session_closed');
      const list = await chat.get(`/v2/messages?to=${userId}`);
      expect(list.body.data).to.have.lengthOf(1);
      expect(list.body.data[0]).to.include({ message_id: body.message_id, to: userId });
    });

    it('dry_run: costs nothing in a conversation that is paid for', async () => {
      await chat.configure();
      await chat.customerWrote();

      expect((await chat.post(PATH, { ...GOOD, dry_run: true })).body.credits_required).to.equal(1);
      await chat.expectNothingDone(3);
      await chat.post(PATH, GOOD);
      expect((await chat.post(PATH, { ...GOOD, dry_run: true })).body.credits_required).to.equal(0);
    });
  });

  describe('400', () => {
    const rows: readonly [string, object, string, string][] = [
      ['no text', { to: CUSTOMER }, 'message', 'missing_field'],
      ['an empty text', { ...GOOD, message: '' }, 'message', 'too_short'],
      ['a blank text', { ...GOOD, message: ' \n\t ' }, 'message', 'too_short'],
      ['an over-long text', { ...GOOD, message: 'a'.repeat(4_097) }, 'message', 'too_long'],
      ['a text that is null', { ...GOOD, message: null }, 'message', 'wrong_type'],
      ['half an emoji', { ...GOOD, message: 'x\udc00' }, 'message', 'invalid_text'],
      ['the number of the business', { ...GOOD, to: '918000000001' }, 'to', 'invalid_value'],
      ['no recipient', { message: 'x' }, 'to', 'missing_field'],
      ['a sender, which is the other channel’s', { ...GOOD, sender: 'HARKRA' }, 'sender', 'unknown_field'],
      ['a dry run that is a word', { ...GOOD, dry_run: 'yes' }, 'dry_run', 'wrong_type'],
    ];
    for (const [what, body, field, code] of rows) {
      it(`${what}, and nothing is charged`, async () => {
        await chat.configure();
        await chat.customerWrote();

        const answer = await chat.post(PATH, body);

        expectProblem(answer, 'invalid_request');
        expect(answer.body.errors).to.have.length(1);
        expect(answer.body.errors[0]).to.include({ field, code });
        await chat.expectNothingDone(3);
      });
    }
  });

  describe('403', () => {
    it('the session closed: says when', async () => {
      await chat.configure();
      const wrote = new Date(Date.now() - 25 * HOUR_MS);
      await chat.customerWrote(wrote);

      const answer = await chat.post(PATH, GOOD);

      expectProblem(answer, 'session_closed');
      const closed = isoTimestamp(new Date(wrote.getTime() + 24 * HOUR_MS));
      expect(answer.body.session_closed_at).to.equal(closed);
      expect(answer.body.detail).to.include(closed);
      await chat.expectNothingDone(3);
    });

    it('the conversation has as many messages as the account allows, however many ask at once', async () => {
      await chat.configure();
      await chat.customerWrote();
      await chat.db
        .collection<AccountDocument>('accounts')
        .updateOne({ _id: chat.account }, { $set: { conversationMessages: 4 } });

      const answers = await Promise.all(Array.from({ length: 12 }, () => chat.post(PATH, GOOD)));

      expect(answers.filter(({ status }) => status === 200)).to.have.lengthOf(4);
      const refused = answers.filter(({ status }) => status === 403);
      expect(refused).to.have.lengthOf(8);
      expect(refused[0]?.body).to.include({ code: 'conversation_limit_reached', limit: 'conversation', most: 4 });
      expectProblem(await chat.post(PATH, { ...GOOD, dry_run: true }), 'conversation_limit_reached');
      expect(await messages()).to.have.lengthOf(4);
      expect(await chat.balance()).to.equal(2);
    });

    it('the customer never wrote: there is nothing that closed', async () => {
      await chat.configure();

      const answer = await chat.post(PATH, GOOD);

      expectProblem(answer, 'session_closed');
      expect(answer.body.session_closed_at).to.equal(null);
      expectProblem(await chat.post(PATH, { ...GOOD, dry_run: true }), 'session_closed');
    });

    it('a conversation that is paid for opens no session', async () => {
      await chat.configure();
      await chat.post('/v2/chatapp/send', { to: CUSTOMER, template: 'hello', language: 'en' });

      expectProblem(await chat.post(PATH, GOOD), 'session_closed');
    });

    it('an account without a number', async () => {
      expectProblem(await chat.post(PATH, GOOD), 'chatapp_not_configured');
    });

    it('a suspended account', async () => {
      await chat.configure();
      await chat.customerWrote();
      await chat.db
        .collection<{ _id: string }>('accounts')
        .updateOne({ _id: chat.account }, { $set: { status: 'suspended' } });

      expectProblem(await chat.post(PATH, GOOD), 'account_suspended');
      await chat.expectNothingDone(3);
    });
  });

  it('Idempotency-Key: a message that costs nothing is stored once too', async () => {
    await chat.configure();
    await chat.customerWrote();
    await chat.post(PATH, GOOD);

    const first = await chat.post(PATH, GOOD, 'text-1');
    await chat.db.collection('idempotency').updateMany({}, { $unset: { answer: '' } });
    const again = await chat.post(PATH, GOOD, 'text-1');

    expect(first.status).to.equal(200);
    expect(again.body).to.deep.equal(first.body);
    expect(await messages()).to.have.length(2);
    expectProblem(await chat.post(PATH, { ...GOOD, message: 'x' }, 'text-1'), 'idempotency_key_reused');
  });
});

const BUTTONS_PATH = '/v2/chatapp/send-buttons';
const YES = { id: 'yes', title: 'Yes' };
const NO = { id: 'no', title: 'No' };
const BUTTONS = { to: CUSTOMER, body: 'Confirm?', buttons: [YES, NO] };

describe('POST /v2/chatapp/send-buttons', () => {
  const chat = chatAtGateway(3);
  beforeEach(async () => {
    await chat.configure();
    await chat.customerWrote();
  });

  describe('200', () => {
    it('answers exactly the two fields and stores the buttons in order', async () => {
      const { status, body } = await chat.post(BUTTONS_PATH, BUTTONS);

      expect(status, JSON.stringify(body)).to.equal(200);
      const [message] = await chat.db
        .collection<ChatMessageDocument>('messages')
        .find({ account: chat.account })
        .toArray();
      expect(body).to.deep.equal({ status: 'success', message_id: message?._id });
      expect(message?.content).to.deep.equal({ kind: 'buttons', body: 'Confirm?', buttons: [YES, NO] });
    });

    const rows: readonly [string, object][] = [
      ['one button', { ...BUTTONS, buttons: [YES] }],
      [
        'three with the longest of everything',
        {
          to: CUSTOMER,
          body: 'b'.repeat(1_024),
          buttons: ['1', '2', '3'].map((n) => ({ id: n.repeat(256), title: `${n}${'😀'.repeat(19)}` })),
        },
      ],
      ['an id with a space inside', { ...BUTTONS, buttons: [{ id: 'a b', title: 'A' }] }],
      ['titles that differ in case', { ...BUTTONS, buttons: [YES, { id: 'YES', title: 'YES' }] }],
    ];
    for (const [what, body] of rows) {
      it(`takes ${what}`, async () => {
        const answer = await chat.post(BUTTONS_PATH, body);

        expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
      });
    }
  });

  describe('400', () => {
    const button = (overrides: object) => ({ ...BUTTONS, buttons: [YES, { ...NO, ...overrides }] });
    const rows: readonly [string, object, string, string][] = [
      ['no buttons', { ...BUTTONS, buttons: undefined }, 'buttons', 'missing_field'],
      ['no entry', { ...BUTTONS, buttons: [] }, 'buttons', 'wrong_count'],
      [
        'four buttons',
        { ...BUTTONS, buttons: [YES, NO, { id: '3', title: '3' }, { id: '4', title: '4' }] },
        'buttons',
        'wrong_count',
      ],
      ['an object', { ...BUTTONS, buttons: { 0: YES } }, 'buttons', 'wrong_type'],
      ['a button that is a word', { ...BUTTONS, buttons: [YES, 'No'] }, 'buttons[1]', 'wrong_type'],
      ['equal titles', button({ title: 'Yes' }), 'buttons[1].title', 'duplicate'],
      ['equal ids', button({ id: 'yes' }), 'buttons[1].id', 'duplicate'],
      ['no title', button({ title: undefined }), 'buttons[1].title', 'missing_field'],
      ['an empty title', button({ title: '' }), 'buttons[1].title', 'too_short'],
      ['a blank title', button({ title: '   ' }), 'buttons[1].title', 'too_short'],
      ['an over-long title', button({ title: 't'.repeat(21) }), 'buttons[1].title', 'too_long'],
      ['no id', button({ id: undefined }), 'buttons[1].id', 'missing_field'],
      ['an id that is a number', button({ id: 7 }), 'buttons[1].id', 'wrong_type'],
      ['an over-long id', button({ id: 'i'.repeat(257) }), 'buttons[1].id', 'too_long'],
      ['an id with a space before it', button({ id: ' no' }), 'buttons[1].id', 'invalid_value'],
      ['an id with a line break behind it', button({ id: 'no\n' }), 'buttons[1].id', 'invalid_value'],
      ['a member that is none', button({ type: 'reply' }), 'buttons[1].type', 'unknown_field'],
      ['no body', { ...BUTTONS, body: undefined }, 'body', 'missing_field'],
      ['an empty body', { ...BUTTONS, body: '' }, 'body', 'too_short'],
      ['an over-long body', { ...BUTTONS, body: 'b'.repeat(1_025) }, 'body', 'too_long'],
    ];
    for (const [what, body, field, code] of rows) {
      it(`${what}, and nothing is charged`, async () => {
        const answer = await chat.post(BUTTONS_PATH, body);

        expectProblem(answer, 'invalid_request');
        expect(answer.body.errors, JSON.stringify(answer.body.errors)).to.have.length(1);
        expect(answer.body.errors[0]).to.include({ field, code });
        await chat.expectNothingDone(3);
      });
    }

    it('says all that is wrong with all buttons', async () => {
      const buttons = [YES, { id: '', title: 'Yes' }, { id: 'x', title: 'Yes' }, { id: 'y', title: '' }];

      const { body } = await chat.post(BUTTONS_PATH, { ...BUTTONS, buttons });

      expect(body.errors.map(({ field }: { field: string }) => field)).to.have.members([
        'buttons',
        'buttons[1].id',
        'buttons[2].title',
        'buttons[3].title',
      ]);
    });
  });

  it('403: the session closed', async () => {
    expectProblem(await chat.post(BUTTONS_PATH, { ...BUTTONS, to: '919876543299' }), 'session_closed');
    await chat.expectNothingDone(3);
  });
});

const MEDIA_PATH = '/v2/chatapp/send-media';
const MEDIA = { to: CUSTOMER, type: 'image', url: 'https://media.example/a.png', caption: 'Invoice' };

describe('POST /v2/chatapp/send-media', () => {
  const chat = chatAtGateway(3);
  beforeEach(async () => {
    await chat.configure();
    await chat.customerWrote();
  });
  const messages = () => chat.db.collection<ChatMessageDocument>('messages').find({ account: chat.account }).toArray();

  describe('200', () => {
    it('answers exactly the three fields, with a media_id of its own', async () => {
      const { status, body } = await chat.post(MEDIA_PATH, MEDIA);

      expect(status, JSON.stringify(body)).to.equal(200);
      const [message] = await messages();
      expect(body).to.deep.equal({
        status: 'success',
        message_id: message?._id,
        media_id: `med_${message?._id.slice(4)}`,
      });
      expect(message?.content).to.deep.equal({
        kind: 'media',
        type: 'image',
        url: 'https://media.example/a.png',
        caption: 'Invoice',
      });
    });

    const files: readonly [string, string][] = [
      ['image', 'a.jpg'],
      ['image', 'a.JPEG?v=1#x'],
      ['video', 'clip.mp4'],
      ['audio', 'v1.2/a.mp3'],
      ['audio', 'a.ogg'],
      ['document', 'invoice.2026.pdf'],
      ['sticker', 'a.webp'],
      ['document', 'files/4711'],
      ['image', 'report.2026'],
      ['video', ''],
    ];
    for (const [type, file] of files) {
      it(`takes ${type} at /${file}`, async () => {
        const { caption: _, ...body } = MEDIA;

        const answer = await chat.post(MEDIA_PATH, { ...body, type, url: `https://media.example/${file}` });

        expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
      });
    }
  });

  describe('400', () => {
    const rows: readonly [string, object, string, string, RegExp?][] = [
      [
        'a type that is none',
        { ...MEDIA, type: 'gif' },
        'type',
        'invalid_value',
        /image, video, audio, document, sticker/,
      ],
      ['no type', { ...MEDIA, type: undefined }, 'type', 'missing_field'],
      ['no url', { ...MEDIA, url: undefined }, 'url', 'missing_field'],
      ['a gif', { ...MEDIA, url: 'https://media.example/a.gif' }, 'url', 'unsupported_media_type', /not \.gif/],
      ['a video as an image', { ...MEDIA, url: 'https://media.example/a.mp4' }, 'url', 'unsupported_media_type'],
      ['a 3gp', { ...MEDIA, type: 'video', url: 'https://media.example/a.3gp' }, 'url', 'unsupported_media_type'],
      [
        'a Word document',
        { ...MEDIA, type: 'document', url: 'https://m.example/a.docx' },
        'url',
        'unsupported_media_type',
      ],
      [
        'a caption of audio',
        { ...MEDIA, type: 'audio', url: 'https://media.example/a.mp3' },
        'caption',
        'conflict',
        /takes no caption/,
      ],
      ['a caption of a sticker', { ...MEDIA, type: 'sticker', url: 'https://m.example/a' }, 'caption', 'conflict'],
      ['an empty caption', { ...MEDIA, caption: '' }, 'caption', 'too_short'],
      ['an over-long caption', { ...MEDIA, caption: 'a'.repeat(1_025) }, 'caption', 'too_long'],
    ];
    for (const [what, body, field, code, detail] of rows) {
      it(`${what}, and nothing is charged`, async () => {
        const answer = await chat.post(MEDIA_PATH, body);

        expectProblem(answer, 'invalid_request');
        expect(answer.body.errors).to.have.length(1);
        expect(answer.body.errors[0]).to.include({ field, code });
        if (detail !== undefined) expect(answer.body.errors[0].detail).to.match(detail);
        await chat.expectNothingDone(3);
      });
    }

    const urls: readonly [string, string][] = [
      ['http', 'http://media.example/a.png'],
      ['another scheme', 'ftp://media.example/a.png'],
      ['no address', 'a.png'],
      ['a space before it', ' https://media.example/a.png'],
      ['a line break in it', 'https://media.example/a\n.png'],
      ['a user in it', 'https://me:pass@media.example/a.png'],
      ['a private address', 'https://10.0.0.1/a.png'],
      ['loopback', 'https://[::1]/a.png'],
      ['the metadata address, oddly written', 'https://0xA9FEA9FE/a.png'],
      ['too long', `https://media.example/${'a'.repeat(2_050)}`],
    ];
    for (const [what, url] of urls) {
      it(`url: ${what}`, async () => {
        const answer = await chat.post(MEDIA_PATH, { ...MEDIA, url });

        expectProblem(answer, 'url_not_allowed');
        expect(answer.body.errors).to.have.length(1);
        expect(answer.body.errors[0]).to.include({ field: 'url', code: 'url_not_allowed' });
        await chat.expectNothingDone(3);
      });
    }

    it('says a bad url among all else that is wrong', async () => {
      const answer = await chat.post(MEDIA_PATH, {
        ...MEDIA,
        url: 'http://media.example/a.exe',
        type: 'video',
        to: '1',
      });

      expectProblem(answer, 'invalid_request');
      const errors = answer.body.errors.map(({ field, code }: { field: string; code: string }) => `${field} ${code}`);
      expect(errors).to.have.members(['to invalid_phone', 'url unsupported_media_type', 'url url_not_allowed']);
    });
  });

  it('403: the session closed', async () => {
    const answer = await chat.post(MEDIA_PATH, { ...MEDIA, to: '919876543299' });

    expectProblem(answer, 'session_closed');
    expect(answer.body.session_closed_at).to.equal(null);
  });

  describe('the host of the url', () => {
    const asked: string[] = [];
    const resolveHost = async (host: string): Promise<readonly string[]> => {
      asked.push(host);
      if (host.startsWith('inside')) return ['93.184.215.14', '10.0.0.7'];
      if (host.startsWith('silent')) return new Promise(() => {});
      throw Object.assign(new Error('no such host'), { code: 'ENOTFOUND' });
    };
    let gateway: TestGateway;
    let key: string;
    const send = (url: string, change: object = {}) =>
      request(gateway.url)
        .post(MEDIA_PATH)
        .set('Authorization', `Bearer ${key}`)
        .send({ ...MEDIA, url, ...change });

    beforeEach(async () => {
      asked.length = 0;
      const config = { ...TEST_CONFIG, chatMediaAllowHttp: 'yes' } as const;
      gateway = await openGateway(chat.db, { resolveHost, config });
      key = await makeKey(chat.db, chat.account);
    });
    afterEach(() => gateway.close());

    it('may be unknown to this machine, or slow to be found: the provider fetches the file', async () => {
      for (const url of [
        'http://nowhere.example/a.png',
        'https://nowhere.example/b.png',
        'https://nowhere.example/c.png',
        'https://silent.example/a.png',
      ]) {
        const { status, body } = await send(url);
        expect(status, JSON.stringify(body)).to.equal(200);
      }

      expect((await send('http://93.184.215.14/a.png')).status).to.equal(200);
      expect(asked, 'once for each origin').to.deep.equal(['nowhere.example', 'nowhere.example', 'silent.example']);
    });

    it('400: it leads to a private address', async () => {
      for (const answer of [
        await send('https://inside.example/b.png'),
        await send('https://inside.example/b.png', { dry_run: true }),
      ]) {
        expectProblem(answer, 'url_not_allowed');
        expect(answer.body.detail).to.include('private or reserved address');
      }
      await chat.expectNothingDone(3);
    });

    it('is not looked up for what is refused anyway', async () => {
      const closed = { to: '919876543299' };

      expectProblem(await send('https://inside.example/b.png', closed), 'session_closed');
      expectProblem(await send('https://nowhere.example/b.png', { ...closed, dry_run: true }), 'session_closed');
      expectProblem(await send('https://inside.example/b.png', { caption: '' }), 'invalid_request');
      expectProblem(await send('https://10.0.0.1/b.png', closed), 'url_not_allowed');

      expect(asked).to.deep.equal([]);
    });
  });
});
