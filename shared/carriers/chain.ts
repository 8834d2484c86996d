import type { Collection, Db } from 'mongodb';
import type { AccountId } from '../platform/runtime/ids.ts';

/** The telemarketers between an account's entities and one carrier, in place of `CarrierDlt.chain`. */
interface ChainDocument {
  readonly _id: ChainKey;
  readonly account: AccountId;
  readonly carrier: string;
  /** In order, after the entity. Hashed with the entity id (workers/smpp/submit/encode.ts). */
  readonly telemarketers: readonly string[];
}

type ChainKey = `${AccountId}:${string}`;

function chainKey(account: AccountId, carrier: string): ChainKey {
  return `${account}:${carrier}`;
}

const LONGEST = 10;

/** One sentence each. */
export function chainFaults(telemarketers: readonly string[]): readonly string[] {
  const faults: string[] = [];
  const { length } = telemarketers;
  if (length < 1 || length > LONGEST) faults.push(`1 to ${LONGEST} telemarketers in the chain.`);
  if (!telemarketers.every((id) => /^[0-9]{10,20}$/.test(id))) faults.push('the ids of the chain are 10 to 20 digits.');
  return faults;
}

export class BadChain extends Error {
  readonly code = 'bad_chain';
}

/** Workers see it within seconds. Throws `BadChain`. */
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

/** The carrier's own chain applies again, if it has one. False when the account had none there. */
export async function removeChain(db: Db, account: AccountId, carrier: string): Promise<boolean> {
  const { deletedCount } = await chains(db).deleteOne({ _id: chainKey(account, carrier) });
  return deletedCount === 1;
}

export async function listChains(db: Db, account: AccountId): Promise<readonly ChainDocument[]> {
  // Carrier names hold only a-z, 0-9 and -, which sort before '~'.
  return chains(db)
    .find({ _id: { $gte: chainKey(account, ''), $lt: chainKey(account, '~') } })
    .sort({ _id: 1 })
    .toArray();
}

/** By account. Accounts without a chain of their own at the carrier are left out. */
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
