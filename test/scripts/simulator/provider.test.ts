import { createHmac } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startProvider } from '../../../scripts/simulator/provider.ts';
import { eventually } from '../../support/eventually.ts';
import { use } from '../../support/use.ts';

const APP_SECRET = 'app_secret';
const VERIFY = 'verify me';

interface Post {
  readonly signed: boolean;
  readonly body: {
    readonly object: string;
    readonly entry: readonly {
      readonly changes: readonly { readonly value: Readonly<Record<string, readonly Record<string, unknown>[]>> }[];
    }[];
  };
}

describe('the simulated chat-app provider', () => {
  const provider = use(() => startProvider({ statusDelayMs: 5, retryMs: 5 }));
  let app: Server;
  let appUrl: string;
  const posts: Post[] = [];
  let answers: number[] = [];

  before(async () => {
    app = createServer((request, response) => {
      const url = new URL(request.url ?? '', 'http://app');
      if (request.method === 'GET') {
        const ok = url.searchParams.get('hub.verify_token') === VERIFY;
        response.writeHead(ok ? 200 : 403).end(ok ? url.searchParams.get('hub.challenge') : 'no');
        return;
      }
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const body = Buffer.concat(chunks);
        const wanted = `sha256=${createHmac('sha256', APP_SECRET).update(body).digest('hex')}`;
        const status = answers.shift() ?? 200;
        if (status === 200) {
          posts.push({ signed: request.headers['x-hub-signature-256'] === wanted, body: JSON.parse(body.toString()) });
        }
        response.writeHead(status).end();
      });
    });
    await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve));
    appUrl = `http://127.0.0.1:${(app.address() as AddressInfo).port}/callback`;
    await provider.enterApp({ url: appUrl, appSecret: APP_SECRET, verifyToken: VERIFY });
  });
  after(async () => {
    app.closeAllConnections();
    await new Promise((resolve) => app.close(resolve));
  });
  beforeEach(() => {
    posts.length = 0;
    answers = [];
  });

  async function send(body: object, token = provider.options.token) {
    const answer = await fetch(`${provider.url}/v23.0/${provider.options.phoneNumberId}/messages`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ messaging_product: 'whatsapp', ...body }),
    });
    const json = (await answer.json()) as {
      readonly messages?: readonly { readonly id: string }[];
      readonly error?: { readonly code: number };
    };
    return { status: answer.status, id: json.messages?.[0]?.id, code: json.error?.code };
  }
  const template = (to: string, texts: readonly string[] = ['Asha', '1234']) => ({
    to: `+${to}`,
    type: 'template',
    template: {
      name: 'order_update',
      language: { code: 'en_US' },
      components: [{ type: 'body', parameters: texts.map((text) => ({ type: 'text', text })) }],
    },
  });
  const values = () =>
    posts.flatMap(({ body }) => body.entry.flatMap(({ changes }) => changes.map(({ value }) => value)));
  const statusesOf = (id: string | undefined) =>
    values()
      .flatMap(({ statuses = [] }) => statuses)
      .filter((status) => status.id === id)
      .map(({ status }) => status);

  it('takes a template and posts sent, delivered and read, signed over the raw body', async () => {
    const { status, id } = await send(template('919876543210'));

    expect(status).equal(200);
    await eventually(() => statusesOf(id).length === 3, 'three statuses');
    expect(statusesOf(id)).deep.equal(['sent', 'delivered', 'read']);
    expect(posts.map(({ signed, body }) => [signed, body.object])).deep.include([true, 'whatsapp_business_account']);
    expect(posts.every(({ signed }) => signed)).equal(true);
  });

  for (const [what, body, status, code] of [
    ['a wrong number of parameters', template('919876543210', ['Asha']), 400, 132000],
    [
      'a template that it does not have',
      { to: '+919876543210', type: 'template', template: { name: 'nothing', language: { code: 'en_US' } } },
      404,
      132001,
    ],
    ['a text outside the session', { to: '+919876543299', type: 'text', text: { body: 'Hi' } }, 400, 131047],
    ['a number that is none', template('98'), 400, 100],
    ['a number without its plus sign', { ...template('919876543210'), to: '919876543210' }, 400, 100],
    [
      'a caption on audio',
      { to: '+919876543299', type: 'audio', audio: { link: 'https://example.com/a.ogg', caption: 'x' } },
      400,
      100,
    ],
    ['a customer whose number ends in 302', template('919876543302'), 400, 131026],
  ] as const) {
    it(`refuses ${what} with ${code}`, async () => {
      expect(await send(body)).deep.equal({ status, id: undefined, code });
    });
  }

  for (const [customer, file] of [
    ['919876543212', 'unfetchable.jpg'],
    ['919876543315', 'parcel.jpg'],
  ] as const) {
    it(`takes media that it cannot fetch, and says so in a status: ${file} to …${customer.slice(-3)}`, async () => {
      provider.says(customer, 'Show me');

      const link = `https://media.example.com/${file}`;
      const { status, id } = await send({ to: `+${customer}`, type: 'image', image: { link } });

      expect(status).equal(200);
      await eventually(() => statusesOf(id).length === 1, 'the status');
      expect(statusesOf(id)).deep.equal(['failed']);
    });
  }

  it('knows no other number id', async () => {
    const answer = await fetch(`${provider.url}/v23.0/1/messages`, { method: 'POST', body: '{}' });

    const { error } = (await answer.json()) as { readonly error: object };
    expect(answer.status).equal(400);
    expect(error).deep.include({ type: 'GraphMethodException', code: 100, error_subcode: 33 });
  });

  it('lets nobody in with another token', async () => {
    expect(await send(template('919876543210'), 'stolen')).deep.include({ status: 401, code: 190 });
  });

  it('opens a session when a customer writes, and posts what they wrote until it is answered with 200', async () => {
    answers = [500, 503];
    const id = provider.says('919876543211', 'Where is my order?');

    await eventually(() => values().length === 1, 'the message');
    expect(values()[0]?.messages?.[0]).deep.include({
      from: '919876543211',
      id,
      type: 'text',
      text: { body: 'Where is my order?' },
    });
    expect(await send({ to: '+919876543211', type: 'text', text: { body: 'On its way' } })).deep.include({
      status: 200,
    });
    // That text's statuses follow.
    await eventually(() => provider.pendingCallbacks() === 0, 'all was taken');
  });

  it('opens no session when a customer deletes a message, or writes in a group', async () => {
    provider.sends('919876543213', { type: 'revoke', revoke: { original_message_id: 'wamid.0' } });
    provider.sends('919876543213', { type: 'text', text: { body: 'Hi all' }, group_id: 'Y2FwaV9ncm91cDox' });

    const { code } = await send({ to: '+919876543213', type: 'text', text: { body: 'Hello' } });

    expect(code).equal(131047);
    await eventually(() => provider.pendingCallbacks() === 0, 'all was taken');
  });

  it('a customer with a user name shows no number until asked, and is told to have another one', async () => {
    const at = (path: string) => `${provider.url}/customers/919876543218/${path}`;
    const profile = { user_id: 'IN.41', parent_user_id: 'IN.ENT.7', username: 'asha.rao', shows_number: false };
    await fetch(at('profile'), { method: 'PUT', body: JSON.stringify(profile) });
    await fetch(at('says'), { method: 'POST', body: 'Hello' });
    const asking = { type: 'request_contact_info', body: { text: '?' }, action: { name: 'request_contact_info' } };
    expect((await send({ recipient: 'IN.41', type: 'interactive', interactive: asking })).status).to.equal(200);
    await fetch(at('presses'), { method: 'POST', body: 'Share contact info' });
    await fetch(at('moves'), { method: 'POST', body: '919876543219' });

    const [hello, shared, moved] = values().flatMap(({ messages = [] }) => messages as readonly object[]);
    expect(hello).to.include({ from_user_id: 'IN.41', from_parent_user_id: 'IN.ENT.7' }).and.not.have.property('from');
    expect(shared).to.have.nested.property('contacts[0].phones[0].wa_id', '919876543218');
    expect(moved).to.have.property('system').that.include({ user_id: 'IN.42', previous_user_id: 'IN.41' });
    await eventually(() => provider.pendingCallbacks() === 0, 'all was taken');
  });

  it('whoever lets a customer write is answered when the app has it: the session is open then', async () => {
    answers = [503, 503, 200];

    const answer = await fetch(`${provider.url}/customers/919876543217/says`, { method: 'POST', body: 'Where is it?' });

    expect(answer.status).to.equal(200);
    const { id } = (await answer.json()) as { readonly id: string };
    expect(values().flatMap(({ messages = [] }) => messages.map((message) => message.id))).to.deep.equal([id]);
  });

  it('a number that ends in 304 is limited twice and then taken', async () => {
    const body = template('919876543304');

    const codes = [await send(body), await send(body), await send(body)].map(({ code }) => code);

    expect(codes).deep.equal([130429, 130429, undefined]);
  });

  it('lists its templates page by page', async () => {
    const names: string[] = [];
    let next: string | undefined = `${provider.url}/v23.0/${provider.options.businessId}/message_templates`;
    let pages = 0;
    while (next !== undefined) {
      const answer: Response = await fetch(next, { headers: { authorization: `Bearer ${provider.options.token}` } });
      const page = (await answer.json()) as { data: { name: string }[]; paging?: { next?: string } };
      names.push(...page.data.map(({ name }) => name));
      next = page.paging?.next;
      pages += 1;
    }

    expect(pages).equal(Math.ceil(provider.options.templates.length / provider.options.pageSize));
    expect(names).deep.equal(provider.options.templates.map(({ name }) => name));
  });

  it('enters no address that fails the verify challenge', async () => {
    const error = await provider.enterApp({ url: appUrl, appSecret: APP_SECRET, verifyToken: 'wrong' }).then(
      () => undefined,
      (reason: Error) => reason,
    );

    expect(error?.message).contain('403');
  });
});
