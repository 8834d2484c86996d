import type { InboundItem } from '../../shared/messages/chat-inbox-item.ts';
import type { InboundMessageDocument } from '../../shared/messages/document/chat-message.ts';
import { type AccountId, idDay, inboundMessageId } from '../../shared/platform/runtime/ids.ts';

/** A provider may deliver a message late, but not later than this. Older and future times come from a wrong clock. */
const OLDEST_MS = 30 * 86_400_000;

/**
 * A customer's message as it is stored. Everything derives from the item, and its id from the provider's id, so
 * repeating it writes the same. `to` is the business's number. Pure.
 */
export function inboundMessage(
  account: AccountId,
  to: string,
  { upstreamId, from, sentAt, type, body, more }: InboundItem,
  receivedAt: Date,
): InboundMessageDocument {
  const receivedMs = receivedAt.getTime();
  const at = new Date(Math.min(Math.max(sentAt.getTime(), receivedMs - OLDEST_MS), receivedMs));
  const _id = inboundMessageId(account, upstreamId, at);
  return {
    _id,
    channel: 'chatapp',
    direction: 'in',
    account,
    day: idDay(_id),
    from,
    to,
    upstreamId,
    inbound: { type, body, ...(more === undefined ? {} : { more }) },
    state: 'received',
    v: 0,
    tries: 0,
    validUntil: at,
    history: [{ state: 'received', at }],
  };
}
