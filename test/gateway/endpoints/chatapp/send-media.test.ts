import request from 'supertest';
import type { ChatMessageDocument } from '../../../../shared/messages/document/chat-message.ts';
import { CUSTOMER, chatAtGateway } from '../../../support/chat-gateway.ts';
import { makeKey, openGateway, TEST_CONFIG, type TestGateway } from '../../../support/gateway.ts';
import { expectProblem } from '../../../support/problem.ts';

const PATH = '/v2/chatapp/send-media';
const GOOD = { to: CUSTOMER, type: 'image', url: 'https://media.example/a.png', caption: 'Invoice' };

describe('POST /v2/chatapp/send-media', () => {
  const chat = chatAtGateway(3);
  beforeEach(async () => {
    await chat.configure();
    await chat.customerWrote();
  });
  const messages = () => chat.db.collection<ChatMessageDocument>('messages').find({ account: chat.account }).toArray();

  describe('200', () => {
    it('answers exactly the three fields, with a media_id of its own', async () => {
      const { status, body } = await chat.post(PATH, GOOD);

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
        const { caption: _, ...body } = GOOD;

        const answer = await chat.post(PATH, { ...body, type, url: `https://media.example/${file}` });

        expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
      });
    }
  });

  describe('400', () => {
    const rows: readonly [string, object, string, string, RegExp?][] = [
      [
        'a type that is none',
        { ...GOOD, type: 'gif' },
        'type',
        'invalid_value',
        /image, video, audio, document, sticker/,
      ],
      ['no type', { ...GOOD, type: undefined }, 'type', 'missing_field'],
      ['no url', { ...GOOD, url: undefined }, 'url', 'missing_field'],
      ['a gif', { ...GOOD, url: 'https://media.example/a.gif' }, 'url', 'unsupported_media_type', /not \.gif/],
      ['a video as an image', { ...GOOD, url: 'https://media.example/a.mp4' }, 'url', 'unsupported_media_type'],
      ['a 3gp', { ...GOOD, type: 'video', url: 'https://media.example/a.3gp' }, 'url', 'unsupported_media_type'],
      [
        'a Word document',
        { ...GOOD, type: 'document', url: 'https://m.example/a.docx' },
        'url',
        'unsupported_media_type',
      ],
      [
        'a caption of audio',
        { ...GOOD, type: 'audio', url: 'https://media.example/a.mp3' },
        'caption',
        'conflict',
        /takes no caption/,
      ],
      ['a caption of a sticker', { ...GOOD, type: 'sticker', url: 'https://m.example/a' }, 'caption', 'conflict'],
      ['an empty caption', { ...GOOD, caption: '' }, 'caption', 'too_short'],
      ['an over-long caption', { ...GOOD, caption: 'a'.repeat(1_025) }, 'caption', 'too_long'],
    ];
    for (const [what, body, field, code, detail] of rows) {
      it(`${what}, and nothing is charged`, async () => {
        const answer = await chat.post(PATH, body);

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
        const answer = await chat.post(PATH, { ...GOOD, url });

        expectProblem(answer, 'url_not_allowed');
        expect(answer.body.errors).to.have.length(1);
        expect(answer.body.errors[0]).to.include({ field: 'url', code: 'url_not_allowed' });
        await chat.expectNothingDone(3);
      });
    }

    it('says a bad url among all else that is wrong', async () => {
      const answer = await chat.post(PATH, { ...GOOD, url: 'http://media.example/a.exe', type: 'video', to: '1' });

      expectProblem(answer, 'invalid_request');
      const errors = answer.body.errors.map(({ field, code }: { field: string; code: string }) => `${field} ${code}`);
      expect(errors).to.have.members(['to invalid_phone', 'url unsupported_media_type', 'url url_not_allowed']);
    });
  });

  it('403: the session closed', async () => {
    const answer = await chat.post(PATH, { ...GOOD, to: '919876543299' });

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
        .post(PATH)
        .set('Authorization', `Bearer ${key}`)
        .send({ ...GOOD, url, ...change });

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
