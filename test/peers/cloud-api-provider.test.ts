import assert from 'node:assert/strict';
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { debianProgram } from '../support/debian.ts';
import { eventually } from '../support/eventually.ts';
import { type Answer, type Product, startProduct } from '../support/product.ts';

const NUMBER = '15550009999';
const APP_SECRET = 'python-app-secret';
const CUSTOMER = '919876540001';
const UNPAID = '919876540042';

describe('the chat-app channel beside a provider in Python', function () {
  this.timeout(180_000);
  let product: Product;
  let provider: ChildProcessWithoutNullStreams;
  let lines: Interface;
  const taken: Readonly<Record<string, unknown>>[] = [];

  before(async () => {
    const python = await debianProgram('python3', 'python3');
    product = await startProduct({ chatapp: {} });
    provider = spawn(python, [join(import.meta.dirname, 'cloud-api-provider.py')]);
    provider.stderr.pipe(process.stderr);
    lines = createInterface(provider.stdout);
    const { port } = JSON.parse(String((await once(lines, 'line'))[0]));
    Object.assign(process.env, { HARKARA_CHATAPP_TOKEN: 'python-token', HARKARA_CHATAPP_APP_SECRET: APP_SECRET });
    const ids = '--phone-number-id 7770009999 --business-id 8880009999';
    const base = `--base-url http://127.0.0.1:${port}/v25.0`;
    const said = await product.ops(`provider set ${NUMBER} --account ${product.account} ${base} ${ids}`);
    const [callback] = /\/chatapp\/callback\/\w+/.exec(said) ?? [];
    const [, token] = /verify token:? +(\S+)/i.exec(said) ?? [];
    assert(callback !== undefined && token !== undefined, said);
    tell({ callback: product.url + callback, verify_token: token, app_secret: APP_SECRET });
    const verified = JSON.parse(String((await once(lines, 'line'))[0]));
    expect(verified).to.deep.equal({ verified: true });
    lines.on('line', (line) => taken.push(JSON.parse(line)));
  });
  after(async () => {
    provider?.kill();
    await product?.stop();
  });

  const tell = (what: object) => provider.stdin.write(`${JSON.stringify(what)}\n`);
  const send = (to: string): Promise<Answer['body']> =>
    eventually(async () => {
      const asked = { to, from: NUMBER, template: 'order_update', language: 'en_US', params: ['Asha', '1234'] };
      const answer = await product.post('/v2/chatapp/send', asked);
      if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
      return answer.body;
    }, 'a template is accepted');
  const reaches = (id: unknown, status: string) =>
    eventually(async () => {
      const { body } = await product.get(`/v2/messages/${id}`);
      if (body.status !== status) throw new Error(JSON.stringify(body));
      return body;
    }, `${id} ${status}`);

  it('a template is delivered with its price, the customer without a number answers it, and is answered', async () => {
    const template = await send(CUSTOMER);
    const delivered = await reaches(template.message_id, 'delivered');
    expect(delivered.pricing).to.deep.equal({ billable: true, model: 'PMP', type: 'regular', category: 'utility' });

    tell({ says: 'Where is it?', answers: taken[0]?.id });
    const received = await eventually(
      () => product.receiver.received().find(({ json }) => json.event === 'message.received'),
      'what the customer wrote',
    );
    assert(received !== undefined);
    expect(received.signature).to.equal('valid');
    expect(received.json).to.deep.include({ body: 'Where is it?', to: NUMBER, reply_to: template.message_id });
    expect(received.json.customer).to.include({ number: CUSTOMER, username: '@asha.rao', name: 'Asha' });

    const text = await product.post('/v2/chatapp/send-text', { to: CUSTOMER, message: 'It arrives today.' });
    expect(text.status, JSON.stringify(text.body)).to.equal(200);
    await reaches(text.body.message_id, 'delivered');
    expect(taken.map(({ type }) => type)).to.deep.equal(['template', 'text']);
  });

  it('a message that fails for a payment stops the number, and costs nothing', async () => {
    const { body: before } = await product.get('/v2/balance');
    const unpaid = await send(UNPAID);
    const failed = await reaches(unpaid.message_id, 'failed');
    expect(failed).to.include({ error_code: 'provider_payment_problem' });
    await eventually(async () => {
      const { body } = await product.get('/v2/chatapp/numbers');
      return JSON.stringify(body).includes('stopped');
    }, 'the number is stopped');
    await eventually(async () => (await product.get('/v2/balance')).body.balance === before.balance, 'the refund');
  });
});
