import type { Collection, Db } from 'mongodb';
import type { AccountId } from '../platform/runtime/ids.ts';
import { type ChainDocument, chainFaults, chainKey } from './chain.ts';

/** An invalid chain. */
export class BadChain extends Error {
  readonly code = 'bad_chain';
}

/** Sets the chain of an account's messages at a carrier; workers see it within seconds. Throws `BadChain`. */
export async function setChain(
  db: Db,
  account: AccountId,
  carrier: string,
  telemarketers: readonly string[],
): Promise<void> {
  const faults = chainFaults(telemarketers);
  if (faults.length > 0) throw new BadChain(faults.join(' '));
  await chains(db).updateOne(
    { _id: chainKey(account, carrier) },
    { $set: { account, carrier, telemarketers } },
    { upsert: true },
  );
}

/** Removes the account's chain; the carrier's own chain applies again, if it has one. False when the account had none there. */
export async function removeChain(db: Db, account: AccountId, carrier: string): Promise<boolean> {
  const { deletedCount } = await chains(db).deleteOne({ _id: chainKey(account, carrier) });
  return deletedCount === 1;
}

/** An account's chains, by carrier. */
export async function listChains(db: Db, account: AccountId): Promise<readonly ChainDocument[]> {
  // The account's keys are adjacent. Carrier names hold only a-z, 0-9 and -, which sort before '~'.
  return chains(db)
    .find({ _id: { $gte: chainKey(account, ''), $lt: chainKey(account, '~') } })
    .sort({ _id: 1 })
    .toArray();
}

/** Chains at the carrier, by account. Accounts without a chain of their own are left out. */
export async function findChains(
  db: Db,
  carrier: string,
  accounts: readonly AccountId[],
): Promise<ReadonlyMap<AccountId, readonly string[]>> {
  const found = await chains(db)
    .find({ _id: { $in: accounts.map((account) => chainKey(account, carrier)) } })
    .toArray();
  return new Map(found.map(({ account, telemarketers }) => [account, telemarketers]));
}

function chains(db: Db): Collection<ChainDocument> {
  return db.collection('carrier_chains');
}
