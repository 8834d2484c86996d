import type { AccountId } from '../platform/runtime/ids.ts';

/**
 * A customer who agreed to receive an account's template messages ("What the service does", 7). Checked only for accounts whose
 * provider has `optIn: 'list'`.
 */
export interface OptInDocument {
  readonly _id: OptInKey;
  readonly account: AccountId;
  /** Digits. */
  readonly customer: string;
  /** When we were first told. */
  readonly at: Date;
}

/** One per account and customer. */
export type OptInKey = `${AccountId}:${string}`;

export function optInKey(account: AccountId, customer: string): OptInKey {
  return `${account}:${customer}`;
}
