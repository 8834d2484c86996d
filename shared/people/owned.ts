import type { AccountId } from '../platform/runtime/ids.ts';

/**
 * Matches what belongs to the account; without one, what belongs to operators. Indexes hold that under null, while `$exists: false`
 * would look at every document.
 */
export function ownedBy(account: AccountId | undefined): { readonly account: AccountId } {
  return { account: account ?? (null as never) };
}
