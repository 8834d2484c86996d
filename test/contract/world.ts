import { callbackPost, callbackSignature, textMessage } from '../support/chat-callback.ts';
import { eventually } from '../support/eventually.ts';
import { type Product, startProduct } from '../support/product.ts';
import { Client } from './client.ts';
import type { Scope } from './tables/endpoint.ts';

/** The running product, and the accounts and keys for the walks. */
export interface World {
  readonly product: Product;
  readonly client: Client;
  /** Its account has credits, a chat-app number, and endpoints for all events. */
  readonly key: string;
  /** Keys of the same account with a single scope, and a revoked one. */
  readonly sendKey: string;
  readonly readKey: string;
  readonly revokedKey: string;
  keyWith(scopes: readonly Scope[]): Promise<string>;
  /** Of an account with a chat-app number and no credits. */
  readonly poorKey: string;
  /** Its account has credits only. */
  readonly otherKey: string;
  readonly suspendedKey: string;
  /** Of an account with DLT, a sender and two templates. */
  readonly dlt: { readonly key: string; readonly sender: string; readonly id: string; readonly content: string };
  /** A customer of `key` who has just written. */
  readonly customer: string;
  /** A customer of `poorKey` who has just written. */
  readonly poorCustomer: string;
  readonly deliveredId: string;
}

/** Statuses and receipts come from other processes on a machine that may be busy. */
export const SETTLE_MS = 60_000;

const POOR_NUMBER = '20655';

/** Starts the product and fills it over its HTTP interface and `npm run ops`. */
export async function createWorld(): Promise<World> {
  const product = await startProduct({ gateways: 2, chatapp: {} });
  try {
    return await fill(product);
  } catch (error) {
    await product.stop();
    throw error;
  }
}

async function fill(product: Product): Promise<World> {
  const ops = async (...words: readonly string[]): Promise<Readonly<Record<string, unknown>>> =>
    JSON.parse(await product.ops([...words, '--json']));
  const accountWith = async (name: string, credits: number, ...options: readonly string[]): Promise<string> => {
    const account = String((await ops('account', 'create', '--name', name, ...options)).account);
    if (credits > 0) await ops('credits', 'top-up', account, String(credits));
    return account;
  };
  const keyOf = async (account: string, ...options: readonly string[]): Promise<string> =>
    String((await ops('key', 'create', account, '--name', 'contract', ...options)).key);

  const client = new Client(product.url);
  const { key, account, receiver, provider } = product;
  if (provider === undefined) throw new Error('there is no provider');

  const revoked = await ops('key', 'create', account, '--name', 'revoked');
  await ops('key', 'revoke', String(revoked.id));
  const suspended = await accountWith('Suspended', 10, '--senders', 'any');
  await ops('account', 'suspend', suspended);

  const registered = await accountWith('Registered', 10, '--dlt', 'on', '--entity-id', '1001234567890');
  const dlt = { sender: 'HARKRA', id: '1007123456789', content: 'Dear {#var#}, your order {#var#} has left.' };
  await ops('sender', 'create', registered, dlt.sender);
  const senders = ['--senders', dlt.sender];
  await ops('template', 'create', registered, dlt.id, '--content', dlt.content, '--name', 'order', ...senders);
  const waiting = ['1007123456780', '--content', 'Not yet {#var#}', '--status', 'submitted'];
  await ops('template', 'create', registered, ...waiting, ...senders);

  const poor = await accountWith('Poor', 0, '--senders', 'any');
  const poorKey = await keyOf(poor);
  const poorCustomer = '919876500901';
  const { callback } = await withSecrets(provider.options.token, 'app-secret', () =>
    ops(
      ...['provider', 'set', '15550783999', '--account', poor, '--base-url', `${provider.url}/v23.0`],
      ...['--phone-number-id', POOR_NUMBER, '--business-id', provider.options.businessId],
    ),
  );
  await customerWrote(product.url, String(callback), poorCustomer);

  const customer = '919876500900';
  const inbound = provider.says(customer, 'Hello');
  const sent = await client.call({
    method: 'POST',
    path: '/v2/send',
    key,
    body: { to: '919876500950', message: 'Delivered', sender: 'HARKRA', route: 'transactional' },
  });
  const deliveredId = String(sent.body.message_id);
  const posted = (event: string, from: string): boolean =>
    receiver.received().some(({ json }) => json.event === event && (json.from ?? json.message_id) === from);
  await eventually(() => posted('message.received', customer), `the webhook of ${inbound}`, SETTLE_MS);
  await eventually(() => posted('message.delivered', deliveredId), `${deliveredId} delivered`, SETTLE_MS);
  await eventually(
    async () => {
      const { body } = await client.call({ method: 'GET', path: '/v2/chatapp/templates', key: poorKey });
      return Array.isArray(body.templates) && body.templates.length > 0;
    },
    'the templates of the account without credits',
    SETTLE_MS,
  );

  return {
    product,
    client,
    key,
    sendKey: await keyOf(account, '--scopes', 'send'),
    readKey: await keyOf(account, '--scopes', 'read'),
    keyWith: (scopes) => keyOf(account, '--scopes', scopes.join(',')),
    revokedKey: String(revoked.key),
    poorKey,
    otherKey: await keyOf(await accountWith('Other', 100, '--senders', 'any')),
    suspendedKey: await keyOf(suspended),
    dlt: { ...dlt, key: await keyOf(registered) },
    customer,
    poorCustomer,
    deliveredId,
  };
}

/** Runs `act` with these secrets in the environment, which hides them from the process list. */
async function withSecrets<T>(token: string, appSecret: string, act: () => Promise<T>): Promise<T> {
  process.env.HARKARA_CHATAPP_TOKEN = token;
  process.env.HARKARA_CHATAPP_APP_SECRET = appSecret;
  try {
    return await act();
  } finally {
    delete process.env.HARKARA_CHATAPP_TOKEN;
    delete process.env.HARKARA_CHATAPP_APP_SECRET;
  }
}

/** Posts a customer's message as the provider would. The simulated provider does not serve this account. */
async function customerWrote(url: string, callback: string, from: string): Promise<void> {
  const body = JSON.stringify(callbackPost({ messages: [textMessage('wamid.contract', from)] }, POOR_NUMBER));
  const answer = await fetch(url + callback, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-hub-signature-256': callbackSignature(body) },
    body,
  });
  if (answer.status !== 200) throw new Error(`the callback was answered with ${answer.status}`);
}
