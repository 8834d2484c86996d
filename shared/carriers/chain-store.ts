import type { Collection, Db } from 'mongodb';
import type { AccountId } from '../runtime/ids.ts';
import { type ChainDocument, chainFaults, chainKey } from './chain.ts';

/** A chain that does not fit. */
export class BadChain extends Error {
  readonly code = 'bad_chain';
}

/** The chain that an account's messages have at a carrier from now on; workers know it within seconds. Throws `BadChain`. */
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

/** From now on the carrier's own, if it has one. False when the account had none there. */
export async function removeChain(db: Db, account: AccountId, carrier: string): Promise<boolean> {
  const { deletedCount } = await chains(db).deleteOne({ _id: chainKey(account, carrier) });
  return deletedCount === 1;
}

/** An account's chains, by carrier. */
export async function listChains(db: Db, account: AccountId): Promise<readonly ChainDocument[]> {
  // Their keys stand together; carriers' names are a-z, 0-9 and -, all before '~'.
  return chains(db)
    .find({ _id: { $gte: chainKey(account, ''), $lt: chainKey(account, '~') } })
    .sort({ _id: 1 })
    .toArray();
}

/** Chains at the carrier, by account; an account that has none of its own there is left out. */
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
