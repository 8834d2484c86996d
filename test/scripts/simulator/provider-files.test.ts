import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ProviderOptions } from '../../../scripts/simulator/provider/options.ts';
import { type Provider, startProvider } from '../../../scripts/simulator/provider.ts';
import { eventually } from '../../support/eventually.ts';

const PHOTO = Buffer.from('ffd8ffe000104a464946', 'hex');

interface Found {
  readonly url: string;
  readonly mime_type: string;
  readonly sha256: string;
  readonly file_size: number;
}

describe('the simulated chat-app provider: files of customers', () => {
  let provider: Provider;
  const start = async (options: Partial<ProviderOptions> = {}) => {
    provider = await startProvider(options);
  };
  afterEach(() => provider.close());

  const bearer = () => ({ authorization: `Bearer ${provider.options.token}` });
  const look = (id: string, query = '', headers: Readonly<Record<string, string>> = bearer()) =>
    fetch(`${provider.url}/v23.0/${id}${query}`, { headers });

  /** An app that answers every post with 200 and keeps the bodies in `posts`. */
  async function openApp() {
    const posts: string[] = [];
    const app = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
      if (chunks.length > 0) posts.push(Buffer.concat(chunks).toString('utf8'));
      response.end(new URL(request.url ?? '', 'http://app').searchParams.get('hub.challenge') ?? '');
    });
    await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve));
    const { port } = app.address() as AddressInfo; // it listens on TCP
    await provider.enterApp({ url: `http://127.0.0.1:${port}/`, appSecret: 's', verifyToken: 'v' });
    return { app, posts };
  }

  /** A customer sends a file by the paths for people. Returns what the app is told of it. */
  async function sendFile(query = ''): Promise<Readonly<Record<string, unknown>>> {
    const { app, posts } = await openApp();
    const answer = await fetch(`${provider.url}/customers/919876543210/files${query}`, {
      ...{ method: 'POST', headers: { 'content-type': 'image/jpeg' }, body: PHOTO },
    });
    app.closeAllConnections();
    app.close();
    expect(answer.status).to.equal(200);
    return JSON.parse(posts[0] ?? '').entry[0].changes[0].value.messages[0];
  }

  it('a person lets a customer send a photo: the message has its id, the id an address, the address the bytes', async () => {
    await start();
    const { image, type } = await sendFile('?caption=My+parcel');
    expect(type).to.equal('image');
    expect(image).to.deep.include({ mime_type: 'image/jpeg', caption: 'My parcel' });
    const { id } = image as { readonly id: string };

    const found = (await (await look(id, `?phone_number_id=${provider.options.phoneNumberId}`)).json()) as Found;
    const file = await fetch(found.url, { headers: bearer() });

    expect(found).to.include({ mime_type: 'image/jpeg', file_size: PHOTO.length });
    expect(Buffer.from(await file.arrayBuffer())).to.deep.equal(PHOTO);
    expect(file.headers.get('content-type')).to.equal('image/jpeg');
    expect(provider.fileReads()).to.deep.equal([{ id, sent: PHOTO.length, ended: 'whole' }]);
  });

  it('the token is demanded twice, and the number must be that of the file', async () => {
    await start();
    const { id } = (await sendFile()).image as { readonly id: string };
    const { url } = (await (await look(id)).json()) as Found;

    expect((await look(id, '', {})).status).to.equal(401);
    expect((await fetch(url)).status).to.equal(401);
    expect((await look(id, '?phone_number_id=4711')).status).to.equal(400);
    expect((await look('1234')).status).to.equal(400);
    expect((await fetch(url.replace('hash=', 'hash=x'), { headers: bearer() })).status).to.equal(404);
  });

  it('the address lives for its time, then the file', async () => {
    await start({ mediaUrlMs: -1 });
    const { id } = (await sendFile()).image as { readonly id: string };
    const { url } = (await (await look(id)).json()) as Found;
    expect((await fetch(url, { headers: bearer() })).status).to.equal(404);
    await provider.close();

    await start({ mediaKeptMs: 1 });
    const old = (await sendFile()).image as { readonly id: string };
    await eventually(async () => (await look(old.id)).status === 400, 'the file is gone');
  });

  it('a file that breaks off, one that is shorter than promised, and one that is a document', async () => {
    await start();
    const cut = (await sendFile('?fate=cut')).image as { readonly id: string };
    const { url } = (await (await look(cut.id)).json()) as Found;
    const answer = await fetch(url, { headers: bearer() });
    expect(await answer.arrayBuffer().catch(() => 'broken off')).to.equal('broken off');

    const short = (await sendFile('?fate=short')).image as { readonly id: string };
    const found = (await (await look(short.id)).json()) as Found;
    const body = await (await fetch(found.url, { headers: bearer() })).arrayBuffer();
    expect(body.byteLength).to.equal(found.file_size - 1);

    const { type, document } = await sendFile('?type=document&name=a.pdf');
    expect([type, (document as { readonly filename: string }).filename]).to.deep.equal(['document', 'a.pdf']);
  });
});

const PNG = Buffer.from('89504e470d0a1a0a', 'hex');
const START = `file_name=a.png&file_length=${PNG.length}&file_type=image/png`;

describe('the simulated chat-app provider: uploads', () => {
  let provider: Provider;
  beforeEach(async () => {
    provider = await startProvider();
  });
  afterEach(() => provider.close());

  async function post(path: string, body: Buffer | string, headers: Readonly<Record<string, string>> = {}) {
    const { token } = provider.options;
    const init = { method: 'POST', headers: { authorization: `OAuth ${token}`, ...headers }, body };
    const answer = await fetch(`${provider.url}/v23.0/${path}`, init);
    return { status: answer.status, body: (await answer.json()) as Readonly<Record<string, never>> };
  }
  const start = async (query = START, app = provider.options.appId) => post(`${app}/uploads?${query}`, '');
  const ask = (format: string, handle: string) => {
    const header = { type: 'HEADER', format, example: { header_handle: [handle] } };
    const components = [header, { type: 'BODY', text: 'Your order has left.' }];
    const body = JSON.stringify({ name: 'picture', language: 'en', category: 'UTILITY', components });
    const headers = { authorization: `Bearer ${provider.options.token}` };
    return post(`${provider.options.businessId}/message_templates`, body, headers);
  };

  it('a session, the bytes, a handle that a header of that type takes', async () => {
    const session = await start();
    expect(session.body.id).to.match(/^upload:.+\?sig=/);
    const { body } = await post(String(session.body.id), PNG, { file_offset: '0' });

    expect(provider.uploads()).to.deep.equal(['image/png']);
    for (const [format, handle] of [
      ['VIDEO', String(body.h)],
      ['IMAGE', '4::made-up'],
      ['IMAGE', 'https://shop.harkara.in/a.png'],
    ] as const) {
      const refused = await ask(format, handle);
      expect(refused.status).to.equal(400);
      expect(refused.body.error).to.include({ code: 131009, error_subcode: 2494102 });
    }
    expect((await ask('IMAGE', String(body.h))).status).to.equal(200);
  });

  it('refuses another app, type, length, scheme, offset, size and session', async () => {
    expect((await start(START, '4711')).body.error).to.include({ code: 100 });
    expect((await start(START.replace('image/png', 'image/gif'))).body.error).to.include({ code: 100 });
    expect((await start(START.replace(/file_length=\d+/, 'file_length=0'))).body.error).to.include({ code: 100 });
    const { id } = (await start()).body;
    const scheme = { authorization: `Bearer ${provider.options.token}`, file_offset: '0' };
    expect((await post(String(id), PNG, scheme)).status).to.equal(401);
    for (const [session, bytes, offset, type] of [
      [id, PNG, '1', 'OffsetInvalidError'],
      [id, PNG.subarray(1), '0', 'PartialRequestError'],
      ['upload:none', PNG, '0', 'SessionNotFoundError'],
    ] as const) {
      const { body } = await post(String(session), bytes, { file_offset: offset });
      expect(body.debug_info).to.include({ retriable: false, type });
    }
    expect(provider.uploads()).to.deep.equal([]);
  });
});
