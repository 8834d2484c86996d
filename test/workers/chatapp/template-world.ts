import request from 'supertest';
import { PROVIDER_DEFAULTS } from '../../../scripts/simulator/provider/options.ts';
import { type Provider, startProvider } from '../../../scripts/simulator/provider.ts';
import { eventsOf } from '../../../shared/events/catalogue.ts';
import type { DeliveryDocument } from '../../../shared/events/webhooks/delivery.ts';
import { createEndpoint } from '../../../shared/events/webhooks/endpoint-store.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import { announceTemplates } from '../../../workers/maintenance/announce.ts';
import { makeProvider, TEST_BOX } from '../../support/chatapp.ts';
import { eventually } from '../../support/eventually.ts';
import { makeKey, openGateway, TEST_CONFIG, type TestGateway } from '../../support/gateway.ts';
import { makeAccount } from '../../support/make.ts';
import { tellDeps } from '../../support/tell-deps.ts';
import type { ChatWorld } from './world.ts';

export const TEMPLATES_PATH = '/v2/account/chatapp/templates';

export const DRAFT = {
  language: 'en_US',
  category: 'utility',
  header: { format: 'text', text: 'Order {{1}}', example: '1234' },
  body: 'Hello {{1}}, your order {{2}} has left.',
  body_examples: ['Asha', '#1234'],
  footer: 'Reply STOP to opt out',
  buttons: [
    { type: 'quick_reply', text: 'Where is it?' },
    { type: 'url', text: 'Track', url: 'https://shop.harkara.in/{{1}}', example: 'abc' },
    { type: 'phone_number', text: 'Call us', phone_number: '+918000000001' },
    { type: 'copy_code', example: '25OFF' },
  ],
} as const;

/** Tests have files for template headers on this machine. */
export const LOCAL_FILES = { webhookAllowHttp: 'yes', webhookAllowSubnets: ['127.0.0.0/8'] } as const;

export class TemplateWorld {
  readonly provider: Provider;
  readonly account: AccountId;
  readonly #world: ChatWorld;
  readonly #gateway: TestGateway;
  readonly #key: string;

  private constructor(world: ChatWorld, gateway: TestGateway, provider: Provider, account: AccountId, key: string) {
    this.#world = world;
    this.#gateway = gateway;
    this.provider = provider;
    this.account = account;
    this.#key = key;
  }

  static async open(
    world: ChatWorld,
    reviewMs = 250,
    ourAppId: string = PROVIDER_DEFAULTS.appId,
  ): Promise<TemplateWorld> {
    const { db } = world.store;
    const gateway = await openGateway(db, { config: { ...TEST_CONFIG, ...LOCAL_FILES } });
    const provider = await startProvider({ reviewMs, statusDelayMs: 10, pageSize: 50 });
    const account = await makeAccount(db, 100);
    const { phoneNumberId, businessId, displayNumber, token, appSecret } = PROVIDER_DEFAULTS;
    const settings = { phoneNumberId, businessId, appId: ourAppId, token, appSecret, number: displayNumber };
    const made = await makeProvider(db, account, { ...settings, baseUrl: `${provider.url}/v23.0` });
    const { verifyToken = '' } = made;
    const { callback } = made.provider;
    await provider.enterApp({ url: `${gateway.url}/chatapp/callback/${callback}`, appSecret, verifyToken });
    const endpoint = { account, channel: 'chatapp', url: 'https://shop.test/', events: eventsOf('chatapp') } as const;
    await createEndpoint(db, systemClock, TEST_BOX, endpoint);
    const key = await makeKey(db, account, ['send', 'read', 'manage']);
    return new TemplateWorld(world, gateway, provider, account, key);
  }

  get url(): string {
    return this.#gateway.url;
  }

  async close(): Promise<void> {
    await this.provider.close();
    const { db } = this.#world.store;
    for (const name of ['providers', 'chat_templates', 'chat_template_requests'])
      await db.collection(name).deleteMany({});
    await this.#gateway.close();
  }

  call(method: 'get' | 'post' | 'patch' | 'delete', path: string, body?: object, key = this.#key): request.Test {
    const call = request(this.#gateway.url)[method](path).set('Authorization', `Bearer ${key}`);
    return body === undefined ? call : call.send(body);
  }

  ask(name: string, more: object = {}): request.Test {
    return this.call('post', TEMPLATES_PATH, { name, ...DRAFT, ...more });
  }

  async shown(name: string): Promise<Record<string, unknown> | undefined> {
    const { body } = await this.call('get', `${TEMPLATES_PATH}?limit=500`).expect(200);
    return body.data.find((one: { name: string }) => one.name === name);
  }

  /** Resolves with the template once it is shown in that state. */
  until(name: string, state: string): Promise<Record<string, unknown>> {
    return eventually(async () => {
      const shown = await this.shown(name);
      if (shown?.state === state) return shown;
      throw new Error(JSON.stringify(shown));
    }, `${name} is ${state}`);
  }

  /** Webhook events about a template, with their statuses. */
  async announced(name: string): Promise<readonly string[]> {
    const { db } = this.#world.store;
    await announceTemplates(tellDeps(db));
    const found = await db
      .collection<DeliveryDocument>('deliveries')
      .find({ account: this.account })
      .sort({ due: 1 })
      .toArray();
    return found
      .map(({ body }) => JSON.parse(body) as Readonly<Record<string, unknown>>)
      .filter((body) => body.name === name)
      .map((body) => `${body.event} ${body.status}`);
  }
}
