import { greeting, more } from '../../scripts/dev/greeting.ts';
import { runFiles } from '../../scripts/dev/run.ts';
import type { AccountDocument } from '../../shared/money/accounts/account.ts';
import { loadConfig } from '../../shared/platform/config/settings.ts';
import type { Product } from './product.ts';

/** What `npm start -- --more` would print of this product. */
export async function printedWalk({ url, key, account, credits, db, provider }: Product): Promise<string> {
  const { hostname, port } = new URL(url);
  const document = await db.collection<AccountDocument>('accounts').findOne({ _id: account });
  if (document === null || provider === undefined) throw new Error('no account, or no provider');
  const config = loadConfig({ HARKARA_HOST: hostname, HARKARA_PORT: port });
  const demo = {
    account: document,
    balance: credits,
    key,
    owner: { username: 'demo@example.com', hasPassword: false, link: '' },
    webhooks: [],
    providerUrl: provider.url,
    providerApp: { url, app_secret: '', verify_token: '' },
  };
  return more(config, runFiles('data'), demo) + greeting(config, demo);
}
