import { type HttpCarrier, type HttpCarrierOptions, startHttpCarrier } from '../../scripts/simulator/http-carrier.ts';
import type { MessageDocument } from '../../shared/messages/document/message.ts';
import { verifyLedger } from '../../shared/money/ledger/verify.ts';
import { eventually } from '../support/eventually.ts';
import { useProduct } from '../support/product.ts';

const WAIT_MS = 60_000;

describe('carriers of both kinds in one route', function () {
  this.timeout(WAIT_MS * 3);
  const product = useProduct({ credits: 100, gateways: 1 });
  let http: HttpCarrier;
  let behaviour: HttpCarrierOptions['behaviour'];
  before(async () => {
    http = await startHttpCarrier({ receiptDelayMs: 50, password: 'token', behaviour: (to) => behaviour?.(to) });
    process.env.HARKARA_SMPP_PASSWORD = 'token';
    await product.ops(
      `carrier create web --preset twilio-http --host 127.0.0.1 --port ${http.port} --tls no --system-id AC1 --unknown-wait-ms 60000`,
    );
    delete process.env.HARKARA_SMPP_PASSWORD;
    await product.ops('route add web-first --prefix 91987651 --carriers web;sim');
    await product.ops('route add sim-first --prefix 91987652 --carriers sim;web');
    await product.ops('route add web-only --prefix 91987653 --carriers web');
    await eventually(async () => (await product.ops('carrier show web')).includes('bound (1 of 1)'), 'bound', WAIT_MS);
    await eventually(
      async () => (await reaches(await send('919876530000'), 'delivered')).path.includes('web'),
      'the gateway knows the routes',
      WAIT_MS,
    );
  });
  beforeEach(() => {
    behaviour = undefined;
  });
  after(async () => {
    await http?.close();
  });

  async function send(to: string, text = 'hello'): Promise<string> {
    const { status, body } = await product.send(to, text);
    expect(status, JSON.stringify(body)).to.equal(200);
    return String(body.message_id);
  }
  const reaches = (id: string, state: MessageDocument['state']): Promise<MessageDocument> =>
    eventually(
      async () => {
        const found = await product.db.collection<MessageDocument>('messages').findOne({ _id: id as never });
        if (found?.state !== state) throw new Error(JSON.stringify(found));
        return found;
      },
      `${id} becomes ${state}`,
      WAIT_MS,
    );
  const told = (id: string, event: string): Promise<unknown> =>
    eventually(
      () => product.receiver.received().some(({ json }) => json.message_id === id && json.event === event),
      `${event} of ${id}`,
      WAIT_MS,
    );

  it('over HTTP: one request for a long text, billed by its segments, its receipt and its webhook', async () => {
    const text = 'A long text, which is two segments. '.repeat(6);

    const id = await send('919876510000', text);

    const { parts, claim } = await reaches(id, 'delivered');
    expect(claim?.carrier).to.equal('web');
    expect(parts).to.have.length(1);
    expect(
      http
        .messages()
        .filter(({ to }) => to === '+919876510000')
        .map(({ body }) => body),
    ).to.deep.equal([text]);
    await told(id, 'message.delivered');
  });

  it('refused for good it is paid back; refused there alone, the next carrier has it', async () => {
    behaviour = () => ({ status: 0x0b }); // 21211: no carrier has this number
    const refused = await send('919876511000');
    const { errorCode } = await reaches(refused, 'rejected');
    expect(errorCode).to.equal('21211');
    await told(refused, 'message.rejected');

    behaviour = () => ({ status: 0x08 }); // 21606: the carrier does not have this sender
    const passedOn = await send('919876512000');
    const { claim, attempts } = await reaches(passedOn, 'delivered');
    expect([attempts?.map(({ carrier, code }) => [carrier, code]), claim?.carrier]).to.deep.equal([
      [['web', '21606']],
      'sim',
    ]);
  });

  it('refused by the SMPP carrier: the HTTP carrier has it', async () => {
    behaviour = () => ({});

    const id = await send('919876520108');

    const { claim, attempts } = await reaches(id, 'delivered');
    expect([attempts?.map(({ carrier }) => carrier), claim?.carrier]).to.deep.equal([['sim'], 'web']);
  });

  it('killed between request and answer: the message is unknown, its receipt decides, and it went once', async () => {
    const before = http.requests();
    behaviour = () => ({ answer: 'never', receipts: [{ stat: 'DELIVRD', delays: 100 }] });
    const id = await send('919876531000');
    await eventually(() => http.requests() > before, 'the request is written', WAIT_MS);

    await product.kill('smpp', 'SIGKILL');

    const { claim } = await reaches(id, 'delivered');
    expect(claim?.carrier).to.equal('web');
    expect(http.requests()).to.equal(before + 1);
  });

  it('unreachable: the route goes on without it, and it comes back', async () => {
    const { port } = http;
    await http.close();

    const id = await send('919876513000');
    expect((await reaches(id, 'delivered')).claim?.carrier).to.equal('sim');

    http = await startHttpCarrier({ port, receiptDelayMs: 50, password: 'token' });
    await eventually(async () => (await product.ops('carrier show web')).includes('bound (1 of 1)'), 'back', WAIT_MS);
    await eventually(
      async () => (await reaches(await send('919876514000'), 'delivered')).claim?.carrier === 'web',
      'it has messages again',
      WAIT_MS,
    );
  });

  it('nobody is charged twice, and what was refused is paid back', async () => {
    const verdict = await verifyLedger(product.db, product.account);
    const messages = await product.db.collection<MessageDocument>('messages').find().toArray();
    const paid = messages.filter(({ state }) => state === 'delivered').length;

    expect(verdict.problems).to.deep.equal([]);
    expect(verdict.balance).to.equal(product.credits - paid);
    expect(await product.db.collection('carrier_callbacks').countDocuments()).to.equal(0);
  });

  it('a callback with a wrong signature, or to an address that nobody has, stores nothing', async () => {
    const [carrier] = await product.db
      .collection('carriers')
      .find({ _id: 'web' as never })
      .toArray();
    const post = (callback: unknown, headers: Readonly<Record<string, string>>) =>
      fetch(`${product.url}/carriers/callback/${callback}`, {
        method: 'POST',
        headers,
        body: new URLSearchParams({ MessageSid: 'SM1', MessageStatus: 'failed' }),
      });

    expect((await post(carrier?.callback, { 'x-twilio-signature': 'AAAA' })).status).to.equal(401);
    expect((await post('cbk_01m7znjn7hdb5pft3awkb6pgvz', {})).status).to.equal(404);
    expect(await product.db.collection('carrier_callbacks').countDocuments()).to.equal(0);
  });
});
