import type { Db } from 'mongodb';
import type { ProviderDocument } from '../../shared/providers/provider.ts';
import { providersByCallback } from '../../shared/providers/store.ts';
import { FreshCache } from '../../shared/runtime/fresh-cache.ts';
import { type CallbackId, isCallbackId } from '../../shared/runtime/ids.ts';
import type { GatewayDeps } from '../process/deps.ts';

const REMEMBERED_MAX = 20_000;

/** The provider that posts to a callback address, with the secrets that verify its requests. */
export interface CallbackProvider extends Pick<ProviderDocument, '_id' | 'phoneNumberId' | 'businessId'> {
  readonly appSecret: string;
  readonly verifyToken: string;
}

/** Finds providers by the id in their callback address. */
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

  /** `callback` comes from the address. Undefined when no provider has this id. */
  async find(callback: unknown): Promise<CallbackProvider | undefined> {
    if (typeof callback !== 'string' || !isCallbackId(callback)) return undefined;
    const provider = await this.#providers.get(callback);
    if (provider === undefined) return undefined;
    const { _id, phoneNumberId, businessId, appSecret, verifyToken } = provider;
    // Opened here, after the read of many providers: a secret that cannot be opened then fails only this provider.
    return {
      _id,
      phoneNumberId,
      businessId,
      appSecret: this.#box.open(appSecret),
      verifyToken: this.#box.open(verifyToken),
    };
  }
}
