import type { Db } from 'mongodb';
import type { ProviderDocument } from '../../shared/providers/provider.ts';
import { providersByCallback } from '../../shared/providers/store.ts';
import { FreshCache } from '../../shared/runtime/fresh-cache.ts';
import { type CallbackId, isCallbackId } from '../../shared/runtime/ids.ts';
import type { GatewayDeps } from '../process/deps.ts';

const REMEMBERED_MAX = 20_000;

/** The account's provider that posts to a callback, with the secrets that its requests are checked against. */
export interface CallbackProvider extends Pick<ProviderDocument, '_id' | 'phoneNumberId'> {
  readonly appSecret: string;
  readonly verifyToken: string;
}

/** Providers by the id in their callback's address. */
export class CallbackProviders {
  readonly #box: GatewayDeps['box'];
  readonly #providers: FreshCache<CallbackId, ProviderDocument>;

  constructor({ box, clock, config, db }: Pick<GatewayDeps, 'box' | 'clock' | 'config'> & { readonly db: Db }) {
    this.#box = box;
    this.#providers = new FreshCache({
      freshMs: config.keyCacheMs,
      maxEntries: REMEMBERED_MAX,
      clock,
      readMany: async (callbacks) =>
        new Map((await providersByCallback(db, callbacks)).map((provider) => [provider.callback, provider])),
    });
  }

  /** `callback` is what stands in the address. Undefined when no provider has it. */
  async find(callback: unknown): Promise<CallbackProvider | undefined> {
    if (typeof callback !== 'string' || !isCallbackId(callback)) return undefined;
    const provider = await this.#providers.get(callback);
    if (provider === undefined) return undefined;
    const { _id, phoneNumberId, appSecret, verifyToken } = provider;
    // Opened here and not where many are read: a secret that cannot be opened fails this provider alone.
    return { _id, phoneNumberId, appSecret: this.#box.open(appSecret), verifyToken: this.#box.open(verifyToken) };
  }
}
