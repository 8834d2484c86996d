import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ProviderDocument } from '../../../../shared/carriers/providers/provider.ts';
import { findProvider } from '../../../../shared/carriers/providers/store.ts';
import type { ChatMessageDocument } from '../../../../shared/messages/document/chat-message.ts';
import { isoTimestamp, systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { type ConversationId, idTime, newId } from '../../../../shared/platform/runtime/ids.ts';
import { HourCounter } from '../../../../workers/maintenance/count-hours.ts';
import { makeProvider, NUMBER, TEST_BOX } from '../../../support/chatapp.ts';
import { makeAccount } from '../../../support/make.ts';
import { makeChatMessage } from '../../../workers/chatapp/make.ts';
import { operatorAtGateway } from '../operators-world.ts';

interface Asked {
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

describe('chat-app numbers, by operators', () => {
  const world = operatorAtGateway(0);
  let provider: Server;
  let baseUrl: string;
  let answer: { readonly status: number; readonly body: object };
  const asked: Asked[] = [];
  before(async () => {
    provider = createServer(async (req, res) => {
      const body = Buffer.concat(await req.toArray()).toString();
      asked.push({ url: req.url, headers: req.headers, body: JSON.parse(body) });
      res.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body));
    });
    await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
    baseUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v23.0`;
  });
  after(() => provider.close());
  beforeEach(() => world.db.collection('providers').deleteMany({}));
  const set = (body: object) => world.patch(`/providers/${NUMBER}`, body as never);
  const stored = () => findProvider(world.db, NUMBER);

  it('are given with all that is needed; secrets are sealed, the verify token is shown once', async () => {
    const missing = (await set({ account_id: world.account, per_second: 40 })).body.errors.map(
      ({ field }: { field: string }) => field,
    );
    expect(missing).to.have.members(['base_url', 'phone_number_id', 'business_id', 'token', 'app_secret']);

    const { body, text } = await set({
      ...{ account_id: world.account, base_url: baseUrl, phone_number_id: '1055', business_id: '2055' },
      ...{ token: 'EAAtoken', app_secret: 'appsecret', per_second: 40 },
    });
    const made = await stored();
    expect(body, text).to.deep.include({ status: 'success', created: true });
    expect(body.provider).to.include({ per_second: 40, callback: `/chatapp/callback/${made?.callback}` });
    expect(TEST_BOX.open(made?.token ?? '', ['providers', NUMBER, 'token'])).to.equal('EAAtoken');
    expect(TEST_BOX.open(made?.verifyToken ?? '', ['providers', NUMBER, 'verifyToken'])).to.equal(body.verify_token);
    const later = await set({ opt_in: 'list' });
    expect(later.body).to.deep.include({ created: false, verify_token: null });
    const audit = JSON.stringify(await world.lastAudit());
    for (const said of [text, later.text, audit]) expect(said).not.to.match(/EAAtoken|appsecret|v1\./);
    expect((await set({ new_verify_token: true })).body.verify_token).to.be.a('string');
  });

  it('belong to one account: of operators who add one at once, one is told whose it is', async () => {
    const other = await makeAccount(world.db, 0);
    const settings = { base_url: baseUrl, business_id: '2055', token: 'EAAtoken', app_secret: 'appsecret' };
    const add = (number: string, account_id: string, phone_number_id: string) =>
      world.patch(`/providers/${number}`, { account_id, phone_number_id, ...settings });
    for (const [second, field] of [
      [NUMBER, 'account_id'],
      ['918000000002', 'phone_number_id'],
    ] as const) {
      await world.db.collection('providers').deleteMany({});
      const both = await Promise.all([add(NUMBER, world.account, '1055'), add(second, other, '1055')]);

      expect(both.map(({ status }) => status).sort()).to.deep.equal([200, 400]);
      const [made] = await world.db.collection<ProviderDocument>('providers').find().toArray();
      const refused = both.find(({ status }) => status === 400);
      expect(refused?.body.errors).to.have.length(1);
      expect(refused?.body.errors[0]).to.include({ field });
      expect(JSON.stringify(refused?.body.errors[0])).to.include(made?.account);
    }
    const [first, again] = await Promise.all([
      add('918000000003', world.account, '1057'),
      add('918000000003', world.account, '1057'),
    ]);
    expect([first?.body.created, again?.body.created].sort()).to.deep.equal([false, true]);
  });

  it('keep the token from another address', async () => {
    await makeProvider(world.db, world.account, { baseUrl });
    const { body } = await set({ base_url: 'https://elsewhere.example/v23.0' });

    expect(body.errors[0]).to.deep.include({ field: 'token', code: 'missing_field' });
    expect((await stored())?.baseUrl).to.equal(baseUrl);
  });

  it('send a test as the provider documents it, and say what it answers', async () => {
    await makeProvider(world.db, world.account, { baseUrl });
    answer = { status: 200, body: { messages: [{ id: 'wamid.HBgM' }] } };
    const test = (body: object) => world.post(`/providers/${NUMBER}/test`, { to: '919876543210', ...body });

    expect((await test({ params: ['Asha'] })).body).to.deep.equal({
      ok: true,
      words: 'The provider took it: wamid.HBgM',
    });
    expect(asked[0]?.url).to.equal('/v23.0/1055/messages');
    expect(asked[0]?.headers.authorization).to.equal('Bearer EAAtest');
    expect(asked[0]?.body).to.deep.equal({
      ...{ messaging_product: 'whatsapp', recipient_type: 'individual', type: 'template', to: '+919876543210' },
      template: {
        ...{ name: 'hello_world', language: { code: 'en_US' } },
        components: [{ type: 'body', parameters: [{ type: 'text', text: 'Asha' }] }],
      },
    });
    expect(JSON.stringify(await world.lastAudit())).not.to.match(/919876543210|EAAtest/);
    answer = { status: 401, body: { error: { code: 190, message: 'Access token has expired' } } };
    expect((await test({})).body).to.deep.equal({
      ...{ ok: false, words: 'The provider answered 401: (190) Access token has expired' },
    });
  });

  it('have a list of who opted in', async () => {
    const path = `/accounts/${world.account}/opt-ins`;
    const add = (customers: readonly string[]) => world.post(path, { customers });
    expect((await add(['919876543210', '+91 98765 43211', 'US.13491208655302741918'])).body).to.include({ added: 3 });
    expect((await add(['919876543210'])).body).to.include({ added: 0, known: 1 });
    const wrong = await add(['919876543212', 'nobody']);
    expect(wrong.body.errors[0].field).to.equal('customers[1]');

    const first = (await world.get(`${path}?limit=2`)).body;
    expect(first.data.map(({ customer }: { customer: string }) => customer)).to.deep.equal([
      '919876543210',
      '919876543211',
    ]);
    const rest = (await world.get(`${path}?limit=2&cursor=${first.next_cursor}`)).body;
    expect(rest.data.map(({ customer }: { customer: string }) => customer)).to.deep.equal(['US.13491208655302741918']);
    expect((await world.delete(`${path}/919876543211`)).status).to.equal(200);
    expect((await world.delete(`${path}/919876543211`)).body.code).to.equal('opt_in_not_found');
  });

  describe('have a price list', () => {
    const CARD =
      'Rates of 2026\nMarket;Currency;Marketing;Authentication-International;Service\nIndia;$US;$0,0118;n/a;0,0014\nother;$US;;0.03;0.0077\n';
    const put = (csv: string, more: object = {}) =>
      world.put(`/accounts/${world.account}/provider-prices`, { currency: 'USD', csv, ...more });

    it('from a rate card, wide or long; what is wrong with one is said by its lines', async () => {
      await makeProvider(world.db, world.account, { baseUrl });
      const prices = [
        { market: 'IN', category: 'marketing', price: '0.0118' },
        { market: 'IN', category: 'service', price: '0.0014' },
        { market: null, category: 'authentication_international', price: '0.03' },
        { market: null, category: 'service', price: '0.0077' },
      ];
      expect((await put(CARD, { credit_value: '0.0025' })).body).to.deep.include({ currency: 'USD', prices });
      expect(await world.lastAudit()).to.deep.include({
        after: { currency: 'USD', credit_value: '0.0025', prices: 4 },
      });
      const long = await put('market,category,price\n+9198,service,0.001\n');
      expect(long.body.prices).to.deep.equal([{ market: '9198', category: 'service', price: '0.001' }]);

      const { errors } = (await put('market,service\nRest of Africa,0.1\nIN,cheap\nDE,1\nDE,2\n')).body;
      expect(errors.map(({ detail }: { detail: string }) => detail.slice(0, 32))).to.deep.equal([
        'Line 2: "Rest of Africa" is no c',
        'Line 3: "cheap" is no price like',
        'Line 5: The price of service is ',
      ]);
      const twofold = (await put('market;service\nIN;1,234\n')).body.errors;
      expect(twofold[0].detail).to.equal('Line 2: "1,234" may be two prices: write it with a point.');
      expect((await put('service\n1\n')).status).to.equal(400);
      expect((await world.get(`/accounts/${world.account}/provider-prices`)).body.prices).to.have.lengthOf(1);
      expect((await put('market,service\n')).body).to.include({ currency: null });
    });

    it('from which reports have costs and margins by category, and conversations that cost more are listed', async () => {
      const { account, db } = world;
      await put(CARD, { credit_value: '0.0025' });
      const [cheap, dear] = [newId('cnv'), newId('cnv')];
      const opener = (conversation: ConversationId) =>
        chat({ conversation, opened: { group: newId('grp'), credits: 1 }, ...billed('marketing') });
      const openers = [opener(cheap), opener(dear)];
      const answers = [1, 2, 3, 4].map((n) =>
        chat({ conversation: n < 4 ? dear : cheap, ...billed('service', '0.0014 USD') }),
      );
      await db.collection<ChatMessageDocument>('messages').insertMany([...openers, ...answers]);
      await new HourCounter({ db, clock: systemClock, messageDays: 90, held: () => true }).run();

      const report = (await world.get(`/reports?account_id=${account}&group_by=category`)).body;
      expect(report.data).to.have.lengthOf(2);
      expect(report.data[0]).to.deep.include({ category: 'marketing', credits: 2, costs: [], unpriced: 2 });
      expect(report.data[0].sales).to.deep.equal([{ currency: 'USD', amount: '0.005' }]);
      expect(report.data[1]).to.deep.include({ category: 'service', credits: 0, unpriced: 0 });
      expect(report.data[1].costs).to.deep.equal([{ currency: 'USD', amount: '0.0056' }]);
      expect(report.total.margin).to.deep.equal([{ currency: 'USD', amount: '-0.0006' }]);
      const losses = () => world.get(`/conversation-losses?account_id=${account}`);
      expect((await losses()).body.data).to.deep.include.members([
        {
          ...{
            conversation_id: dear,
            account_id: account,
            opened_at: isoTimestamp(idTime(dear)),
            opener: openers[1]?._id,
          },
          ...{ messages: 3, credits: 1, currency: 'USD', earned: '0.0025', cost: '0.0042', lost: '0.0017' },
        },
      ]);
      expect((await losses()).body.data).to.have.lengthOf(1);
    });

    const chat = (more: Partial<ChatMessageDocument>) =>
      makeChatMessage({ account: world.account, state: 'delivered', parts: [{ state: 'delivered' }], ...more });
    const billed = (category: string, cost?: string) => ({
      pricing: { billable: true, category },
      ...(cost && { cost }),
    });
  });
});
