import type { StoredMessage } from './message.ts';

/** The chat-app channel has no carriers to tell apart: its provider delivers everything. */
export const CHAT_OPERATOR = 'chatapp';

/** "operator: name of the carrier that delivered" ("Delivery status record"); null where not known yet. */
export function operatorOf({
  channel,
  operator,
  deliveredAt,
}: Pick<StoredMessage, 'channel' | 'operator' | 'deliveredAt'>): string | null {
  return operator ?? (channel === 'chatapp' && deliveredAt !== undefined ? CHAT_OPERATOR : null);
}
