import { createHash, timingSafeEqual } from 'node:crypto';
import type { Db } from 'mongodb';
import type { ProviderDocument } from '../../../shared/carriers/providers/provider.ts';
import { providersByCallback, providersByGraphId } from '../../../shared/carriers/providers/store.ts';
import { FreshCache } from '../../../shared/platform/runtime/fresh-cache.ts';
import { type CallbackId, isCallbackId } from '../../../shared/platform/runtime/ids.ts';
import { perProcess } from '../../api/endpoint.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import type { OwnedId, Owner } from './read-callback.ts';

const REMEMBERED_MAX = 20_000;

/** The number whose provider posts to a callback address, with the secrets that verify its requests. */
export interface CallbackProvider extends Pick<ProviderDocument, '_id' | 'account' | 'phoneNumberId'> {
  readonly appSecret: string;
  readonly verifyToken: string;
}

/** Finds providers by the id in their callback address, and by their numbers and business accounts. */
class CallbackProviders {
  readonly #box: GatewayDeps['box'];
  readonly #providers: FreshCache<CallbackId, ProviderDocument>;
  /** By the id of a number or of a business account. */
  readonly #owners: FreshCache<string, ProviderDocument[]>;

  constructor({ box, clock, config, db }: Pick<GatewayDeps, 'box' | 'clock' | 'config'> & { readonly db: Db }) {
    this.#box = box;
    const limits = { freshMs: config.keyCacheMs, maxEntries: REMEMBERED_MAX, clock };
    this.#providers = new FreshCache({
      ...limits,
      readMany: async (callbacks) =>
        new Map((await providersByCallback(db, callbacks)).map((provider) => [provider.callback, provider])),
    });
    this.#owners = new FreshCache({
      ...limits,
      readMany: async (ids) => {
        const providers = await providersByGraphId(db, ids);
        const having = (id: string) => providers.filter((one) => one.phoneNumberId === id || one.businessId === id);
        return new Map(ids.map((id) => [id, having(id)] as const).filter(([, found]) => found.length > 0));
      },
    });
  }

  /** `callback` comes from the address. Undefined when no provider has this id. */
  async find(callback: unknown): Promise<CallbackProvider | undefined> {
    if (typeof callback !== 'string' || !isCallbackId(callback)) return undefined;
    const provider = await this.#providers.get(callback);
    if (provider === undefined) return undefined;
    const { _id, account, phoneNumberId, appSecret, verifyToken } = provider;
    // Opened here, after the read of many providers: a secret that cannot be opened then fails only this provider.
    return {
      _id,
      account,
      phoneNumberId,
      appSecret: this.#box.open(appSecret, ['providers', _id, 'appSecret']),
      verifyToken: this.#box.open(verifyToken, ['providers', _id, 'verifyToken']),
    };
  }

  /**
   * The numbers that a change is for, which was posted to the address of `poster`. All numbers of an app may post to
   * one address, so others than the poster's are looked for too. Only numbers with the same app secret are found: the
   * post is signed with it, so nobody can write to an account of another app.
   */
  async owners(poster: CallbackProvider, by: OwnedId, id: string): Promise<readonly Owner[]> {
    // Most posts are about the poster's own number.
    if (by === 'phoneNumberId' && id === poster.phoneNumberId) return [{ number: poster._id, account: poster.account }];
    const providers = (await this.#owners.get(id)) ?? [];
    return providers
      .filter((one) => one[by] === id)
      .filter(({ _id, appSecret }) =>
        sameText(this.#box.open(appSecret, ['providers', _id, 'appSecret']), poster.appSecret),
      )
      .map(({ _id, account }) => ({ number: _id, account }));
  }
}

export const callbackProvidersOf = perProcess((gateway) => new CallbackProviders(gateway));

/** Compares in constant time, even texts of different lengths. */
export function sameText(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
