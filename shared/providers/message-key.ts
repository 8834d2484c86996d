import type { AccountId } from '../runtime/ids.ts';

/** What `parts[].key` of a sent chat-app message is: found by it when a status comes. `wamid.…` alone is not ours to trust as unique. */
export function chatMessageKey(account: AccountId, upstreamId: string): string {
  return `chatapp:${account}:${upstreamId}`;
}
