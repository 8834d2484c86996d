import assert from 'node:assert/strict';
import request from 'supertest';
import { disposition, safeType } from '../../../../gateway/endpoints/chatapp/file-headers.ts';
import {
  FILE_BYTES_MAX,
  judgeFile,
  judgeLookUp,
  judgeNumber,
} from '../../../../gateway/endpoints/chatapp/provider-files.ts';
import { PROBLEMS, type ProblemSlug } from '../../../../gateway/http/problem.ts';
import type { ProviderDocument } from '../../../../shared/carriers/providers/provider.ts';
import { pauseProvider, providersOf, stopProvider } from '../../../../shared/carriers/providers/store.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { eventually } from '../../../support/eventually.ts';
import { makeKey } from '../../../support/gateway.ts';
import { makeAccount } from '../../../support/make.ts';
import { expectProblem } from '../../../support/problem.ts';
import { boxOf } from '../../../support/secret-box.ts';
import { signedIn } from '../../../support/signed-in.ts';
import { type MediaWorld, openHost, openMediaWorld, PHOTO } from './get-media-world.ts';

/** For a problem received as bytes. */
function expectRefusal(answer: request.Response, slug: ProblemSlug): void {
  expectProblem({ ...answer, headers: answer.headers, body: JSON.parse(String(answer.body)) }, slug);
}

describe('GET /v2/chatapp/media/{message_id}', () => {
  let world: MediaWorld;
  beforeEach(async () => {
    world = await openMediaWorld({}, { fileTimes: { idleMs: 60_000, wholeMs: 60_000 } });
  });
  afterEach(() => world.close());

  /** A slot is free when the provider's connection has closed, after the answer's end. */
  const nothingLeft = () => eventually(async () => (await world.inFlight()) === 0, 'no slot is taken');

  describe('200', () => {
    it('a photo comes as it was sent, and nothing of it can run on this origin', async () => {
      const answer = await world.get(await world.sent(PHOTO));

      expect(answer.status).to.equal(200);
      expect(answer.body).to.deep.equal(PHOTO.content);
      expect(answer.headers).to.include({
        'content-type': 'image/jpeg',
        'content-length': String(6),
        'x-content-type-options': 'nosniff',
        'cross-origin-resource-policy': 'same-origin',
        'cache-control': 'no-store',
        'accept-ranges': 'bytes',
      });
      expect(answer.headers['content-security-policy']).to.match(/default-src 'none'.*;sandbox/);
      expect(answer.headers['content-disposition']).to.match(/^inline; filename="msg_\w+\.jpg"$/);
      await nothingLeft();
      expect(await world.results()).to.deep.equal({ sent: 1 });
    });

    it('a document is stored under its name; a page is no page', async () => {
      const pdf = { type: 'document', mime: 'application/pdf', content: Buffer.from('%PDF'), name: 'Bill 7.pdf' };
      const page = {
        type: 'document',
        mime: 'text/html',
        content: Buffer.from('<script>'),
        name: '../x".html\r\nA: b',
      };
      const [first, second] = [await world.get(await world.sent(pdf)), await world.get(await world.sent(page))];

      expect(first.headers['content-type']).to.equal('application/pdf');
      expect(first.headers['content-disposition']).to.equal('attachment; filename="Bill 7.pdf"');
      expect(second.headers['content-type']).to.equal('application/octet-stream');
      expect(second.headers['content-disposition']).to.equal('attachment; filename="_x_.htmlA_ b"');
      expect(second.body).to.deep.equal(page.content);
    });

    it('a voice note has its codec', async () => {
      const note = { type: 'audio', mime: 'audio/ogg; codecs=opus', content: Buffer.from('OggS') };
      const { headers } = await world.get(await world.sent(note));

      expect(headers['content-type']).to.equal('audio/ogg; codecs="opus"');
    });

    it('a part of it, as Safari asks for sound and films', async () => {
      const content = Buffer.from(Array.from({ length: 300_000 }, (_, i) => i % 251));
      const id = await world.sent({ type: 'video', mime: 'video/mp4', content });
      const part = (range: string, more = {}) => world.get(id).set({ Range: range, ...more });

      for (const [range, first, last] of [
        ['bytes=0-1', 0, 1],
        ['bytes=150000-299998', 150_000, 299_998],
        ['bytes=299999-', 299_999, 299_999],
        ['bytes=-70000', 230_000, 299_999],
        ['bytes=0-999999', 0, 299_999],
      ] as const) {
        const answer = await part(range);
        expect([answer.status, answer.headers['content-range']], range).to.deep.equal([
          206,
          `bytes ${first}-${last}/300000`,
        ]);
        expect(answer.headers['content-length']).to.equal(String(last - first + 1));
        expect(content.subarray(first, last + 1).equals(answer.body), range).to.equal(true);
      }
      for (const range of ['bytes=300000-', 'bytes=5-4', 'bytes=-0', 'bytes=-', 'bytes=0-1,5-6', 'lines=0-1']) {
        const answer = await part(range);
        expect([answer.status, answer.body.length], range).to.deep.equal([200, 300_000]);
        expect(answer.headers).to.not.have.property('content-range');
      }
      expect((await part('bytes=0-1', { 'If-Range': '"a"' })).status).to.equal(200);
      await nothingLeft();
      expect(await world.results()).to.deep.equal({ sent: 12 });
    });

    it('a session that may read gets it, by a link of its own page only', async () => {
      const id = await world.sent(PHOTO);
      const { headers, user } = await signedIn(world.db, 'viewer', world.account);
      const { Cookie = '' } = headers;
      const ask = (by: string) =>
        request(world.gateway.url).get(`/v2/chatapp/media/${id}?user=${by}`).set('Cookie', Cookie);

      expect((await ask(user._id)).status).to.equal(200);
      expectProblem(await ask(newId('usr')), 'other_user');
      expectProblem(
        await request(world.gateway.url).get(`/v2/chatapp/media/${id}?x=1`).set('Cookie', Cookie),
        'invalid_request',
      );
    });

    it('HEAD tells of the file, and does not fetch it', async () => {
      const id = await world.sent(PHOTO);
      const answer = await request(world.gateway.url)
        .head(`/v2/chatapp/media/${id}`)
        .set('Authorization', `Bearer ${world.key}`);

      expect(answer.status).to.equal(200);
      expect(answer.headers).to.include({ 'content-type': 'image/jpeg', 'content-length': '6' });
      expect(world.provider.fileReads()).to.deep.equal([]);
    });

    it('neither a pause nor a stop of the channel keeps files from anybody', async () => {
      const id = await world.sent(PHOTO);
      const [number] = (await providersOf(world.db, [world.account])).map(({ _id }) => _id);
      assert(number !== undefined, 'the account has a number');
      expect(await pauseProvider(world.db, number)).to.equal(true);
      expect((await world.get(id)).status).to.equal(200);
      expect(await stopProvider(world.db, number, 'provider_payment_problem')).to.equal(true);
      expect((await world.get(id)).status).to.equal(200);
    });

    it('a provider that has its files on another host, and tells no length', async () => {
      const host = await openHost((_, res) => res.write(Buffer.from('part one, ')) && res.end('part two'));
      const tells = await openHost((_, res) => res.end(JSON.stringify({ url: `http://localhost:${host.port}/a` })));
      const local = await openMediaWorld({}, { resolveHost: async () => ['127.0.0.1'] });
      try {
        await local.configure(local.account, { baseUrl: `http://127.0.0.1:${tells.port}/v23.0`, token: 'EAAother' });
        const answer = await local.get(await local.sent(PHOTO));

        expect([answer.status, String(answer.body)]).to.deep.equal([200, 'part one, part two']);
        expect(answer.headers).to.not.have.property('content-length');
        expect(answer.headers['accept-ranges']).to.equal('none');
        expect([...tells.asked, ...host.asked]).to.deep.equal(['Bearer EAAother', 'Bearer EAAother']);
      } finally {
        await local.close();
        tells.close();
        host.close();
      }
    });
  });

  describe('404', () => {
    it('a message of another account is answered like one that does not exist', async () => {
      const other = await makeAccount(world.db, 1);
      const ids = [await world.sent(PHOTO, other), newId('msg'), 'msg_1', '..'.repeat(3)];

      const answers = await Promise.all(ids.map((id) => world.get(id)));
      const bodies = answers.map(({ body }) => ({ ...JSON.parse(String(body)), request_id: '' }));
      for (const answer of answers) expectRefusal(answer, 'message_not_found');
      for (const body of bodies) expect(body).to.deep.equal(bodies[0]);
      expect(world.provider.fileReads()).to.deep.equal([]);
    });

    it('a message without a file', async () => {
      const without: readonly Readonly<Record<string, unknown>>[] = [
        { type: 'text' },
        { type: 'location', location: { latitude: 1, longitude: 2 } },
        { type: 'image' },
        { type: 'image', image: { id: '../4711' } },
        { type: 'image', image: { id: 4711 } },
        { type: 'constructor', constructor: { id: '4711' } },
        { type: 'unsupported', errors: [{ code: 131052 }] },
      ];
      for (const message of without) {
        expectRefusal(await world.get(await world.wrote(message)), 'message_without_file');
      }
    });
  });

  it('403: the key may not read; the account has no provider', async () => {
    const sends = await makeKey(world.db, world.account, ['send']);
    expectRefusal(await world.get(await world.sent(PHOTO), sends), 'scope_missing');

    const account = await makeAccount(world.db, 1);
    const key = await makeKey(world.db, account);
    expectRefusal(await world.get(await world.sent(PHOTO, account), key), 'chatapp_not_configured');
  });

  it('410: the provider has it no more', async () => {
    for (const fate of ['gone', 'lost'] as const) {
      expectRefusal(await world.get(await world.sent({ ...PHOTO, fate })), 'file_gone');
    }
    expect(await world.results()).to.deep.equal({ gone: 2 });
  });

  it('503: neither the file nor the number exists for the token, so the settings are wrong', async () => {
    await world.configure(world.account, { phoneNumberId: '4711' });
    expectRefusal(await world.get(await world.sent(PHOTO)), 'chatapp_stopped');

    expect(await world.results()).to.deep.equal({ refused: 1 });
    const line = world.lines.find(({ event }) => event === 'chatapp_file_not_fetched');
    expect([line?.level, line?.fields.code]).to.deep.equal(['warn', 'provider_access_denied']);
  });

  it('503: the token is refused, which an operator sees once, without the token', async () => {
    await world.configure(world.account, { token: 'EAAexpired' });
    const id = await world.sent(PHOTO);
    for (const answer of [await world.get(id), await world.get(id)]) expectRefusal(answer, 'chatapp_stopped');

    const lines = world.lines.filter(({ event }) => event === 'chatapp_file_not_fetched');
    expect(lines.map(({ level, fields }) => [level, fields.code])).to.deep.equal([['warn', 'provider_token_refused']]);
    expect(JSON.stringify(world.lines)).to.not.match(/EAA|hash=|9198/);
  });

  it('503: the provider is busy, slow, or away: later', async () => {
    const busy = await world.get(await world.sent({ ...PHOTO, fate: 'busy' }));
    expectRefusal(busy, 'provider_unavailable');
    expect(busy.headers['retry-after']).to.equal('7');

    await world.configure(world.account, { timeoutMs: 300 });
    expectRefusal(await world.get(await world.sent({ ...PHOTO, fate: 'silent' })), 'provider_unavailable');
    await world.configure(world.account, { baseUrl: 'http://127.0.0.1:9/v23.0', timeoutMs: 10_000 });
    expectRefusal(await world.get(await world.sent(PHOTO)), 'provider_unavailable');
    expect(PROBLEMS.provider_unavailable.retryable).to.equal(true);
    const codes = world.lines
      .filter(({ event }) => event === 'chatapp_file_not_fetched')
      .map(({ fields }) => fields.code);
    expect(codes).to.deep.equal(['file_http_503', 'timeout', 'connect_failed']);
  });

  it('503: the token was encrypted with another key', async () => {
    const token = boxOf(Buffer.alloc(32, 9)).seal('EAAother', ['providers', world.account, 'token']);
    await world.db.collection<ProviderDocument>('providers').updateOne({ account: world.account }, { $set: { token } });
    expectRefusal(await world.get(await world.sent(PHOTO)), 'secret_unreadable');
    await nothingLeft();
  });

  it('502: a redirect is not followed, and a file of more than 100 MB is not begun', async () => {
    expectRefusal(await world.get(await world.sent({ ...PHOTO, fate: 'redirect' })), 'file_unusable');
    const large = await world.get(await world.sent({ ...PHOTO, content: 104_857_601 }));
    expectRefusal(large, 'file_unusable');
    expect(JSON.parse(String(large.body)).detail).to.match(/more than 100 MB/);
    const head = request(world.gateway.url).head(
      `/v2/chatapp/media/${await world.sent({ ...PHOTO, content: 104_857_601 })}`,
    );
    expect((await head.set('Authorization', `Bearer ${world.key}`)).status).to.equal(502);
  });
});

const ANY = 'application/octet-stream';
const named = (name: string) => disposition('application/pdf', name, 'msg_1');

describe('the headers of a customer’s file', () => {
  it('types that a browser runs, and what is no type, are bytes', () => {
    const runs = ['text/html', 'TEXT/HTML; charset=utf-8', 'application/xhtml+xml', 'image/svg+xml', 'text/xml'];
    const odd = [
      'multipart/x-mixed-replace',
      'message/rfc822',
      'image',
      '',
      'image/',
      'a b/c',
      'image/png\r\nX: 1',
      'text/html,image/png',
    ];
    for (const said of [...runs, 'application/javascript', 'text/javascript', ...odd, undefined, 'x'.repeat(10_000)]) {
      expect(safeType(said), said).to.equal(ANY);
    }
  });

  it('other types stay, with their codecs and nothing else', () => {
    const docx = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
    for (const [said, type] of [
      ['image/jpeg', 'image/jpeg'],
      ['IMAGE/PNG ; x=1', 'image/png'],
      [docx, docx],
      ['text/plain; charset=utf-8', 'text/plain'],
      ['audio/ogg; codecs=opus', 'audio/ogg; codecs="opus"'],
      ['audio/ogg; codecs="op\r\nus"', 'audio/ogg'],
    ] as const) {
      expect(safeType(said)).to.equal(type);
    }
  });

  it('only pictures, sound and films are shown; their name is ours', () => {
    expect(disposition('image/webp', undefined, 'msg_1')).to.equal('inline; filename="msg_1.webp"');
    expect(disposition('audio/ogg; codecs="opus"', undefined, 'msg_1')).to.equal('inline; filename="msg_1.ogg"');
    for (const type of ['application/pdf', ANY, 'text/plain', 'image/tiff', 'font/woff2']) {
      expect(disposition(type, undefined, 'msg_1')).to.equal('attachment; filename="msg_1"');
    }
  });

  it('a name leads to no folder, hides nothing, and fits into the header', () => {
    for (const [given, header] of [
      ['Bill 7.pdf', 'filename="Bill 7.pdf"'],
      ['../../etc/passwd', 'filename="_.._etc_passwd"'],
      ['..\\C:\\a.pdf', 'filename="_C__a.pdf"'],
      ['"; filename="x.exe', 'filename="_; filename=_x.exe"'],
      ['a\r\nSet-Cookie: b=1\u0000.pdf', 'filename="aSet-Cookie_ b=1.pdf"'],
      ['invoice\u202efdp.exe', 'filename="invoicefdp.exe"'],
      ['\u200b\ufeff..', 'filename="msg_1"'],
      ['100%20.pdf', `filename="100_20.pdf"; filename*=UTF-8''100%2520.pdf`],
      [
        'Rechnung März (1).pdf',
        `filename="Rechnung M_rz (1).pdf"; filename*=UTF-8''Rechnung%20M%C3%A4rz%20%281%29.pdf`,
      ],
      ['😀.pdf', `filename="__.pdf"; filename*=UTF-8''%F0%9F%98%80.pdf`],
      ['\ud800.pdf', 'filename="pdf"'],
    ] as const) {
      expect(named(given)).to.equal(`attachment; ${header}`);
    }
  });

  it('a long name keeps its end', () => {
    expect(named(`${'a'.repeat(5_000)}.pdf`)).to.match(/^attachment; filename="a{120}"$/);
    expect(named(`${'a'.repeat(500)}.pdf`)).to.match(/^attachment; filename="a{116}\.pdf"$/);
    expect(named('अ'.repeat(500)).length).to.be.below(1_500);
  });
});

const error = (code: number, more: object = {}) => ({ error: { code, message: 'words', ...more } });
const look = (status: number, body: object | string, retryAfter?: string) =>
  judgeLookUp(status, Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), retryAfter);

describe('what the provider says of a file', () => {
  it('where it is; its length may be a string', () => {
    const url = 'https://lookaside.example.com/a?hash=1';
    expect(look(200, { url, mime_type: 'image/jpeg', sha256: 'x', file_size: '303833', id: '1' })).to.deep.equal({
      ...{ kind: 'located', url, mime: 'image/jpeg', bytes: 303_833 },
    });
    for (const size of [-1, 1.5, '', '1e3', null, 2 ** 60]) {
      expect(look(200, { url, file_size: size })).to.deep.equal({
        kind: 'located',
        url,
        mime: undefined,
        bytes: undefined,
      });
    }
  });

  it('how large it is: too large is known before it is asked for', () => {
    const url = 'https://lookaside.example.com/a';
    expect(look(200, { url, file_size: FILE_BYTES_MAX })).to.include({ kind: 'located' });
    expect(look(200, { url, file_size: FILE_BYTES_MAX + 1 })).to.deep.equal({ kind: 'unusable', code: 'too_large' });
  });

  it('that it is gone, refused, or may come later', () => {
    const cases = [
      [400, error(100, { error_subcode: 33, type: 'GraphMethodException' }), 'gone', 'provider_100'],
      [400, error(131_052), 'gone', 'provider_131052'],
      [400, error(100, { type: 'GraphMethodException' }), 'refused', 'invalid_parameter'],
      [401, error(190), 'refused', 'provider_token_refused'],
      [403, error(10), 'refused', 'provider_permission_missing'],
      [403, error(999_999), 'refused', 'provider_access_denied'],
      [400, error(999_999), 'refused', 'http_400'],
      [404, '<html>', 'refused', 'http_404'],
      [302, '', 'refused', 'http_302'],
      [401, '', 'refused', 'provider_access_denied'],
      [400, error(130_429), 'later', 'provider_throttled'],
      [500, error(131_000), 'later', 'provider_unavailable'],
      [400, error(1), 'later', 'http_400'],
      [400, error(999_999, { is_transient: true }), 'later', 'http_400'],
      [503, '<html>', 'later', 'http_503'],
      [429, '', 'later', 'http_429'],
      [200, '{"url":', 'later', 'unreadable_answer'],
    ] as const;
    for (const [status, body, kind, code] of cases) {
      expect(look(status, body), JSON.stringify(body)).to.deep.equal({ kind, code });
    }
  });

  it('that it has gone, unless the number is not to be seen either', () => {
    const told = (status: number, body: object) => judgeNumber(status, Buffer.from(JSON.stringify(body))).kind;
    expect(told(400, error(100, { error_subcode: 33, type: 'GraphMethodException' }))).to.equal('refused');
    expect(told(200, { id: '1055' })).to.equal('gone');
    expect(told(403, error(10)), 'a token that may only send and receive').to.equal('gone');
    expect(told(429, {})).to.equal('later');
    expect(told(404, {}), 'an API without that address').to.equal('gone');
  });

  it('how long to wait, within bounds', () => {
    expect(look(429, '', '9')).to.deep.include({ retryAfterS: 9 });
    expect(look(429, '', '99999')).to.deep.include({ retryAfterS: 300 });
    for (const odd of ['0', '-1', 'Fri, 31 Dec 1999 23:59:59 GMT'])
      expect(look(429, '', odd)).to.not.have.property('retryAfterS');
  });

  it('whether its bytes may be handed on', () => {
    const cases = [
      [200, {}, 7, undefined],
      [200, { length: '7' }, undefined, undefined],
      [200, { length: '7', coding: 'identity' }, 7, undefined],
      [200, { length: '8' }, 7, 'later wrong_length'],
      [200, { coding: 'gzip' }, 7, 'unusable content_coding'],
      [200, { length: String(FILE_BYTES_MAX + 1) }, undefined, 'unusable too_large'],
      [206, { length: '7' }, 7, 'unusable file_http_206'],
      [302, {}, 7, 'unusable redirect'],
      [400, {}, 7, 'unusable file_http_400'],
      [401, {}, 7, 'refused provider_access_denied'],
      [404, {}, 7, 'gone file_http_404'],
      [410, {}, 7, 'gone file_http_410'],
      [500, {}, 7, 'later file_http_500'],
    ] as const;
    for (const [status, said, promised, wanted] of cases) {
      const why = judgeFile(status, said, promised);
      expect(why && `${why.kind} ${why.code}`, `${status} ${JSON.stringify(said)}`).to.equal(wanted);
    }
  });
});
