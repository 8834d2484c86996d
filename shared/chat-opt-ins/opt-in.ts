import type { AccountId } from '../runtime/ids.ts';

/**
 * A customer who agreed to get template messages of an account ("What the service does", 7). Asked only for accounts whose
 * provider says `optIn: 'list'`.
 */
export interface OptInDocument {
  readonly _id: OptInKey;
  readonly account: AccountId;
  /** Digits. */
  readonly customer: string;
  /** When we were told, the first time. */
  readonly at: Date;
}

/** One per account and customer. */
export type OptInKey = `${AccountId}:${string}`;

export function optInKey(account: AccountId, customer: string): OptInKey {
  return `${account}:${customer}`;
}
