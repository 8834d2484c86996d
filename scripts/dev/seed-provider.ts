import type { Db } from 'mongodb';
import { setProvider } from '../../shared/carriers/providers/store.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';
import type { SecretBox } from '../../shared/platform/runtime/secret-box.ts';
import { PROVIDER_DEFAULTS } from '../simulator/provider/options.ts';

/** The webhook settings that a person would enter at the provider's console. */
export interface ProviderApp {
  readonly url: string;
  readonly app_secret: string;
  readonly verify_token: string;
}

const { phoneNumberId, businessId, appId, displayNumber, token, appSecret } = PROVIDER_DEFAULTS;

/** Gives the account its number at the simulated provider. A repeat changes only the provider's address. */
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

/**
 * Enters the webhook settings at the simulated provider, which then makes its verify challenge. Rejects when that fails or nobody
 * answers.
 */
export async function enterApp(providerUrl: string, app: ProviderApp): Promise<void> {
  const answer = await fetch(`${providerUrl}/app`, { method: 'PUT', body: JSON.stringify(app) });
  if (!answer.ok) throw new Error(`the chat-app provider answered ${answer.status}: ${await answer.text()}`);
}
