import type { AccountId } from '../platform/runtime/ids.ts';

/**
 * The telemarketers between an account's entities and one carrier, where they differ from the carrier's own (`CarrierDlt.chain`).
 * Example, for a reseller's customers: `{_id: 'acc_01…:airtel', telemarketers: ['1101172974420820002', '1101172974420830004']}`.
 */
export interface ChainDocument {
  readonly _id: ChainKey;
  readonly account: AccountId;
  readonly carrier: string;
  /**
   * The telemarketers after the entity, from the first to the delivering one. They are hashed after the message's entity id
   * (workers/smpp/submit/encode.ts).
   */
  readonly telemarketers: readonly string[];
}

export type ChainKey = `${AccountId}:${string}`;

export function chainKey(account: AccountId, carrier: string): ChainKey {
  return `${account}:${carrier}`;
}

const LONGEST = 10;

/** The problems of a chain, one sentence each. */
export function chainFaults(telemarketers: readonly string[]): readonly string[] {
  const faults: string[] = [];
  const { length } = telemarketers;
  if (length < 1 || length > LONGEST) faults.push(`1 to ${LONGEST} telemarketers in the chain.`);
  if (!telemarketers.every((id) => /^[0-9]{10,20}$/.test(id))) faults.push('the ids of the chain are 10 to 20 digits.');
  return faults;
}
