import type { AccountId } from '../../platform/runtime/ids.ts';

/**
 * The `parts[].key` of a sent chat-app message; a status finds the message by it. It includes the account, because we cannot rely
 * on `wamid.…` being unique.
 */
export function chatMessageKey(account: AccountId, upstreamId: string): string {
  return `chatapp:${account}:${upstreamId}`;
}
