import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Db } from 'mongodb';
import { createCarrier, listCarriers, setCarrierStatus, updateCarrier } from '../../shared/carriers/carrier-store.ts';
import { setProvider } from '../../shared/carriers/providers/store.ts';
import { createSender, findSender } from '../../shared/carriers/sender.ts';
import { eventsOf } from '../../shared/events/catalogue.ts';
import { createEndpoint } from '../../shared/events/webhooks/endpoint-store.ts';
import type { AccountDocument } from '../../shared/money/accounts/account.ts';
import { createAccount, listAccounts } from '../../shared/money/accounts/store.ts';
import { topUp } from '../../shared/money/ledger/change.ts';
import { parseKey, secretMatches } from '../../shared/people/keys/key.ts';
import { createKey, findKey, isOver } from '../../shared/people/keys/store.ts';
import { enableUser, findUsersByName, inviteUser, makeLink } from '../../shared/people/users/store.ts';
import { linkUrl } from '../../shared/people/users/user.ts';
import { type Config, gatewayUrl } from '../../shared/platform/config/settings.ts';
import { ensureIndexes } from '../../shared/platform/mongo/indexes.ts';
import { type Clock, isoDate } from '../../shared/platform/runtime/clock.ts';
import { type AccountId, newId } from '../../shared/platform/runtime/ids.ts';
import type { SecretBox } from '../../shared/platform/runtime/secret-box.ts';
import { PROVIDER_DEFAULTS } from '../simulator/provider/options.ts';

export interface Demo {
  readonly account: AccountDocument;
  readonly balance: number;
  readonly key: string;
  readonly owner: DemoOwner;
  /** First the webhook for SMS events, then the one for the chat-app channel. */
  readonly webhooks: readonly { readonly url: string; readonly secret: string }[];
  readonly providerUrl: string;
  readonly providerApp: ProviderApp;
}

const ACCOUNT_NAME = 'Demo of npm start';
const CARRIER = 'simulator';
/** The sender in the lines that `npm start` prints. */
const SENDER = 'HARKRA';
/** The simulated carrier accepts any. */
const PASSWORD = 'simulate';
const CREDITS = 10_000;
const DAY_MS = 24 * 3_600_000;
const ACCOUNT_DAYS = 365;

/** Creates what is missing, by the functions of `npm run ops`; the next `npm start` reuses it. */
export async function seedDemo(db: Db, clock: Clock, box: SecretBox, config: Config): Promise<Demo> {
  await ensureIndexes(db);
  await seedCarrier(db, clock, box, config.simulatorSmscPort);
  const account = await seedAccount(db, clock);
  const { balance } =
    account.balance < CREDITS / 10 ? await topUp(db, account._id, CREDITS, newId('top').slice(4)) : account;
  await seedSender(db, clock, account._id);
  const receiver = `http://127.0.0.1:${config.simulatorWebhookPort}`;
  const webhooks: Demo['webhooks'] = await Promise.all(
    (
      [
        ['sms', '/demo', eventsOf('sms')],
        ['chatapp', '/demo-chatapp', eventsOf('chatapp')],
      ] as const
    ).map(async ([channel, path, events]) => {
      const url = receiver + path;
      const { secret } = await createEndpoint(db, clock, box, { channel, account: account._id, url, events });
      return { url, secret };
    }),
  );
  const providerUrl = `http://127.0.0.1:${config.simulatorChatappPort}`;
  const providerApp = await seedProvider({ db, clock, box }, account._id, providerUrl, gatewayUrl(config));
  const key = await seedKey(db, clock, account._id, config.dataDir);
  const owner = await seedOwner(db, clock, account._id, config);
  return { account, balance, key, owner, webhooks, providerUrl, providerApp };
}

/** Gives the receiver its webhooks' secrets. Rejects if the receiver does not answer. */
export async function trustWebhooks({ webhooks }: Pick<Demo, 'webhooks'>): Promise<void> {
  for (const { url, secret } of webhooks) {
    const answer = await fetch(url, { method: 'PUT', body: secret });
    if (!answer.ok) throw new Error(`the webhook receiver answered ${answer.status} to its secret`);
  }
}

async function seedAccount(db: Db, clock: Clock): Promise<AccountDocument> {
  const found = (await listAccounts(db)).find((account) => account.name === ACCOUNT_NAME);
  if (found !== undefined && found.expiryDate >= isoDate(clock.now())) return found;
  return createAccount(db, clock, {
    name: ACCOUNT_NAME,
    currency: 'INR',
    expiryDate: isoDate(new Date(clock.now().getTime() + ACCOUNT_DAYS * DAY_MS)),
    senders: 'registered',
  });
}

async function seedSender(db: Db, clock: Clock, account: AccountId): Promise<void> {
  if ((await findSender(db, account, SENDER)) !== undefined) return;
  await createSender(db, clock, {
    account,
    sender: SENDER,
    routes: ['transactional', 'promotional'],
    status: 'approved',
  });
}

async function seedCarrier(db: Db, clock: Clock, box: SecretBox, port: number): Promise<void> {
  const found = (await listCarriers(db)).find((carrier) => carrier._id === CARRIER);
  if (found === undefined) {
    await createCarrier(db, clock, box, {
      _id: CARRIER,
      name: 'Simulator',
      host: '127.0.0.1',
      port,
      systemId: 'harkara',
      password: PASSWORD,
    });
    return;
  }
  if (found.port !== port) await updateCarrier(db, box, CARRIER, { port, password: PASSWORD });
  if (found.status !== 'active') await setCarrierStatus(db, CARRIER, 'active');
}

const USERNAME = 'demo@example.com';

interface DemoOwner {
  readonly username: string;
  readonly hasPassword: boolean;
  /** A one-time link to choose a password. */
  readonly link: string;
}

/**
 * Creates the demo account's owner if there is none, and at every start a new one-time link; there is no default
 * password. Only this account exempts its owner from the second factor.
 */
async function seedOwner(db: Db, clock: Clock, account: AccountId, config: Config): Promise<DemoOwner> {
  await db
    .collection<AccountDocument>('accounts')
    .updateOne({ _id: account, secondFactor: { $exists: false } }, { $set: { secondFactor: 'exempt' } });
  const [found] = await findUsersByName(db, USERNAME, account);
  if (found === undefined) {
    const { token } = await inviteUser(db, clock.now(), { username: USERNAME, account, role: 'owner' });
    return { username: USERNAME, hasPassword: false, link: linkUrl(config, token) };
  }
  if (found.status === 'disabled') await enableUser(db, found._id);
  const made = await makeLink(db, clock.now(), found);
  if (made === undefined) throw new Error(`${USERNAME} was disabled just now`);
  return { username: USERNAME, hasPassword: found.password !== undefined, link: linkUrl(config, made.token) };
}

const NAME = 'npm start';
const FILE = 'npm-start.key';
const KEY_DAYS = 365;

/** The key that `npm start` prints: the same at every start, because people paste it elsewhere. */
async function seedKey(db: Db, clock: Clock, account: AccountId, dataDir: string): Promise<string> {
  const file = join(dataDir, FILE);
  const kept = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  if (await works(db, clock, account, kept)) return kept;
  const { key } = await createKey(db, clock, {
    account,
    name: NAME,
    scopes: ['send', 'read', 'otp'],
    expiresAt: new Date(clock.now().getTime() + KEY_DAYS * DAY_MS),
  });
  writeFileSync(file, `${key}\n`, { mode: 0o600 });
  return key;
}

/** The file may belong to another store, or the key may have been revoked. */
async function works(db: Db, clock: Clock, account: AccountId, text: string): Promise<boolean> {
  const parsed = parseKey(text);
  const found = parsed && (await findKey(db, parsed.id));
  return (
    found?.account === account &&
    secretMatches(parsed?.secret ?? '', found.secretHash.buffer) &&
    !isOver(found, clock.now())
  );
}

/** Webhook settings at the provider. */
interface ProviderApp {
  readonly url: string;
  readonly app_secret: string;
  readonly verify_token: string;
}

const { phoneNumberId, businessId, appId, displayNumber, token, appSecret } = PROVIDER_DEFAULTS;

/** Gives the account its number at the simulated provider. Repeating it changes only the provider's address. */
export async function seedProvider(
  { db, clock, box }: { readonly db: Db; readonly clock: Clock; readonly box: SecretBox },
  account: AccountId,
  providerUrl: string,
  gatewayUrl: string,
): Promise<ProviderApp> {
  const baseUrl = `${providerUrl}/v23.0`;
  const settings = { baseUrl, phoneNumberId, businessId, appId, token, appSecret };
  const { provider } = await setProvider(db, clock, box, account, displayNumber, settings);
  return {
    url: `${gatewayUrl}/chatapp/callback/${provider.callback}`,
    app_secret: appSecret,
    verify_token: box.open(provider.verifyToken, ['providers', displayNumber, 'verifyToken']),
  };
}

/** Triggers the simulated provider's verify challenge. Rejects if that fails or nobody answers. */
export async function enterApp(providerUrl: string, app: ProviderApp): Promise<void> {
  const answer = await fetch(`${providerUrl}/app`, { method: 'PUT', body: JSON.stringify(app) });
  if (!answer.ok) throw new Error(`the chat-app provider answered ${answer.status}: ${await answer.text()}`);
}
