import type { Db } from 'mongodb';
import type { CarrierDocument } from '../../../shared/carriers/carrier.ts';
import { findChains } from '../../../shared/carriers/chain-store.ts';
import type { MessageDocument } from '../../../shared/messages/document/message.ts';
import type { Clock } from '../../../shared/platform/runtime/clock.ts';
import { FreshCache } from '../../../shared/platform/runtime/fresh-cache.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';

const FRESH_MS = 2_000;
/** How many accounts are remembered, including those without a chain of their own. */
const REMEMBERED = 20_000;
const NONE: ReadonlyMap<AccountId, readonly string[]> = new Map();

/**
 * The chains of telemarketers that accounts have of their own at one carrier. They are read only if the carrier wants the hash,
 * at most once in two seconds.
 */
export class AccountChains {
  readonly #chains: FreshCache<AccountId, readonly string[]>;
  readonly #wanted: boolean;

  constructor({ db, clock, carrier }: { readonly db: Db; readonly clock: Clock; readonly carrier: CarrierDocument }) {
    const { _id, dlt = 'off' } = carrier;
    this.#wanted = dlt !== 'off' && dlt.hashTag !== undefined;
    this.#chains = new FreshCache({
      clock,
      freshMs: FRESH_MS,
      maxEntries: REMEMBERED,
      readMany: (accounts) => findChains(db, _id, accounts),
    });
  }

  /** The chains by account. An account that is not in the map uses the carrier's chain. Rejects with the store's error. */
  async of(messages: readonly MessageDocument[]): Promise<ReadonlyMap<AccountId, readonly string[]>> {
    if (!this.#wanted) return NONE;
    const accounts = messages.flatMap(({ entityId, account }) => (entityId === undefined ? [] : account));
    return accounts.length === 0 ? NONE : this.#chains.getMany(accounts);
  }
}
