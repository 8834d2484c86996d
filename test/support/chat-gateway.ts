import request from 'supertest';
import type { ProviderChange } from '../../shared/carriers/providers/store.ts';
import { recordInbound } from '../../shared/money/conversations/conversation.ts';
import { readStatement } from '../../shared/money/ledger/store.ts';
import { replaceChatTemplates } from '../../shared/templates/chat/store.ts';
import { type AccountGateway, accountAtGateway } from './account-gateway.ts';
import { balanceOf } from './balance.ts';
import { makeChatTemplate, makeProvider, NUMBER } from './chatapp.ts';

export const CUSTOMER = '919876543210';

export interface ChatGateway extends AccountGateway {
  post(path: string, body: object, idempotencyKey?: string): request.Test;
  get(path: string): request.Test;
  /** Gives the account its number, and two templates: `order_update` (en_US, two params) and `hello` (en, none). */
  configure(change?: ProviderChange): Promise<void>;
  customerWrote(at?: Date, customer?: string): Promise<void>;
  balance(): Promise<number | undefined>;
  /** Fails if a request stored or charged anything. */
  expectNothingDone(credits: number): Promise<void>;
}

/** For the body of a `describe`, as `accountAtGateway`. */
export function chatAtGateway(credits: number): ChatGateway {
  const world = accountAtGateway(credits);
  const bearer = () => `Bearer ${world.key}`;
  // Every test's account gets the same number, which may belong to only one.
  afterEach(() => world.db.collection('providers').deleteMany({}));
  const balance = () => balanceOf(world.db, world.account);
  const chat = {
    post(path: string, body: object, idempotencyKey?: string) {
      const asked = request(world.url).post(path).set('Authorization', bearer());
      return (idempotencyKey === undefined ? asked : asked.set('Idempotency-Key', idempotencyKey)).send(body);
    },
    get: (path: string) => request(world.url).get(path).set('Authorization', bearer()),
    async configure(change: ProviderChange = {}) {
      const { provider } = await makeProvider(world.db, world.account, change);
      const { account, businessId: business } = provider;
      await replaceChatTemplates(world.db, { account, business }, [
        makeChatTemplate(account, { business }),
        makeChatTemplate(account, { business, name: 'hello', language: 'en', variables: 0 }),
      ]);
    },
    async customerWrote(at: Date = new Date(), customer = CUSTOMER) {
      await recordInbound(world.db, [{ account: world.account, customer, number: NUMBER, at }]);
    },
    balance,
    async expectNothingDone(expected: number) {
      const { db, account } = world;
      expect(await db.collection('messages').find({ account }).toArray()).to.deep.equal([]);
      const statement = await readStatement(db, account, Number.MAX_SAFE_INTEGER, 1_000);
      expect(statement.filter((entry) => entry.reason !== 'top_up')).to.deep.equal([]);
      expect(await balance()).to.equal(expected);
    },
  };
  // A spread would read the world's getters now; they have values only after the hooks.
  return Object.defineProperties(chat, Object.getOwnPropertyDescriptors(world)) as typeof chat & AccountGateway;
}
