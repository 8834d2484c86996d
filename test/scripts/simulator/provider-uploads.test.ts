import { type Provider, startProvider } from '../../../scripts/simulator/provider.ts';

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
